"""The seam behind which every source of model files stands."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeforge.models.catalog import CatalogEntry
from codeforge.models.progress import ProgressSink

_WATCH_EVERY_S = 0.5


class SourceUnavailableError(Exception):
    """This source can't give the file; another may. The text says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file as it came: where it lies, its hash, and whose hash that agreed with ("catalog" or "hub")."""

    path: Path
    sha256: str
    trust: str


class Fetcher(Protocol):
    """A source of model files."""

    def fetch(self, entry: CatalogEntry, folder: Path, sink: ProgressSink) -> Fetched:
        """Bring the file of `entry` into `folder` under a name that is not yet its own, whole and checked.

        Interrupted, it leaves what it has so that the next call goes on from there.

        Raises:
            SourceUnavailableError: this source can't give it.
            EnvironmentUnavailableError: what came is not the file, or the disk is full.
        """
        ...


@contextmanager
def watched_folder(folder: Path, sink: ProgressSink, base: int) -> Iterator[None]:
    """Report `base` plus the bytes in `folder` while another program fills it."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_WATCH_EVERY_S):
            sink.update(base + folder_size(folder))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def folder_size(folder: Path) -> int:
    """Bytes in all files under `folder`; files that vanish meanwhile count nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                total += path.stat().st_size
        except OSError:
            continue
    return total
