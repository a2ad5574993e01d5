"""Vectors kept from one run to the next. It never fails: what can't be kept on disk is kept in memory."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from zlib import crc32

from codeforge.localize.dense.database import Clock, VectorDatabase, is_damage, today, vectors_path

KEEP_DAYS = 30
MOST_VECTORS = 200_000
"""About 150 MB for 384 dimensions."""


class VectorStore:
    """Bytes of vectors by digest, on disk as long as that works. For one thread.

    Attributes:
        notices: what the user should know: a damaged file was made anew, or nothing can be kept.
    """

    def __init__(self, path: Path | None, notices: Sequence[str] = (), clock: Clock = today) -> None:
        self.notices: list[str] = list(notices)
        self._path = path
        self._clock = clock
        self._memory: dict[bytes, bytes] = {}
        self._database: VectorDatabase | None = None
        if path is not None:
            self._open(path)

    @classmethod
    def at(cls, root: Path, encoder: str, clock: Clock = today) -> "VectorStore":
        """The store of the repository at `root` for the encoder of this name."""
        try:
            return cls(vectors_path(root, encoder), clock=clock)
        except OSError as error:
            return cls(None, [_in_memory(error)], clock)

    def __enter__(self) -> "VectorStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def on_disk(self) -> bool:
        """Whether what is stored will be there next time."""
        return self._database is not None

    def get(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors that are stored and whole, by digest."""
        found = {digest: self._memory[digest] for digest in digests if digest in self._memory}
        if self._database is not None:
            try:
                stored = self._database.get([d for d in digests if d not in found], self._clock())
                found |= {d: sealed[:-_SEAL] for d, sealed in stored.items() if _is_whole(d, sealed)}
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
        return found

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Store vectors by digest; they are safe on disk when this returns (if `on_disk`)."""
        sealed = {digest: data + _seal(digest, data) for digest, data in vectors.items()}
        for _ in range(2):  # a damaged file is made anew once
            if self._database is None:
                self._memory.update(vectors)
                return
            try:
                self._database.put(sealed, self._clock())
                return
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
        self._memory.update(vectors)

    def prune(self, keep_days: int = KEEP_DAYS, most_vectors: int = MOST_VECTORS) -> int:
        """Remove what wasn't used for `keep_days`, and what exceeds `most_vectors`, longest unused first; how
        many were removed."""
        if self._database is None:
            return 0
        try:
            return self._database.prune(self._clock() - keep_days, most_vectors)
        except (sqlite3.Error, OSError) as error:
            self._recover(error)
            return 0

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self, path: Path) -> None:
        try:
            self._database, anew = VectorDatabase.open(path)
        except (sqlite3.Error, OSError) as error:
            self.notices.append(_in_memory(error))
            return
        if anew:
            self.notices.append(_ANEW)

    def _recover(self, error: Exception) -> None:
        """Make a damaged file anew; give up the disk for any other error."""
        database, self._database = self._database, None
        if database is None or self._path is None:
            return
        if isinstance(error, sqlite3.ProgrammingError):
            self._database = database
            raise error  # used in another thread, or closed: no fault of the file
        if not is_damage(error):
            database.close()
            self.notices.append(_in_memory(error))
            return
        try:
            database.discard()
        except (sqlite3.Error, OSError) as problem:
            self.notices.append(_in_memory(problem))
            return
        self.notices.append(_ANEW)
        self._open(self._path)


_SEAL = 4
"""Bytes of the checksum behind each vector on disk: SQLite finds damaged pages only where they break its own
structure."""


def _seal(digest: bytes, data: bytes) -> bytes:
    return crc32(data, crc32(digest)).to_bytes(_SEAL, "little")


def _is_whole(digest: bytes, sealed: object) -> bool:
    return isinstance(sealed, bytes) and sealed[-_SEAL:] == _seal(digest, sealed[:-_SEAL])


_ANEW = "the file of dense vectors was damaged and is made anew"


def _in_memory(error: BaseException) -> str:
    return f"dense vectors can't be kept on disk ({error}); they are encoded again each time"
