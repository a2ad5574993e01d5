"""The journal's files: entries (JSON) and content blobs below `.codeforge/journal/`, and its lock."""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError
from codeforge.patch.model import FileChange
from codeforge.patch.textfile import fsync_folder
from codeforge.paths import ensure_project_dir

LOCK_WAIT_S = 30.0
_SCHEMA = 1


class EntryState(StrEnum):
    """How far an entry came."""

    PREPARED = "prepared"
    APPLIED = "applied"
    ROLLED_BACK = "rolled-back"


class EntryKind(StrEnum):
    """What an entry did."""

    APPLY = "apply"
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class JournaledFile:
    """One file of an entry: SHA-256 of its bytes and its permission bits, `None` where it doesn't exist."""

    path: str
    before_sha256: str | None
    after_sha256: str | None
    before_mode: int | None
    after_mode: int | None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One journaled write.

    Attributes:
        id: six digits, rising.
        label: what it was for, one line.
        session_id: the archive's session, if any.
        created: seconds since the epoch.
        kind, state: see the enumerations; `of` is the entry that an undo or redo is about.
        files: what was written.
        created_folders: folders that did not exist before, relative to the root, outermost first.
        notes: what a person should know.
    """

    id: str
    label: str
    session_id: str | None
    created: float
    kind: EntryKind
    of: str | None
    state: EntryState
    files: tuple[JournaledFile, ...]
    created_folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def sha256(data: bytes | None) -> str | None:
    """Hex digest; `None` for `None`."""
    return None if data is None else hashlib.sha256(data).hexdigest()


class JournalStore:
    """Reads and writes one project's journal. Make changes only inside `locked()`."""

    def __init__(self, root: Path) -> None:
        self._folder = root / ".codeforge" / "journal"
        self._blobs = self._folder / "blobs"
        self._root = root

    @property
    def exists(self) -> bool:
        """Whether anything was ever journaled here."""
        return self._folder.is_dir()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the journal's lock; the kernel lets go of it when the process dies.

        Raises:
            EnvironmentUnavailableError: another process holds it too long, or the folder can't be made.
        """
        import fcntl

        if (self._root / ".codeforge").is_symlink() or self._folder.is_symlink():
            raise EnvironmentUnavailableError(
                "the journal's folder .codeforge is a symbolic link",
                kept="nothing was changed",
                hint="make it a real folder: what is written must stay inside the repository",
            )
        with _as_unavailable():
            ensure_project_dir(self._root)
            self._blobs.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            deadline = time.monotonic() + LOCK_WAIT_S
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise EnvironmentUnavailableError(
                            "another codeforge is writing to this repository",
                            kept="nothing was changed",
                            hint="wait for it to end, then try again",
                        ) from None
                    time.sleep(0.02)
            yield
        finally:
            os.close(descriptor)

    def entries(self) -> list[JournalEntry]:
        """Every readable entry, oldest first."""
        found = []
        for path in sorted(self._folder.glob("[0-9]*.json")):
            entry = _parse_entry(path)
            if entry is not None:
                found.append(entry)
        return found

    def next_id(self) -> str:
        """The id after the highest one in use."""
        numbers = [int(path.stem) for path in self._folder.glob("[0-9]*.json") if path.stem.isdigit()]
        return f"{max(numbers, default=0) + 1:06d}"

    def prepare(self, entry: JournalEntry, changes: Sequence[FileChange]) -> None:
        """Make the blobs and then the entry durable.

        Raises:
            EnvironmentUnavailableError: the disk is full or refuses; no entry is left.
        """
        with _as_unavailable():
            for change in changes:
                for data in (change.before, change.after):
                    if data is not None:
                        self._put_blob(data)
            fsync_folder(self._blobs)
            self._write_entry(entry)

    def mark(self, entry: JournalEntry, state: EntryState, notes: Sequence[str] = ()) -> JournalEntry:
        """Write the entry again in another state and return it."""
        marked = replace(entry, state=state, notes=(*entry.notes, *notes))
        with _as_unavailable():
            self._write_entry(marked)
        return marked

    def blob(self, digest: str | None) -> bytes | None:
        """The bytes with that SHA-256; `None` for `None`.

        Raises:
            EnvironmentUnavailableError: the journal is damaged.
        """
        if digest is None:
            return None
        try:
            data = (self._blobs / digest).read_bytes()
        except OSError as error:
            raise _damaged(digest) from error
        if sha256(data) != digest:
            raise _damaged(digest)
        return data

    def _put_blob(self, data: bytes) -> None:
        path = self._blobs / str(sha256(data))
        if not path.exists():
            _durable_write(path, data)

    def _write_entry(self, entry: JournalEntry) -> None:
        document = {"schema_version": _SCHEMA, **asdict(entry)}
        _durable_write(self._folder / f"{entry.id}.json", json.dumps(document, indent=1).encode())
        fsync_folder(self._folder)


@contextmanager
def _as_unavailable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentUnavailableError(
            f"the journal can't be written ({error.strerror or error})",
            kept="the files are as the journal last recorded them",
            hint="free some disk space or check the permissions of .codeforge, then try again",
        ) from error


def _damaged(digest: str) -> EnvironmentUnavailableError:
    return EnvironmentUnavailableError(
        f"the journal is damaged: content {digest[:12]} is missing or altered",
        kept="nothing was changed",
        hint="restore the files with git instead",
    )


def _durable_write(path: Path, data: bytes) -> None:
    temporary = path.with_name(path.name + ".new")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _parse_entry(path: Path) -> JournalEntry | None:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        if fields.pop("schema_version") != _SCHEMA:
            return None
        fields["files"] = tuple(JournaledFile(**item) for item in fields["files"])
        fields["kind"], fields["state"] = EntryKind(fields["kind"]), EntryState(fields["state"])
        fields["created_folders"], fields["notes"] = tuple(fields["created_folders"]), tuple(fields["notes"])
        return JournalEntry(**fields)
    except (OSError, ValueError, KeyError, TypeError):
        return None
