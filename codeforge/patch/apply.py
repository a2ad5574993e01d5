"""Resolve edits against a tree into a `Patch`, and write a `Patch` to a tree: whole or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codeforge.errors import PatchRefusedError, PermissionDeniedError
from codeforge.patch.match import Match, NoMatch, find
from codeforge.patch.model import EditBlock, EditKind, FileChange, Patch
from codeforge.patch.safepath import Target, resolve_target
from codeforge.patch.scope import in_scope
from codeforge.patch.splice import edit_lines, insert, splice
from codeforge.patch.suggest import nearest_paths
from codeforge.patch.textfile import (
    MAX_BYTES,
    Line,
    TextFile,
    decode_bytes,
    read_target,
    refuse_read_only,
    split_lines,
)
from codeforge.patch.write import write_changes


@dataclass(frozen=True, slots=True)
class Refused:
    """One edit that can't be made: its place in the order (0-based), its path and the reason."""

    index: int
    path: str
    reason: str


class EditsRefusedError(PatchRefusedError):
    """Some edits can't be made; `refusals` has every one of them."""

    def __init__(self, refusals: Sequence[Refused], total: int) -> None:
        listing = "\n".join(f"  edit {item.index + 1}: {item.path}: {item.reason}" for item in refusals)
        super().__init__(
            f"{len(refusals)} of {total} edits can't be made:\n{listing}", kept="nothing was changed"
        )
        self.refusals = tuple(refusals)


class _EditError(Exception):
    """Why one edit can't be made."""


def resolve_patch(
    edits: Sequence[EditBlock], root: Path, *, scope: Sequence[str] = (), max_bytes: int = MAX_BYTES
) -> Patch:
    """Apply `edits` in memory, in order, to the files below `root`; later edits see earlier ones.

    Nothing is written. `scope` holds globs (see `scope.in_scope`); empty means everywhere.

    Raises:
        PermissionDeniedError: an edit lies outside `scope`.
        EditsRefusedError: some edits can't be made; it lists every one.
    """
    tree = _Tree(root, tuple(scope), max_bytes)
    refusals: list[Refused] = []
    outside: list[str] = []
    for index, edit in enumerate(edits):
        try:
            tree.apply(edit)
        except PermissionDeniedError as error:
            outside.append(error.message)
        except PatchRefusedError as error:
            hint = f" ({error.hint})" if error.hint else ""
            refusals.append(Refused(index, edit.path, error.message.removeprefix(f"{edit.path}: ") + hint))
        except _EditError as error:
            refusals.append(Refused(index, edit.path, str(error)))
    if outside:
        raise PermissionDeniedError(
            "outside the edit scope: " + "; ".join(outside),
            kept="nothing was changed",
            hint="widen the scope (--scope), or leave it out",
        )
    if refusals:
        raise EditsRefusedError(refusals, len(edits))
    return Patch(tuple(edits), tree.changes(), tuple(tree.notes))


@dataclass(slots=True)
class _File:
    """One file as the edits so far leave it."""

    target: Target
    before: bytes | None
    mode: int | None
    now: TextFile | None
    shifts: list[tuple[int, int]] = field(default_factory=list)

    def line_now(self, original: int) -> int:
        """Where a line (1-based) of the file before the patch is now."""
        index = original - 1
        for end, delta in self.shifts:
            if index >= end:
                index += delta
        return index + 1


class _Tree:
    """The files that the edits touch, in memory."""

    def __init__(self, root: Path, scope: tuple[str, ...], max_bytes: int) -> None:
        self._root = root
        self._scope = scope
        self._max_bytes = max_bytes
        self._files: dict[str, _File] = {}
        self.notes: list[str] = []
        self._actions: dict[EditKind, Callable[[EditBlock, _File], None]] = {
            EditKind.REPLACE: self._replace,
            EditKind.CREATE: self._create,
            EditKind.DELETE: self._delete,
            EditKind.RENAME: self._rename,
        }

    def apply(self, edit: EditBlock) -> None:
        self._actions[edit.kind](edit, self._open(edit.path))

    def changes(self) -> tuple[FileChange, ...]:
        """What differs from the disk, in path order."""
        found = []
        for path, file in sorted(self._files.items()):
            after = None if file.now is None else file.now.to_bytes()
            if after != file.before:
                found.append(FileChange(path, file.before, after, file.mode))
        return tuple(found)

    def _open(self, path: str) -> _File:
        target = resolve_target(self._root, path)
        for name in {path, target.path}:
            if not in_scope(name, self._scope):
                raise PermissionDeniedError(name)
        if target.path not in self._files:
            self._check_clash(target)
            found = read_target(target, max_bytes=self._max_bytes)
            raw, mode = found if found is not None else (None, None)
            now = None if raw is None or mode is None else decode_bytes(raw, target.path, mode)
            self._files[target.path] = _File(target, raw, mode, now)
        if target.linked:
            note = f"{path} goes through a link; the file edited is {target.path}"
            if note not in self.notes:
                self.notes.append(note)
        return self._files[target.path]

    def _check_clash(self, target: Target) -> None:
        for other in self._files:
            if target.path.startswith(other + "/") or other.startswith(target.path + "/"):
                raise _EditError(f"one of {target.path} and {other} would have to be a directory")

    def _existing(self, edit: EditBlock, file: _File) -> TextFile:
        if file.now is None:
            if file.before is not None:
                raise _EditError("an earlier edit of this patch removes it")
            near = nearest_paths(self._root, edit.path)
            raise _EditError("no such file" + (f"; did you mean {', '.join(near)}?" if near else ""))
        refuse_read_only(file.target)
        return file.now

    def _replace(self, edit: EditBlock, file: _File) -> None:
        text = self._existing(edit, file)
        search, new = edit_lines(edit.search), edit_lines(edit.replace)
        _check_new_text(text, search, new)
        if not search:
            self._insert(edit, file, text, new)
            return
        near = None if edit.near_line is None else file.line_now(edit.near_line)
        hint = None if edit.hint_line is None else file.line_now(edit.hint_line)
        match = find(text.display, search, near_line=near, hint_line=hint)
        if isinstance(match, NoMatch):
            raise _EditError(match.reason)
        if search == new:
            raise _EditError("the replacement equals the SEARCH text: nothing would change")
        self._finish(edit, file, match, splice(text.lines, match, search, new))

    def _finish(self, edit: EditBlock, file: _File, match: Match, lines: tuple[Line, ...] | NoMatch) -> None:
        if isinstance(lines, NoMatch) or file.now is None:
            raise _EditError(lines.reason if isinstance(lines, NoMatch) else "no such file")
        changed = replace(file.now, lines=lines)
        changed.to_bytes()  # refuses what the encoding lacks
        file.shifts.append((match.end, len(lines) - len(file.now.lines)))
        file.now = changed
        if match.note:
            self.notes.append(f"{edit.path}: {match.note}")

    def _insert(self, edit: EditBlock, file: _File, text: TextFile, new: list[str]) -> None:
        if edit.near_line is None:
            if text.lines:
                raise _EditError("the SEARCH text is empty, but the file exists and is not empty")
            at = 0
        else:
            at = file.line_now(edit.near_line) - 1
        if not 0 <= at <= len(text.lines):
            raise _EditError(f"there is no line {edit.near_line} to insert at")
        changed = replace(text, lines=insert(text.lines, at, new))
        changed.to_bytes()
        file.shifts.append((at, len(new)))
        file.now = changed

    def _create(self, edit: EditBlock, file: _File) -> None:
        if file.now is not None and file.now.lines:
            raise _EditError("the file exists and is not empty: give a SEARCH text, or delete it first")
        refuse_read_only(file.target)
        body = edit.replace.replace("\r\n", "\n")
        if "\0" in body:
            raise _EditError("the new text holds NUL bytes")
        base = file.now if file.now is not None else TextFile(file.target.path, ())
        file.now = replace(base, lines=split_lines(body), errors="strict")
        file.now.to_bytes()

    def _delete(self, edit: EditBlock, file: _File) -> None:
        self._existing(edit, file)
        if file.target.linked:
            raise _EditError(f"goes through a link to {file.target.path}: name that file to delete it")
        file.now = None

    def _rename(self, edit: EditBlock, file: _File) -> None:
        text = self._existing(edit, file)
        if edit.new_path is None:
            raise _EditError("a rename without a new path")
        if file.target.linked:
            raise _EditError(f"goes through a link to {file.target.path}: name that file to rename it")
        new = self._open(edit.new_path)
        if new.now is not None:
            raise _EditError(f"can't be renamed to {edit.new_path}, which exists")
        refuse_read_only(new.target)
        new.now = replace(text, path=new.target.path)
        new.mode = file.mode
        new.shifts = list(file.shifts)
        file.now = None


def _check_new_text(text: TextFile, search: Sequence[str], new: Sequence[str]) -> None:
    old = set(search)
    for line in new:
        if line in old:
            continue
        if "\0" in line:
            raise _EditError("the new text holds NUL bytes")
        if text.guessed and "\ufffd" in line:
            raise _EditError("the edit would change a line holding bytes that can't be decoded")


def write_patch(patch: Patch, root: Path) -> None:
    """Write every change of `patch` below `root`, or none. Not journaled (see `journal.apply_journaled`).

    Raises:
        PatchRefusedError: a file is no longer as the patch saw it, or is read-only.
        EnvironmentUnavailableError: the disk is full or refuses; every file is as it was.
    """
    write_changes(patch.changes, root)
