"""The database of commits: each is stored once, whatever branch reaches it; views say what a HEAD reaches.

Made anew when damaged or of another version, kept in memory when nothing can be written. What a commit says
never changes, so two processes that store the same one at once do no harm.
"""

import contextlib
import os
import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codeforge.localize import tokens
from codeforge.localize.history.commits import Commit
from codeforge.localize.history.messages import words_of
from codeforge.paths import ensure_project_dir, real_folder

SCHEMA_VERSION = 1
BUSY_TIMEOUT_MS = 10_000
MOST_VIEWS = 8
"""How many HEADs are remembered; those stored last stay."""

_SCHEMA = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE path (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
CREATE TABLE word (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
CREATE TABLE history_commit (
    id INTEGER PRIMARY KEY,
    sha BLOB NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    subject TEXT NOT NULL,
    changes BLOB NOT NULL,
    words BLOB NOT NULL
);
CREATE TABLE view (
    id INTEGER PRIMARY KEY,
    head TEXT NOT NULL,
    bounds TEXT NOT NULL,
    commits BLOB NOT NULL,
    resolved BLOB NOT NULL,
    UNIQUE (head, bounds)
);
"""


class StoreDamagedError(Exception):
    """The file is not a usable database."""


class Row(NamedTuple):
    """A stored commit.

    Attributes:
        id: its number.
        sha: its full id.
        time: when it was committed, in seconds since 1970.
        subject: the first line of its message.
        changes: int32 pairs: the number of a path, and that of its old path or 0.
        words: int32 pairs: the number of a word, and how often the message has it.
    """

    id: int
    sha: str
    time: int
    subject: str
    changes: bytes
    words: bytes


class View(NamedTuple):
    """What one HEAD reaches.

    Attributes:
        head: its full id.
        bounds: what else the answer depends on.
        commits: their numbers, newest first.
        resolved: by change, in the order of commits and changes, int32: the number of the path that the file
            has in HEAD, 0 when it is gone.
    """

    head: str
    bounds: str
    commits: Sequence[int]
    resolved: bytes


class Store:
    """An open database. Its methods raise `sqlite3.Error` when the file is damaged or can't be written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[str, dict[bytes, int]] = {"path": {}, "word": {}}

    @classmethod
    def on_disk(cls, path: Path) -> "Store":
        """Open or create the file.

        Raises:
            StoreDamagedError: it is no database, or one with a hole.
            sqlite3.OperationalError: it can't be written or stays locked.
            OSError: it may not be written.
        """
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(f"{path} is read-only")
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            _prepare(connection)
        except BaseException as error:
            connection.close()
            if is_damage(error):
                raise StoreDamagedError("damaged") from error
            raise
        return cls(connection)

    @classmethod
    def in_memory(cls) -> "Store":
        """A database that ends with this process."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        _prepare(connection)
        return cls(connection)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def known(self, shas: Iterable[str]) -> dict[str, int]:
        """The numbers of those commits that are stored."""
        find = "SELECT id FROM history_commit WHERE sha = ?"
        execute = self._connection.execute
        found = ((sha, execute(find, (bytes.fromhex(sha),)).fetchone()) for sha in shas)
        return {sha: row[0] for sha, row in found if row is not None}

    def add(self, commits: Sequence[Commit]) -> None:
        """Store commits; those that are there already stay as they are."""
        counted = [words_of(commit.message) for commit in commits]
        names = {name for commit in commits for change in commit.changes for name in change}
        with _transaction(self._connection):
            paths = self._numbers("path", [os.fsencode(name) for name in names if name])
            words = self._numbers("word", {word.encode() for counts in counted for word in counts})
            number = {name: paths[os.fsencode(name)] if name else 0 for name in names}
            self._connection.executemany(
                "INSERT OR IGNORE INTO history_commit (sha, time, subject, changes, words)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    (
                        bytes.fromhex(commit.sha),
                        commit.time,
                        commit.message.lstrip().partition("\n")[0],
                        _pairs((number[change.path], number[change.old]) for change in commit.changes),
                        _pairs((words[word.encode()], count) for word, count in counts.items()),
                    )
                    for commit, counts in zip(commits, counted, strict=True)
                ),
            )

    def rows(self, ids: Sequence[int]) -> list[Row]:
        """The commits with these numbers, in this order.

        Raises:
            KeyError: one isn't stored.
        """
        found: dict[int, Row] = {}
        for start in range(0, len(ids), 10_000):
            chosen = ",".join(map(str, ids[start : start + 10_000]))
            columns = "id, hex(sha), time, subject, changes, words"
            for row in self._connection.execute(
                f"SELECT {columns} FROM history_commit WHERE id IN ({chosen})"
            ):
                found[row[0]] = Row(row[0], row[1].lower(), *row[2:])
        return [found[number] for number in ids]

    def paths(self) -> dict[int, str]:
        """By number every path that any stored commit names."""
        return {row[0]: os.fsdecode(row[1]) for row in self._connection.execute("SELECT id, name FROM path")}

    def words(self) -> dict[str, int]:
        """The number of every word."""
        return {row[0].decode(): row[1] for row in self._connection.execute("SELECT name, id FROM word")}

    def view(self, head: str, bounds: str) -> View | None:
        """What is remembered of a HEAD."""
        return self._view("head = ? AND bounds = ?", head, bounds)

    def latest_view(self, bounds: str) -> View | None:
        """The HEAD that was stored last."""
        return self._view("bounds = ? ORDER BY id DESC LIMIT 1", bounds)

    def remember(self, view: View) -> None:
        """Store a view; the oldest ones make room."""
        commits = array("i", view.commits).tobytes()
        with _transaction(self._connection):
            self._connection.execute(
                "INSERT OR REPLACE INTO view (head, bounds, commits, resolved) VALUES (?, ?, ?, ?)",
                (view.head, view.bounds, commits, view.resolved),
            )
            self._connection.execute(
                "DELETE FROM view WHERE id NOT IN (SELECT id FROM view ORDER BY id DESC LIMIT ?)",
                (MOST_VIEWS,),
            )

    def _view(self, condition: str, *values: str) -> View | None:
        columns = "head, bounds, commits, resolved"
        row = self._connection.execute(f"SELECT {columns} FROM view WHERE {condition}", values).fetchone()
        return None if row is None else View(row[0], row[1], array("i", row[2]), row[3])

    def _numbers(self, table: str, names: Iterable[bytes]) -> dict[bytes, int]:
        """The numbers of `names`, new ones included."""
        known = self._known[table]
        new = sorted(name for name in names if name not in known)
        self._connection.executemany(
            f"INSERT OR IGNORE INTO {table} (name) VALUES (?)", ((name,) for name in new)
        )
        find = f"SELECT id FROM {table} WHERE name = ?"
        for name in new:
            known[name] = self._connection.execute(find, (name,)).fetchone()[0]
        return known


def database_path(root: Path) -> Path:
    """Where the history of the repository at `root` is kept; its folder is made.

    Raises:
        OSError: the folder can't be made, or a link stands in its way.
    """
    path = real_folder(ensure_project_dir(root) / "index") / "history.db"
    if path.is_symlink():
        raise PermissionError(f"{path} is a link; remove it")
    return path


def discard(path: Path) -> None:
    """Remove a database with its side files."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the file is no good, rather than that it can't be written now."""
    if isinstance(error, sqlite3.OperationalError):
        return "no such table" in str(error) or "no such column" in str(error)
    return isinstance(error, sqlite3.DatabaseError)


def _pairs(pairs: Iterable[tuple[int, int]]) -> bytes:
    return array("i", [number for pair in pairs for number in pair]).tobytes()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, unless they are there and of this version."""
    version = _version()
    if _stored_version(connection) == version:
        return
    with _transaction(connection):
        if _stored_version(connection) == version:  # another process was quicker
            return
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            connection.execute(f'DROP TABLE "{table}"')
        for statement in filter(str.strip, _SCHEMA.split(";")):
            connection.execute(statement)
        connection.execute("INSERT INTO setting VALUES ('version', ?)", (version,))


def _stored_version(connection: sqlite3.Connection) -> str:
    present = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'setting'"
    if connection.execute(present).fetchone() is None:
        return ""
    row = connection.execute("SELECT value FROM setting WHERE name = 'version'").fetchone()
    return row[0] if row else ""


def _version() -> str:
    """Of the tables, and of the rules by which words are counted (they are stored, counted)."""
    return f"{SCHEMA_VERSION}/{zlib.crc32(Path(tokens.__file__).read_bytes()):08x}"
