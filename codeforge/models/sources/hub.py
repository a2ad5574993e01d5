"""Model files from the model hub: huggingface_hub's settings, tokens and HTTP client, our own resume.

The library's `hf_hub_download` starts a file again from its first byte when the process was interrupted, so
the bytes are kept here and only the rest is asked for.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from codeforge.models.catalog import CatalogEntry, HubSource
from codeforge.models.progress import ProgressSink
from codeforge.models.sources.base import (
    DISK_ERRORS,
    Fetched,
    SourceUnavailableError,
    disk_error,
    refuse,
    size_of,
    watched,
)
from codeforge.models.store import hash_file, read_json, write_json

_METADATA_S = 5.0
HUB_UNREACHABLE = "the hub can't be reached"


class HubFetcher:
    """Fetches a file from one repository of the hub (or of the mirror that HF_ENDPOINT names)."""

    def __init__(self, source: HubSource) -> None:
        self._source = source

    def bytes_needed(self, entry: CatalogEntry, folder: Path) -> int:
        return max(0, entry.size - size_of(_partial(entry, folder)))

    def fetch(self, entry: CatalogEntry, folder: Path, sink: ProgressSink) -> Fetched:
        size, sha256, location = self._metadata()
        expected = entry.sha256 or sha256
        if not sha256:
            raise SourceUnavailableError("the hub reports no SHA-256 of the file, so it could not be checked")
        if sha256 != expected:
            raise SourceUnavailableError(f"the hub's file has SHA-256 {sha256}, not {expected}")
        partial = _partial(entry, folder)
        done = _resume(partial, sha256, size)
        sink.note(f"{entry.name}: from the hub")
        sink.start(entry.name, size, done)
        try:
            with watched(lambda: size_of(partial), sink):
                self._download(location, partial, done, size)
        except KeyboardInterrupt:
            sink.note(f"Interrupted: {_kept(partial)}.")
            raise
        except OSError as error:
            raise disk_error(entry.name, folder, error, _kept(partial)) from error
        sink.update(size)
        sink.finish()
        _state(partial).unlink(missing_ok=True)
        taken = hash_file(partial)
        if taken != expected:
            raise refuse(
                partial,
                folder / f"{entry.file}.bad",
                f"What the hub sent for {entry.name} has SHA-256 {taken}, not {expected}.",
                "pull again",
            )
        trust = "catalog" if entry.sha256 else "hub"
        return Fetched(partial, taken, trust, f"hub:{self._source.repo}/{self._source.file}")

    def _metadata(self) -> tuple[int, str, str]:
        """Size, SHA-256 ("" when the hub has none) and address of the file, in seconds or not at all."""
        hub = _import_hub()
        if hub.constants.HF_HUB_OFFLINE:
            raise SourceUnavailableError(f"{HUB_UNREACHABLE}: it is switched off (HF_HUB_OFFLINE)")
        url = hub.hf_hub_url(self._source.repo, self._source.file)
        try:
            found = hub.get_hf_file_metadata(url, timeout=_METADATA_S)
        except _failures(hub) as error:
            raise SourceUnavailableError(f"{HUB_UNREACHABLE}: {_first_line(error)}") from error
        etag = (found.etag or "").strip('"')
        return found.size or 0, etag if len(etag) == 64 else "", found.location

    def _download(self, location: str, partial: Path, done: int, size: int) -> None:
        hub = _import_hub()
        hub.utils.disable_progress_bars()
        headers = hub.utils.build_hf_headers()
        if urlsplit(location).netloc != urlsplit(hub.constants.ENDPOINT).netloc:
            headers.pop("authorization", None)  # the token is the hub's, not its file server's
        if done == size:
            return
        with partial.open("r+b" if partial.exists() else "w+b") as file:
            file.seek(done)
            try:
                hub.file_download.http_get(
                    location, file, resume_size=done, headers=headers, expected_size=size
                )
            except _failures(hub) as error:
                if isinstance(error, OSError) and error.errno in DISK_ERRORS:
                    raise
                reason = f"the download from the hub broke: {_first_line(error)}"
                raise SourceUnavailableError(reason, kept=_kept(partial)) from error


def _partial(entry: CatalogEntry, folder: Path) -> Path:
    return folder / f"{entry.file}.hub-partial"


def _state(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}.json")


def _resume(partial: Path, sha256: str, size: int) -> int:
    """Bytes that are here of the file with this hash; what belongs to another one is dropped."""
    if read_json(_state(partial)).get("sha256") != sha256 or size_of(partial) > size:
        partial.unlink(missing_ok=True)
        write_json(_state(partial), {"sha256": sha256})
    return size_of(partial)


def _kept(partial: Path) -> str:
    return (
        f"{size_of(partial) / 1e6:.0f} MB are kept in {partial.parent}, and the next pull goes on from there"
    )


def _import_hub() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
        import huggingface_hub.file_download
        import huggingface_hub.utils
    except ImportError as error:
        raise SourceUnavailableError(f"{HUB_UNREACHABLE}: huggingface_hub is not installed") from error
    return huggingface_hub


def _failures(hub: Any) -> tuple[type[Exception], ...]:
    """What the library raises when the network or the hub fails; its HTTP client changes with its version."""
    return (OSError, ValueError, RuntimeError, hub.errors.HTTPError)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
