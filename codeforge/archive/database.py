"""Opening the database: settings of the connection, migrations, and keeping a damaged file aside.

Any number of processes may open a new, an old or a damaged database at the same moment: whatever changes
the file as a whole happens under a lock file, everything else under SQLite's own locks.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from codeforge.archive.failures import explain, is_damage, not_writable, suspect_mark, translated
from codeforge.errors import CodeforgeError, EnvironmentUnavailableError

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_TIMEOUT_S = 30.0


def load_sqlite_utils() -> ModuleType:
    """Import sqlite-utils without numpy, which it imports only to know numpy's scalars when it meets them:
    at every start of a command that costs more than all the rest of the archive."""
    known = "numpy" in sys.modules
    if not known:
        sys.modules["numpy"] = None  # type: ignore[assignment]  # documented: the import then fails
    try:
        import sqlite_utils
    finally:
        if not known:
            del sys.modules["numpy"]
    module: ModuleType = sqlite_utils
    return module


# Below this size a full check of the pages costs a few milliseconds, so every opening does it.
_CHEAP_CHECK_BYTES = 2 * 1024**2


def open_database(path: Path, busy_timeout_s: float) -> tuple["Database", tuple[str, ...]]:
    """The database at `path`, ready for use, and what a person should know about it.

    Raises:
        EnvironmentUnavailableError: it can't be opened or written, is locked, or is of a newer codeforge.
    """
    _make_parent(path)
    database = _open_ready(path, busy_timeout_s)
    if database is not None:
        return database, ()
    with _whole_file_lock(path, busy_timeout_s):
        notices = _keep_damaged_aside(path, busy_timeout_s)
        with translated(path):
            database = _connect(path, busy_timeout_s)
            database.execute("PRAGMA journal_mode=WAL").fetchall()
            _migrate(database, path)
    return database, notices


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One write transaction: all of it is committed, or nothing."""
    if connection.in_transaction:
        # Only an interrupt that fell between BEGIN and the block below can leave this.
        connection.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_database(path: Path) -> str | None:
    """What is wrong with the database at `path`, or `None`; changes nothing. No file is no problem."""
    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=5.0)
        try:
            problem = _damage(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        return explain(error, path).message
    return f"The database {path} is damaged: {problem}." if problem else None


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(path, str(error)) from error


def _open_ready(path: Path, busy_timeout_s: float) -> "Database | None":
    """The database when nothing has to be done to the file as a whole."""
    if not path.exists() or suspect_mark(path).exists():
        return None
    database = None
    try:
        database = _connect(path, busy_timeout_s)
        if _is_ready(database, path):
            return database
    except sqlite3.Error as error:
        if database is not None:
            database.conn.close()
        if is_damage(error):
            return None
        raise explain(error, path) from error
    except CodeforgeError:
        if database is not None:
            database.conn.close()
        raise
    database.conn.close()
    return None


def _is_ready(database: "Database", path: Path) -> bool:
    mode = database.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal" or _pending(database, path):
        return False
    return path.stat().st_size > _CHEAP_CHECK_BYTES or _damage(database.conn) is None


def _connect(path: Path, busy_timeout_s: float) -> "Database":
    database = load_sqlite_utils().Database
    # The archive takes a lock of its own around every use, so that threads can share the connection.
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False)
    # In WAL mode NORMAL survives the death of the process at any moment; only a power cut can take the
    # newest transactions, and never the database.
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    opened: Database = database(connection, execute_plugins=False)
    return opened


def _damage(connection: sqlite3.Connection) -> str | None:
    """What SQLite's check of the pages says, or `None`."""
    try:
        rows = connection.execute("PRAGMA quick_check(3)").fetchall()
    except sqlite3.Error as error:
        if is_damage(error):
            return str(error)
        raise
    problems = [str(row[0]) for row in rows if row[0] != "ok"]
    return "; ".join(problems) or None


def _pending(database: "Database", path: Path) -> bool:
    """Whether migrations have to run; refuses a database of a newer codeforge."""
    from codeforge.archive.migrations import NAMES, migrations

    applied = {migration.name for migration in migrations.applied(database)}
    unknown = sorted(applied - NAMES)
    if unknown:
        raise EnvironmentUnavailableError(
            f"The database {path} was written by a newer codeforge (it has {', '.join(unknown)}).",
            kept="Nothing was changed.",
            hint="Update codeforge, or set CODEFORGE_DATA_DIR to another folder.",
        )
    return bool(NAMES - applied)


def _migrate(database: "Database", path: Path) -> None:
    from codeforge.archive.migrations import migrations

    with transaction(database.conn):
        if _pending(database, path):
            migrations.apply(database)


@contextmanager
def _whole_file_lock(path: Path, timeout_s: float) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=timeout_s)
    try:
        lock.acquire()
    except Timeout as error:
        raise EnvironmentUnavailableError(
            f"Another process has been preparing the database {path} for more than {timeout_s:.0f} s.",
            kept="Nothing was changed.",
            hint="Wait for it or end it, then run the command again.",
        ) from error
    except OSError as error:
        raise not_writable(path, str(error)) from error
    try:
        yield
    finally:
        lock.release()


def _keep_damaged_aside(path: Path, busy_timeout_s: float) -> tuple[str, ...]:
    """Move a damaged database and its companions aside. Runs under the lock: another process may have
    done it already, and then the new database is whole."""
    if not path.exists():
        return ()
    with translated(path):
        connection = sqlite3.connect(path, timeout=busy_timeout_s)
        try:
            problem = _damage(connection)
        finally:
            connection.close()
    if problem is None:
        suspect_mark(path).unlink(missing_ok=True)
        return ()
    aside = _free_name(path)
    try:
        for suffix in ("-wal", "-shm", ""):
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                companion.rename(aside.with_name(aside.name + suffix))
        suspect_mark(path).unlink(missing_ok=True)
    except OSError as error:
        raise not_writable(path, f"it is damaged and can't be moved aside ({error})") from error
    return (f"The database {path} is damaged ({problem}). It is kept as {aside}; a new one was started.",)


def _free_name(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name, number = f"{path.name}.corrupt-{stamp}", 1
    while path.with_name(name).exists():
        number += 1
        name = f"{path.name}.corrupt-{stamp}-{number}"
    return path.with_name(name)
