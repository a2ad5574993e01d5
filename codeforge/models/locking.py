"""One process at a time works on a model's file; another waits, says so, and then finds the work done."""

from collections.abc import Iterator
from contextlib import contextmanager

from codeforge import paths
from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.catalog import CatalogEntry
from codeforge.models.progress import ProgressSink


@contextmanager
def model_lock(entry: CatalogEntry, sink: ProgressSink | None) -> Iterator[None]:
    """Hold the entry's lock while the block runs; the system frees it when the process dies.

    Args:
        sink: told when another process holds it, and then we wait; None: don't wait.

    Raises:
        EnvironmentUnavailableError: another process holds it and `sink` is None; the folder can't be written.
    """
    from filelock import FileLock, Timeout

    folder = paths.models_dir()
    lock = FileLock(folder / f".{entry.file}.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if sink is None:
                raise EnvironmentUnavailableError(
                    f"Another codeforge is working on the file of {entry.name}.",
                    kept="nothing was changed",
                    hint="wait for it to end, then try again",
                ) from None
            sink.note(f"Another codeforge is fetching {entry.name}; waiting for it.")
            lock.acquire()
    except OSError as error:
        raise EnvironmentUnavailableError(
            f"The models folder {folder} can't be written: {error.strerror or error}.",
            hint="check its rights, or set CODEFORGE_DATA_DIR to a folder that you can write",
        ) from error
    try:
        yield
    finally:
        lock.release()
