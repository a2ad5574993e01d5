"""The index's database: made anew when damaged or old, in memory when nothing can be written."""

import contextlib
import os
import shutil
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from codeforge.paths import ensure_project_dir, real_folder

SCHEMA_VERSION = 4
BUSY_TIMEOUT_MS = 10_000

_SCHEMA = """
CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    generated INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    structure TEXT NOT NULL,
    vocabulary TEXT NOT NULL,
    words BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE file (
    path BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,
    content INTEGER,
    skipped TEXT NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE base (
    name TEXT PRIMARY KEY,
    data BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE posting (
    word TEXT PRIMARY KEY,
    heads INTEGER NOT NULL,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;
"""
TABLES = ("content", "file", "base", "posting")
"""`content`: what each distinct file content holds. `file`: what each path held when last looked at. `base`:
the arrays of the last full build of the graph, by name. `posting`: its inverted index, by word. SQLite has no
checksums of its own: every row has one, `base` has one for all of its rows."""


class IndexDamagedError(Exception):
    """The file is not a usable index."""


def checksum(*columns: object) -> int:
    """CRC-32 of a row's columns (texts, bytes, numbers, `None`)."""
    found = 0
    for column in columns:
        data = column if isinstance(column, bytes) else str(column).encode("utf-8", "surrogatepass")
        found = crc32(data, crc32(b"\0", found))
    return found


@dataclass(frozen=True, slots=True)
class OpenedIndex:
    """An open database, and what the user should know about how it was opened."""

    connection: sqlite3.Connection
    on_disk: bool
    notices: tuple[str, ...]


def open_index(root: Path) -> OpenedIndex:
    """Open or create the index of the repository at `root`; never fails."""
    notices: list[str] = []
    try:
        path = _index_path(root)
        try:
            return OpenedIndex(_connect(path), True, ())
        except IndexDamagedError as error:
            notices.append(f"the code index was {error} and is made anew")
            discard(path)
            return OpenedIndex(_connect(path), True, tuple(notices))
    except (OSError, sqlite3.Error, IndexDamagedError) as error:
        notices.append(f"the code index can't be kept on disk ({error}); it is built in memory each time")
        return open_in_memory(tuple(notices))


def open_in_memory(notices: tuple[str, ...] = ()) -> OpenedIndex:
    """An index that ends with this process."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _create(connection)
    return OpenedIndex(connection, False, notices)


def is_damage(error: Exception) -> bool:
    """Whether an error of SQLite comes from what is in the file, not from where it lies or who else uses
    it."""
    return not isinstance(error, sqlite3.OperationalError) or "decode" in str(error)


def discard_index(root: Path) -> None:
    """Remove the index of `root`, if there is one that can be removed."""
    with contextlib.suppress(OSError):
        discard(_index_path(root))


def discard(path: Path) -> None:
    """Remove a database with its side files, or a folder in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _index_path(root: Path) -> Path:
    path = real_folder(ensure_project_dir(root) / "index") / "code.db"
    if path.is_symlink():
        raise PermissionError(f"{path} is a link; remove it")
    return path


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file.

    Raises:
        IndexDamagedError: it is no index of this version.
        sqlite3.OperationalError: it can't be written or stays locked.
    """
    if path.is_dir():
        raise IndexDamagedError("replaced by a folder")
    existed = path.exists()
    if existed and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} is read-only")
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
    try:
        _log_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        version = _version(connection)
        if version == 0:
            version = _create_once(connection)
        if version != SCHEMA_VERSION:
            raise IndexDamagedError(f"of another version ({version})")
        for table in TABLES:
            connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if is_damage(error) or "no such table" in str(error) or "no such column" in str(error):
            raise IndexDamagedError("damaged") from error
        raise
    except (sqlite3.DatabaseError, ValueError) as error:
        connection.close()
        raise IndexDamagedError("damaged") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Turn write-ahead logging on. While another process does the same, SQLite answers "locked" at once,
    whatever the time-out of the connection is."""
    end = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _create_once(connection: sqlite3.Connection) -> int:
    """Create the tables, unless another process did so meanwhile; the version then."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version == 0:
            _create(connection)
            version = SCHEMA_VERSION
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return version


def _create(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
