"""Model files from the model hub, through huggingface_hub (its resume, its tokens, its settings)."""

import errno
from pathlib import Path
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.catalog import CatalogEntry, HubSource
from codeforge.models.progress import ProgressSink
from codeforge.models.sources.base import Fetched, SourceUnavailableError, folder_size, watched_folder
from codeforge.models.store import hash_file

_METADATA_S = 8.0
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)


class HubFetcher:
    """Fetches from one repository of the hub.

    Args:
        source: the repository and its file.
        endpoint: another hub (a mirror); by default the one that huggingface_hub is set to.
    """

    def __init__(self, source: HubSource, endpoint: str | None = None) -> None:
        self._source = source
        self._endpoint = endpoint

    def fetch(self, entry: CatalogEntry, folder: Path, sink: ProgressSink) -> Fetched:
        size, sha256 = self._metadata()
        expected = entry.sha256 or sha256
        if not expected:
            raise SourceUnavailableError("the hub reports no SHA-256 of the file, so it could not be checked")
        if sha256 and sha256 != expected:
            raise SourceUnavailableError(f"the hub's file has SHA-256 {sha256}, not {expected}")
        scratch = folder / ".hub" / entry.name
        scratch.mkdir(parents=True, exist_ok=True)
        sink.start(f"{entry.name} (hub)", size, folder_size(scratch))
        with watched_folder(scratch, sink, 0):
            path = self._download(scratch)
        sink.update(size)
        sink.finish()
        taken = hash_file(path)
        if taken != expected:
            bad = folder / f"{entry.file}.bad"
            path.replace(bad)
            raise EnvironmentUnavailableError(
                f"What the hub sent for {entry.name} has SHA-256 {taken}, not {expected}.",
                kept=f"it is kept at {bad} and is not used",
                hint="pull again",
            )
        return Fetched(path, taken, "catalog" if entry.sha256 else "hub")

    def _metadata(self) -> tuple[int, str]:
        """Size and SHA-256 ("" when the hub has none) of the file, in seconds or not at all."""
        hub = _import_hub()
        if hub.constants.HF_HUB_OFFLINE:
            raise SourceUnavailableError("the hub is switched off (HF_HUB_OFFLINE)")
        url = hub.hf_hub_url(self._source.repo, self._source.file, endpoint=self._endpoint)
        try:
            found = hub.get_hf_file_metadata(url, timeout=_METADATA_S)
        except _network_errors(hub) as error:
            raise SourceUnavailableError(f"the hub can't be reached: {_first_line(error)}") from error
        etag = (found.etag or "").strip('"')
        return found.size or 0, etag if len(etag) == 64 else ""

    def _download(self, folder: Path) -> Path:
        hub = _import_hub()
        hub.utils.disable_progress_bars()
        try:
            path = hub.hf_hub_download(
                self._source.repo, self._source.file, local_dir=folder, endpoint=self._endpoint
            )
        except _network_errors(hub) as error:
            if getattr(error, "errno", None) in _DISK_ERRORS:
                raise
            raise SourceUnavailableError(f"the download from the hub broke: {_first_line(error)}") from error
        return Path(path)


def _import_hub() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.utils
    except ImportError as error:
        raise SourceUnavailableError("huggingface_hub is not installed") from error
    return huggingface_hub


def _network_errors(hub: Any) -> tuple[type[Exception], ...]:
    """What the library raises when the network or the hub fails; its HTTP client varies by version."""
    errors: list[type[Exception]] = [OSError, ValueError, hub.utils.HfHubHTTPError]
    try:
        import httpx

        errors.append(httpx.HTTPError)
    except ImportError:
        pass
    return tuple(errors)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
