"""The SQLite file of one encoder's vectors: opened, made anew when damaged, shared by processes.

Every vector is a float16 blob under the digest of its text and the encoder's version, so a row never goes
stale:
it is right or it is not asked for. Two processes that store the same text do no harm.
"""

import contextlib
import glob
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from codeforge.paths import ensure_project_dir, real_folder

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 10.0
_CHUNK = 500

_SCHEMA = """
CREATE TABLE vector (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    used INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX vector_used ON vector (used);
"""
_SECONDS_A_DAY = 86_400
_FOLLOWER = "~"
"""Before the number of a file that took a damaged one's place; no encoder's name in a file name has it."""


def today() -> int:
    """Days since 1970."""
    return int(time.time() // _SECONDS_A_DAY)


class VectorDatabase:
    """An open file. Its methods raise `sqlite3.Error` when it is damaged or can't be written."""

    def __init__(self, family: Path, path: Path) -> None:
        self._family, self._path = family, path
        self._connection = _connect(path)

    @classmethod
    def open(cls, family: Path) -> tuple["VectorDatabase", bool]:
        """Open or create a file; the second value says that it was damaged and has been made anew.

        Args:
            family: its name. A file that takes a damaged one's place has another name, told by a number: were
                it the same, a process that still holds the old one would remove the new one's side files.

        Raises:
            sqlite3.Error: it can't be written or stays locked.
            OSError: it may not be written.
            TimeoutError: another process holds it for too long.
        """
        with _lock(family):
            path = _newest(family)
            try:
                return cls(family, path), False
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
            successor = cls(family, _next(family, path))
            _remove(path)
            return successor, True

    def discard(self) -> None:
        """Close the file and let an empty one take its place, unless another process has done so."""
        self._connection.close()
        with _lock(self._family):
            if _newest(self._family) == self._path:
                VectorDatabase(self._family, _next(self._family, self._path)).close()
                _remove(self._path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def get(self, digests: Sequence[bytes], day: int) -> dict[bytes, bytes]:
        """The vectors that are stored, by digest; they count as used on `day`."""
        found: dict[bytes, bytes] = {}
        stale: list[bytes] = []
        for chunk in _chunks(digests):
            query = f"SELECT digest, data, used FROM vector WHERE digest IN ({_marks(chunk)})"
            for digest, data, used in self._connection.execute(query, chunk):
                found[digest] = data
                if used != day:
                    stale.append(digest)
        # Which vectors are in use is only told for `prune`: another writer is not waited for in vain.
        with contextlib.suppress(sqlite3.OperationalError):
            self._mark_used(stale, day)
        return found

    def _mark_used(self, stale: Sequence[bytes], day: int) -> None:
        if stale:
            with self._transaction():
                for chunk in _chunks(stale):
                    update = f"UPDATE vector SET used = ? WHERE digest IN ({_marks(chunk)})"
                    self._connection.execute(update, (day, *chunk))

    def put(self, vectors: Mapping[bytes, bytes], day: int) -> None:
        """Store vectors by digest."""
        if not self._path.exists():
            raise sqlite3.DatabaseError("another process has put a new file in its place")
        with self._transaction():
            self._connection.executemany(
                "INSERT OR REPLACE INTO vector (digest, used, data) VALUES (?, ?, ?)",
                ((digest, day, data) for digest, data in vectors.items()),
            )

    def prune(self, oldest_day: int, most_rows: int) -> int:
        """Remove what was last used before `oldest_day`, and what exceeds `most_rows`, longest unused first.

        Returns:
            How many vectors were removed.
        """
        with self._transaction():
            before = self._count()
            self._connection.execute("DELETE FROM vector WHERE used < ?", (oldest_day,))
            excess = self._count() - most_rows
            if excess > 0:
                oldest = "SELECT id FROM vector ORDER BY used, id LIMIT ?"
                self._connection.execute(f"DELETE FROM vector WHERE id IN ({oldest})", (excess,))
            return before - self._count()

    def _count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM vector").fetchone()[0])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # a full disk has ended the transaction already
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def vectors_path(root: Path, encoder: str) -> Path:
    """`root/.codeforge/index/dense-<encoder>.db`; its folder is made.

    Raises:
        OSError: the folder can't be made, or a link stands in the way.
    """
    return real_folder(ensure_project_dir(root) / "index") / f"dense-{_file_name(encoder)}.db"


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the file is no good, not that it can't be used now or is used wrongly."""
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return False
    if isinstance(error, sqlite3.OperationalError):
        return "no such table" in str(error) or "no such column" in str(error)
    return isinstance(error, sqlite3.DatabaseError)


def _connect(path: Path) -> sqlite3.Connection:
    if path.is_symlink():
        raise PermissionError(f"{path} is a link; remove it")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} is read-only")
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            script = f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            connection.executescript(script)
        elif version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError(f"of another version ({version})")
        connection.execute("SELECT digest, used, data FROM vector LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """While files are created or removed: a new file must never meet the side files of an old one."""
    from filelock import FileLock, Timeout

    # `FileLock` would make the folder, and without the ignore file that belongs in it.
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is gone")
    try:
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=BUSY_TIMEOUT_S):
            yield
    except Timeout as error:
        raise TimeoutError(f"another process holds {path.name}") from error


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _newest(family: Path) -> Path:
    """The file that counts; `family` itself when there is none yet."""
    followers = family.parent.glob(f"{glob.escape(family.stem)}{_FOLLOWER}*.db")
    return max(followers, key=_generation, default=family)


def _next(family: Path, path: Path) -> Path:
    return family.with_name(f"{family.stem}{_FOLLOWER}{_generation(path) + 1}.db")


def _generation(path: Path) -> int:
    number = path.stem.rpartition(_FOLLOWER)[2]
    return int(number) if _FOLLOWER in path.stem and number.isdecimal() else 0


def _file_name(encoder: str) -> str:
    """The encoder's name as part of a file name; names that had to be changed get a digest, so that no two
    encoders share a file."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", encoder.lower()).strip("-.")[-60:]
    if plain == encoder:
        return plain
    return f"{plain}-{blake2b(os.fsencode(encoder), digest_size=4).hexdigest()}"


def _chunks(digests: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (digests[start : start + _CHUNK] for start in range(0, len(digests), _CHUNK))


def _marks(values: Sequence[bytes]) -> str:
    return ",".join("?" * len(values))


Clock = Callable[[], int]
