"""An open database shared by the threads of this process: one at a time, whole transactions only."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codeforge.archive.database import open_database, transaction
from codeforge.archive.failures import translated

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = dict[str, Any]


class Handle:
    """The connection, its lock, and the two ways to use it.

    Attributes:
        path: the database file.
        notices: what a person should know about the opening ("kept aside as …").
    """

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.path = path
        self._database, self.notices = open_database(path, busy_timeout_s)
        self._lock = threading.RLock()

    @contextmanager
    def write(self) -> Iterator["Transaction"]:
        """A write transaction, committed at the end of the block; on any exception nothing is written."""
        with self._lock, translated(self.path), transaction(self._database.conn):
            yield Transaction(self._database)

    @contextmanager
    def read(self) -> Iterator["Transaction"]:
        """A consistent view of the whole database."""
        with self._lock, translated(self.path):
            connection = self._database.conn
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            try:
                yield Transaction(self._database)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._database.conn.close()


class Transaction:
    """What can be done inside a transaction."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """The rows of a query, as mappings."""
        return list(self._database.query(sql, parameters))

    def row(self, sql: str, parameters: Sequence[object] = ()) -> Row | None:
        """The first row of a query."""
        return next(iter(self.rows(sql, parameters)), None)

    def add(self, table: str, row: Row, *, if_new: bool = False) -> None:
        """Insert a row; with `if_new`, a row with the same key is left as it is."""
        self._database[table].insert(row, ignore=if_new)

    def put(self, table: str, row: Row) -> None:
        """Insert a row in the place of the one with the same key."""
        self._database[table].insert(row, replace=True)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run one statement."""
        self._database.execute(sql, parameters)
