"""Which functions a patch touches, by the headers that git gives its hunks."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

MARKER = "\x02commit "
"""Starts the line before each commit's patch."""

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)")
_WORDS_BEFORE = (
    rb"(?:(?:async|export|default|public|private|protected|static|abstract|final|pub|pub\(\w+\))\s+)*"
)
_DEFINITION = re.compile(
    rb"\s*" + _WORDS_BEFORE + rb"(?:def|class|func|fn|function|interface|struct|enum|trait|impl)\b"
)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class Touched(NamedTuple):
    """A place that a commit changed.

    Attributes:
        sha: the commit.
        path: the file, as the commit names it (the old name where it deletes the file).
        function: the line that starts the function or class around the change, stripped.
    """

    sha: str
    path: str
    function: str


def touched(patches: bytes) -> Iterator[Touched]:
    """The functions that patches (`Commits.patches`, with `MARKER`) touch, each once for a hunk.

    git looks for the line that starts a function above the hunk, so a hunk that begins with such a line would
    be given to the function before: there, the changed line itself is taken.
    """
    lines = iter(patches.split(b"\n"))
    marker = MARKER.encode()
    sha = path = ""
    for line in lines:
        if line.startswith(marker):
            sha = line[len(marker) :].decode("ascii")
        elif line.startswith((b"--- ", b"+++ ")):
            path = _path(line[4:]) or path
        elif hunk := _HUNK.match(line):
            size = int(hunk[1] or 1) + int(hunk[2] or 1)
            for function in _functions(hunk[3], _changed(lines, size)):
                yield Touched(sha, path, function.decode("utf-8", "replace"))


def _changed(lines: Iterator[bytes], size: int) -> list[bytes]:
    """The next `size` changed lines, without signs; counted, for a changed line may look like a header."""
    found: list[bytes] = []
    while len(found) < size:
        line = next(lines, None)
        if line is None:
            break
        if not line.startswith(b"\\"):
            found.append(line[1:])
    return found


def _functions(header: bytes, changed: list[bytes]) -> list[bytes]:
    """What the hunk touches, each once."""
    defined = [line.strip() for line in changed if _DEFINITION.match(line)]
    starts_outside = bool(changed) and not _DEFINITION.match(changed[0])
    around = [header.strip()] if header.strip() and starts_outside else []
    return list(dict.fromkeys(around + defined))


def _path(written: bytes) -> str:
    """The path of a `---` or `+++` line; "" for no file."""
    written = written.rstrip(b"\t")  # git ends names with spaces in them so
    if written.startswith(b'"'):
        written = _ESCAPE.sub(_unescape, written[1:-1])
    return "" if written == b"/dev/null" else os.fsdecode(written[2:])


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _ESCAPED.get(code, code)
