"""How localization reads source files: always through the patch engine's reader."""

from pathlib import Path

from codeforge.errors import CodeforgeError
from codeforge.patch.textfile import decode_bytes, read_bytes

MAX_BYTES = 1024 * 1024
"""Larger files are not looked into: they are data or generated."""


def read_source(root: Path, path: str, *, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The bytes of a file; `None` when it is gone, unreadable, too large or not to be touched."""
    try:
        found = read_bytes(root, path, max_bytes=max_bytes)
    except CodeforgeError:
        return None
    return found[0] if found else None


def decode_source(raw: bytes, path: str) -> str | None:
    """Its text with `\\n` line endings and no byte order mark; `None` when it is binary."""
    try:
        return decode_bytes(raw, path).text
    except CodeforgeError:
        return None
