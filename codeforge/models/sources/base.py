"""The seam behind which every source of model files stands."""

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.catalog import CatalogEntry
from codeforge.models.progress import ProgressSink

_WATCH_EVERY_S = 0.5
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DISK_ERRORS = (*DISK_FULL, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)


class SourceUnavailableError(Exception):
    """This source can't give the file; another may. The text says why, `kept` what is here already."""

    def __init__(self, message: str, *, kept: str = "") -> None:
        super().__init__(message)
        self.kept = kept


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file as it came: where it lies, its hash, whose hash that is ("catalog" or "hub"), its origin."""

    path: Path
    sha256: str
    trust: str
    source: str


class Fetcher(Protocol):
    """A source of model files."""

    def bytes_needed(self, entry: CatalogEntry, folder: Path) -> int:
        """Bytes of disk that `fetch` will still take in `folder`, at its peak."""
        ...

    def fetch(self, entry: CatalogEntry, folder: Path, sink: ProgressSink) -> Fetched:
        """Bring the file of `entry` into `folder` under a name that is not yet its own, whole and checked.

        Interrupted, it leaves what it has so that the next call goes on from there, and says so.

        Raises:
            SourceUnavailableError: this source can't give it.
            EnvironmentUnavailableError: what came is not the file, or the disk is full.
        """
        ...


@contextmanager
def watched(measure: Callable[[], int], sink: ProgressSink) -> Iterator[None]:
    """Report what `measure` says while the block runs; never less than before."""
    ended = threading.Event()

    def watch() -> None:
        most = 0
        while not ended.wait(_WATCH_EVERY_S):
            most = max(most, measure())
            sink.update(most)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files under a folder; what is missing or vanishes counts nothing."""
    total = 0
    for found in [path, *path.rglob("*")]:
        try:
            if found.is_file():
                total += found.stat().st_size
        except OSError:
            continue
    return total


def disk_error(name: str, folder: Path, error: OSError, kept: str) -> EnvironmentUnavailableError:
    """The error for a file of the model `name` that can't be written in `folder`."""
    full = error.errno in DISK_FULL
    return EnvironmentUnavailableError(
        f"{name} can't be written: {'the disk is full' if full else error.strerror or error}.",
        kept=kept,
        hint=f"free some disk where {folder} is, or set CODEFORGE_DATA_DIR to a folder on a larger one"
        if full
        else f"check the rights of {folder}, or set CODEFORGE_DATA_DIR",
    )


def refuse(path: Path, bad: Path, what: str, hint: str) -> EnvironmentUnavailableError:
    """Put a file whose hash differs aside as `bad`, and return the error that says so."""
    path.replace(bad)
    return EnvironmentUnavailableError(what, kept=f"what came is kept at {bad} and is not used", hint=hint)
