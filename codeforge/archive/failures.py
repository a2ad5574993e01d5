"""SQLite's errors as errors a person can act on."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError

_KEPT = "Everything recorded before this is still there."


class DatabaseDamagedError(EnvironmentUnavailableError):
    """The database's file holds something that SQLite can't read."""


class DatabaseLockedError(EnvironmentUnavailableError):
    """Another process kept the database locked for too long."""


def is_damage(error: sqlite3.Error) -> bool:
    """Whether `error` means that the file is no (whole) database."""
    name = _error_name(error)
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise SQLite's errors about the database at `path` as `EnvironmentUnavailableError`s.

    A damaged database is remembered (`PATH.suspect`), so that the next opening checks it in full.
    """
    try:
        yield
    except sqlite3.Error as error:
        if is_damage(error):
            _remember_damage(path)
        raise explain(error, path) from error


def explain(error: sqlite3.Error, path: Path) -> EnvironmentUnavailableError:
    """What `error` means for the database at `path`."""
    name = _error_name(error)
    if is_damage(error):
        return DatabaseDamagedError(
            f"The database {path} is damaged: {error}.",
            kept="The file is left as it is.",
            hint="Run the command again: the damaged file is kept aside and a new database is started.",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return DatabaseLockedError(
            f"Another process keeps the database {path} locked.",
            kept=_KEPT,
            hint="Wait for it or end it, then run the command again ('fuser' on the file names it).",
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return EnvironmentUnavailableError(
            f"The database {path} can't be written: {error} (is the disk full?).",
            kept=_KEPT,
            hint="Free some space, or set CODEFORGE_DATA_DIR to a folder on another disk.",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return not_writable(path, str(error))
    return EnvironmentUnavailableError(
        f"The database {path} can't be used: {error}.",
        kept=_KEPT,
        hint="Run 'codeforge doctor'; CODEFORGE_DATA_DIR moves the database elsewhere.",
    )


def not_writable(path: Path, reason: str) -> EnvironmentUnavailableError:
    """The error for a database that can't be opened for writing."""
    return EnvironmentUnavailableError(
        f"The database {path} can't be opened for writing: {reason}.",
        kept="Nothing was changed.",
        hint="Check the permissions of the file and its folder, or set CODEFORGE_DATA_DIR to another folder.",
    )


def suspect_mark(path: Path) -> Path:
    """The file whose presence says that the database at `path` was seen to be damaged."""
    return path.with_name(f"{path.name}.suspect")


def _remember_damage(path: Path) -> None:
    try:
        suspect_mark(path).touch()
    except OSError:
        return  # the error itself is raised anyway; without the mark the next opening only checks less


def _error_name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""
