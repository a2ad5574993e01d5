"""A file that grows part by part, so that an interrupted pull goes on after the last whole part.

The parts that are in `FILE.partial` are listed in `FILE.partial.json`: a part is appended, synced, and only
then listed. What lies behind the last listed part is cut off when the file is opened again.
"""

import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codeforge.models.store import read_json, write_json

_CHUNK = 4 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """A part that is in the file: its number from 1, where it begins, its bytes, its hash."""

    number: int
    offset: int
    size: int
    sha256: str


class PartialFile:
    """The parts that are here.

    Args:
        path: the growing file.
        source: where the parts come from; parts of another source are dropped.
    """

    def __init__(self, path: Path, source: str) -> None:
        self.path = path
        self._source = source
        self._state = path.with_name(f"{path.name}.json")
        self._digest = hashlib.sha256()
        self.parts: list[Part] = []
        self._open()

    @property
    def size(self) -> int:
        """Bytes of the parts that are here."""
        return sum(part.size for part in self.parts)

    @property
    def sha256(self) -> str:
        """Hash of the parts that are here, joined."""
        return self._digest.hexdigest()

    def append(self, piece: Path) -> None:
        """Append the next part, the bytes of the file `piece`, and record it once it is on the disk."""
        own = hashlib.sha256()
        whole = self._digest.copy()
        offset, size = self.size, 0
        with self.path.open("r+b" if self.path.exists() else "w+b") as out, piece.open("rb") as data:
            out.seek(offset)
            while block := data.read(_CHUNK):
                out.write(block)
                own.update(block)
                whole.update(block)
                size += len(block)
            out.truncate()
            out.flush()
            os.fsync(out.fileno())
        parts = [*self.parts, Part(len(self.parts) + 1, offset, size, own.hexdigest())]
        write_json(self._state, {"source": self._source, "parts": [asdict(part) for part in parts]})
        self.parts, self._digest = parts, whole

    def forget(self) -> None:
        """Drop the list of parts: the file is complete, or is put aside."""
        self._state.unlink(missing_ok=True)

    def _open(self) -> None:
        """Keep the listed parts that are really here; cut off everything behind them."""
        for half_written in self.path.parent.glob(f".{self._state.name}.*"):
            half_written.unlink(missing_ok=True)
        if not self.path.exists():
            return
        table = read_json(self._state)
        listed = _parts(table) if table.get("source") == self._source else []
        with self.path.open("r+b") as file:
            for part in listed:
                whole = self._digest.copy()
                if part.offset != self.size or _hash_part(file, part.size, whole) != part.sha256:
                    break
                self._digest = whole
                self.parts.append(part)
            file.truncate(self.size)


def _parts(table: dict[str, Any]) -> list[Part]:
    try:
        return [Part(**item) for item in table["parts"]]
    except (KeyError, TypeError):
        return []


def _hash_part(file: Any, size: int, whole: Any) -> str:
    """The hash of the next `size` bytes, which `whole` sees too; "" when they are not there."""
    own = hashlib.sha256()
    while size > 0:
        block = file.read(min(_CHUNK, size))
        if not block:
            return ""
        own.update(block)
        whole.update(block)
        size -= len(block)
    return own.hexdigest()
