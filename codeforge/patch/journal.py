"""Journaled writes: what codeforge wrote to the user's tree can be undone, and survives kill -9.

An entry and the bytes before and after are durable before the first file is touched. An entry found
"prepared" later belongs to a process that died: `recover` takes its files back to what they were.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError, PatchRefusedError
from codeforge.patch.journal_store import (
    EntryKind,
    EntryState,
    JournaledFile,
    JournalEntry,
    JournalStore,
    sha256,
)
from codeforge.patch.model import FileChange, Patch
from codeforge.patch.textfile import read_bytes
from codeforge.patch.write import (
    check_unchanged,
    missing_folders,
    remove_empty_folders,
    sweep_temporaries,
    write_changes,
)

_NO_LIMIT = 1 << 62

__all__ = [
    "EntryKind",
    "EntryState",
    "JournalEntry",
    "Listed",
    "RecoveryReport",
    "UndoReport",
    "apply_journaled",
    "list_entries",
    "recover",
    "redo",
    "undo",
]


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo or redo did: its own entry, the entry it was about, the files restored or removed."""

    entry: JournalEntry
    about: JournalEntry
    written: tuple[str, ...]
    removed: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """One interrupted write taken back: files restored, and files left alone because somebody else
    changed them since."""

    entry: JournalEntry
    restored: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def message(self) -> str:
        """One sentence for people."""
        text = f"an interrupted write ({self.entry.label}) was rolled back"
        if self.restored:
            text += f": {', '.join(self.restored)} restored"
        if self.left:
            text += f"; left alone, because changed since: {', '.join(self.left)}"
        return text


@dataclass(frozen=True, slots=True)
class Listed:
    """An applied entry, and whether it is in force (not undone)."""

    entry: JournalEntry
    active: bool


def apply_journaled(patch: Patch, root: Path, *, label: str, session_id: str | None = None) -> JournalEntry:
    """Write `patch` below `root` so that it can be undone.

    An interrupted earlier write is rolled back first; the entry's notes say so.

    Raises:
        PatchRefusedError: a file is no longer as the patch saw it, or is read-only; nothing was changed.
        EnvironmentUnavailableError: the disk is full, or another codeforge is writing.
    """
    store = JournalStore(root)
    with store.locked():
        notes = tuple(report.message for report in _recover(store, root))
        return _write(
            store, root, patch.changes, label=label, session_id=session_id, kind=EntryKind.APPLY, notes=notes
        )


def recover(root: Path) -> list[RecoveryReport]:
    """Roll back every write that a dead process left half done. Safe to call at any time."""
    store = JournalStore(root)
    if not store.exists:
        return []
    with store.locked():
        return _recover(store, root)


def list_entries(root: Path) -> list[Listed]:
    """The applied entries of kind "apply", oldest first."""
    entries = JournalStore(root).entries()
    active = _active(entries)
    return [Listed(entry, active[entry.id]) for entry in entries if entry.id in active]


def undo(root: Path, entry_id: str | None = None) -> UndoReport:
    """Take back one entry (the latest one in force), if its files are as it left them.

    Raises:
        PatchRefusedError: there is nothing to undo, or a file was changed since; nothing was changed.
    """
    return _reverse(root, entry_id, EntryKind.UNDO)


def redo(root: Path, entry_id: str | None = None) -> UndoReport:
    """Apply again an entry that was undone (the one undone last), if its files are as the undo left them.

    Raises:
        PatchRefusedError: there is nothing to redo, or a file was changed since; nothing was changed.
    """
    return _reverse(root, entry_id, EntryKind.REDO)


def _active(entries: Sequence[JournalEntry]) -> dict[str, bool]:
    """For each applied entry of kind "apply": is it in force? Told by the log itself: no flag goes stale."""
    active: dict[str, bool] = {}
    for entry in entries:
        if entry.state is not EntryState.APPLIED:
            continue
        if entry.kind is EntryKind.APPLY:
            active[entry.id] = True
        elif entry.of in active:
            active[entry.of] = entry.kind is EntryKind.REDO
    return active


def _reverse(root: Path, entry_id: str | None, kind: EntryKind) -> UndoReport:
    store = JournalStore(root)
    if not store.exists:
        raise PatchRefusedError(f"nothing to {kind}: codeforge has written nothing here")
    with store.locked():
        notes = tuple(report.message for report in _recover(store, root))
        about = _choose(store.entries(), entry_id, kind)
        changes = [_change(store, file, backwards=kind is EntryKind.UNDO) for file in about.files]
        _refuse_changed(changes, root, kind, about)
        entry = _write(
            store,
            root,
            changes,
            label=f"{kind} of {about.id}: {about.label}",
            session_id=about.session_id,
            kind=kind,
            of=about.id,
            notes=notes,
        )
        if kind is EntryKind.UNDO:
            remove_empty_folders(about.created_folders, root)
    written = tuple(change.path for change in changes if change.after is not None)
    removed = tuple(change.path for change in changes if change.after is None)
    return UndoReport(entry, about, written, removed, notes)


def _choose(entries: Sequence[JournalEntry], entry_id: str | None, kind: EntryKind) -> JournalEntry:
    active = _active(entries)
    by_id = {entry.id: entry for entry in entries}
    wanted_state = kind is EntryKind.UNDO
    if entry_id is not None:
        full = entry_id.zfill(6)
        if full not in active:
            raise PatchRefusedError(f"no entry {entry_id} in the journal", hint="codeforge undo --list")
        if active[full] is not wanted_state:
            state = "undone already" if wanted_state else "in force"
            raise PatchRefusedError(f"entry {full} is {state}", kept="nothing was changed")
        return by_id[full]
    if kind is EntryKind.UNDO:
        candidates = [name for name, in_force in active.items() if in_force]
    else:
        undone = [e.of for e in entries if e.kind is EntryKind.UNDO and e.state is EntryState.APPLIED]
        candidates = [name for name in undone if name is not None and not active.get(name, True)]
    if not candidates:
        raise PatchRefusedError(f"nothing to {kind}", kept="nothing was changed")
    return by_id[candidates[-1]]


def _change(store: JournalStore, file: JournaledFile, *, backwards: bool) -> FileChange:
    before, after = store.blob(file.before_sha256), store.blob(file.after_sha256)
    if backwards:
        return FileChange(file.path, after, before, _new_mode(file.after_mode, file.before_mode))
    return FileChange(file.path, before, after, _new_mode(file.before_mode, file.after_mode))


def _new_mode(old: int | None, new: int | None) -> int | None:
    """A file that comes back gets its old mode; one that is there keeps what it has."""
    return new if old is None or old != new else None


def _refuse_changed(changes: Sequence[FileChange], root: Path, kind: EntryKind, about: JournalEntry) -> None:
    try:
        check_unchanged(changes, root)
    except PatchRefusedError as error:
        raise PatchRefusedError(
            f"can't {kind} {about.id} ({about.label}): {error.message}".replace(
                "changed since the patch was made", "changed since"
            ),
            kept="nothing was changed",
            hint="take your own changes back first, or restore the file with git",
        ) from error


def _write(
    store: JournalStore,
    root: Path,
    changes: Sequence[FileChange],
    *,
    label: str,
    session_id: str | None,
    kind: EntryKind,
    of: str | None = None,
    notes: tuple[str, ...] = (),
) -> JournalEntry:
    check_unchanged(changes, root)
    entry = JournalEntry(
        id=store.next_id(),
        label=" ".join(label.split()),
        session_id=session_id,
        created=time.time(),
        kind=kind,
        of=of,
        state=EntryState.PREPARED,
        files=tuple(_record(change, root) for change in changes),
        created_folders=tuple(missing_folders(changes, root)),
        notes=notes,
    )
    store.prepare(entry, changes)
    try:
        write_changes(changes, root)
    except BaseException:
        # A full disk may refuse this line too; the entry then stays "prepared", which means the same.
        with contextlib.suppress(EnvironmentUnavailableError):
            store.mark(entry, EntryState.ROLLED_BACK)
        raise
    try:
        return store.mark(entry, EntryState.APPLIED)
    except BaseException:
        _roll_back(store, entry, root)
        raise


def _record(change: FileChange, root: Path) -> JournaledFile:
    found = read_bytes(root, change.path, max_bytes=_NO_LIMIT)
    before_mode = found[1] if found is not None else None
    after_mode = None if change.after is None else (change.mode if change.mode is not None else before_mode)
    return JournaledFile(change.path, sha256(change.before), sha256(change.after), before_mode, after_mode)


def _recover(store: JournalStore, root: Path) -> list[RecoveryReport]:
    reports = []
    for entry in store.entries():
        if entry.state is EntryState.PREPARED:
            report = _roll_back(store, entry, root)
            store.mark(entry, EntryState.ROLLED_BACK, [report.message])
            reports.append(report)
    return reports


def _roll_back(store: JournalStore, entry: JournalEntry, root: Path) -> RecoveryReport:
    restored, left = [], []
    for file in entry.files:
        try:
            changed = _restore(store, file, root)
        except (PatchRefusedError, EnvironmentUnavailableError):
            # One file that can't be restored must not keep the others, or the next write, waiting.
            left.append(file.path)
            continue
        if changed:
            restored.append(file.path)
    remove_empty_folders(entry.created_folders, root)
    return RecoveryReport(entry, tuple(restored), tuple(left))


def _restore(store: JournalStore, file: JournaledFile, root: Path) -> bool:
    """Take one file back; whether that changed it.

    Raises:
        PatchRefusedError: somebody else changed it since.
    """
    change = _change(store, file, backwards=True)
    sweep_temporaries([change], root)
    found = read_bytes(root, file.path, max_bytes=_NO_LIMIT)
    if (found[0] if found is not None else None) == change.after:
        return False
    write_changes([change], root)
    return True
