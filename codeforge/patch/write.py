"""Write several files as one: everything is staged and verified first, and a failure rolls back."""

import contextlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeforge.errors import PatchRefusedError
from codeforge.patch.model import FileChange
from codeforge.patch.safepath import Target, resolve_target
from codeforge.patch.textfile import (
    TEMPORARY_PREFIX,
    Staged,
    fsync_folder,
    read_target,
    refuse_read_only,
    remove,
    stage,
    write_failure,
)

_NO_LIMIT = 1 << 62


def check_unchanged(changes: Sequence[FileChange], root: Path) -> list[Target]:
    """The targets of `changes`, in order, after making sure that each file is as `before` says.

    Raises:
        PatchRefusedError: some are not, or may not be written; it names them all.
    """
    targets, differing = [], []
    for change in changes:
        target = resolve_target(root, change.path)
        refuse_read_only(target)
        found = read_target(target, max_bytes=_NO_LIMIT)
        if (found[0] if found is not None else None) != change.before or target.path != change.path:
            differing.append(change.path)
        targets.append(target)
    if differing:
        raise PatchRefusedError(
            "changed since the patch was made: " + ", ".join(differing),
            kept="nothing was changed",
            hint="make the patch again from the files as they are now",
        )
    return targets


def missing_folders(changes: Sequence[FileChange], root: Path) -> list[str]:
    """The folders (relative to `root`, outermost first) that writing `changes` would create."""
    found: dict[str, None] = {}
    for change in changes:
        if change.after is not None:
            parents = Path(change.path).parents
            found |= dict.fromkeys(p.as_posix() for p in reversed(parents) if not (root / p).exists())
    return list(found)


def remove_empty_folders(folders: Sequence[str], root: Path) -> list[str]:
    """Remove those of `folders` that are empty, innermost first; returns the ones removed."""
    removed = []
    for folder in sorted(folders, key=lambda name: name.count("/"), reverse=True):
        with contextlib.suppress(OSError):
            (root / folder).rmdir()
            removed.append(folder)
    return removed


def write_changes(changes: Sequence[FileChange], root: Path) -> None:
    """Bring every file from `before` to `after`, or leave all as they are.

    Raises:
        PatchRefusedError: a file is not as `before` says, or is read-only.
        EnvironmentUnavailableError: the disk is full or refuses.
    """
    check_unchanged(changes, root)
    folders = missing_folders(changes, root)
    transaction = _Transaction(root, folders)
    try:
        transaction.stage(changes)
        check_unchanged(changes, root)
        transaction.commit()
    except OSError as error:
        transaction.roll_back()
        raise write_failure(transaction.working_on, error) from error
    except BaseException:
        transaction.roll_back()
        raise
    transaction.clean_up()


@dataclass(frozen=True, slots=True)
class _Step:
    """One file: its new content (`None`: it goes) and a second name of the old (`None`: it is new)."""

    target: Target
    new: Staged | None
    backup: Staged | None


@dataclass(slots=True)
class _Transaction:
    root: Path
    folders: Sequence[str]
    working_on: str = ""
    _steps: list[_Step] = field(default_factory=list)
    _done: list[_Step] = field(default_factory=list)
    _made: list[str] = field(default_factory=list)

    def stage(self, changes: Sequence[FileChange]) -> None:
        for folder in self.folders:
            self.working_on = folder
            (self.root / folder).mkdir()
            self._made.append(folder)
        for change in changes:
            self.working_on = change.path
            target = resolve_target(self.root, change.path)
            new = None if change.after is None else stage(target, change.after, change.mode)
            self._steps.append(_Step(target, new, None))
            if change.before is not None:
                self._steps[-1] = _Step(target, new, _second_name(target, change.before))

    def commit(self) -> None:
        for step in self._steps:
            self.working_on = step.target.path
            self._done.append(step)
            if step.new is not None:
                step.new.replace()
            else:
                remove(step.target)

    def roll_back(self) -> None:
        """Undo what was done, the latest first. A backup is the old file itself, so this needs no space."""
        for step in reversed(self._done):
            if step.backup is not None:
                step.backup.replace()
            else:
                step.target.real.unlink(missing_ok=True)
        self.clean_up()
        remove_empty_folders(self._made, self.root)

    def clean_up(self) -> None:
        for step in self._steps:
            for staged in (step.new, step.backup):
                if staged is not None:
                    staged.discard()


def _second_name(target: Target, before: bytes) -> Staged:
    backup = target.real.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        os.link(target.real, backup)
    except OSError:
        return stage(target, before, None)  # a file system without hard links
    return Staged(target, backup)


def sweep_temporaries(changes: Sequence[FileChange], root: Path) -> None:
    """Remove what a killed write left lying beside the files of `changes`."""
    for folder in {(root / change.path).parent for change in changes}:
        if folder.is_dir():
            for leftover in folder.glob(TEMPORARY_PREFIX + "*"):
                leftover.unlink(missing_ok=True)
            fsync_folder(folder)
