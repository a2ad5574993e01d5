"""What GitHub answered, kept on this machine: a run that stopped, or another one, need not ask again."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.redact import redact_json

_SCHEMA_VERSION = 1
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, etag TEXT NOT NULL, following TEXT NOT NULL, body TEXT NOT NULL, at REAL NOT NULL
) WITHOUT ROWID"""
_BUSY_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer.

    Attributes:
        body: its JSON, without secrets.
        etag: the server's name of this version; "" for none.
        following: the address of the list's next page; "" for none.
        at: when it was fetched, in seconds since 1970.
    """

    body: Any
    etag: str
    following: str
    at: float


class AnswerCache:
    """Answers by key, in one SQLite file; several processes may use it. Use it as a context manager.

    A file that is damaged or of another version is made anew: it only holds what GitHub can be asked again.

    Raises:
        EnvironmentUnavailableError: the file can't be made.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = _open(path)
            except sqlite3.DatabaseError:
                for suffix in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        path.with_name(path.name + suffix).unlink()
                self._connection = _open(path)
        except (OSError, sqlite3.Error) as error:
            raise EnvironmentUnavailableError(
                f"The cache {path} can't be used: {error}.", hint="Delete it, or free some space."
            ) from error

    def get(self, key: str) -> Kept | None:
        """The answer kept under `key`; what can't be read counts as none."""
        with suppress(sqlite3.Error, ValueError):
            row = self._connection.execute(
                "SELECT body, etag, following, at FROM answers WHERE key = ?", (key,)
            ).fetchone()
            if row is not None:
                return Kept(json.loads(row[0]), *row[1:])
        return None

    def put(self, key: str, body: object, *, etag: str = "", following: str = "") -> None:
        """Keep an answer, without its secrets. A disk that is full costs only the speed of later runs."""
        row = (key, etag, following, json.dumps(redact_json(body)), self._clock())
        with suppress(sqlite3.Error), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def get_fresh(self, key: str, max_age_s: float) -> Kept | None:
        """The answer kept under `key`, unless it is older than `max_age_s`."""
        kept = self.get(key)
        return kept if kept is not None and 0 <= self._clock() - kept.at <= max_age_s else None

    def holds(self, prefix: str) -> bool:
        """Whether there is an answer under a key that begins with `prefix`."""
        with suppress(sqlite3.Error):
            query = "SELECT 1 FROM answers WHERE key >= ? AND key < ? LIMIT 1"
            return self._connection.execute(query, (prefix, f"{prefix}\U0010ffff")).fetchone() is not None
        return False

    def __enter__(self) -> "AnswerCache":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, _SCHEMA_VERSION):
            raise sqlite3.DatabaseError(f"version {version}")
        with connection:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        connection.execute("SELECT key, etag, following, body, at FROM answers LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
