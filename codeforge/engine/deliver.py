"""Putting a chosen candidate into the user's tree: journaled, undoable, committed when asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeforge.engine.session import FixedSession
from codeforge.errors import CodeforgeError, PatchRefusedError
from codeforge.git import GitRepo
from codeforge.patch.journal import apply_journaled


def _refuse_mixing(repo: GitRepo, paths: Sequence[str]) -> None:
    """A commit takes whole files: with the user's own changes in one of them it would take these too."""
    mixed = sorted(repo.dirty_paths() & set(paths))
    if mixed:
        raise PatchRefusedError(
            f"{', '.join(mixed)} has changes of your own that the commit would take along.",
            kept="nothing was changed",
            hint="commit or stash them first, or use --apply and commit yourself",
        )


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was done: the journal entry's id, the commit if one was made, and what to know."""

    entry: str
    commit: str | None
    notes: tuple[str, ...]


def deliver(done: FixedSession, *, commit: bool) -> Delivered:
    """Apply the best candidate of `done` to the user's tree, and commit exactly its files if `commit`.

    Raises:
        PatchRefusedError: a file changed while codeforge worked; nothing was written.
        CodeforgeError: the commit failed (a hook, no identity); the patch stays applied and can be undone.
    """
    best = done.result.best
    if best is None:
        raise ValueError("there is nothing to deliver")
    if commit:
        _refuse_mixing(done.repo, best.patch.paths)
    title = done.result.task.issue.strip().splitlines()[0][:72]
    entry = apply_journaled(best.patch, done.repo.root, label=title, session_id=done.id)
    if not commit:
        return Delivered(entry.id, None, tuple(entry.notes))
    try:
        sha = done.repo.commit_paths(list(best.patch.paths), f"Fix: {title}\n\ncodeforge session {done.id}\n")
    except CodeforgeError as error:
        error.kept = (
            f"the patch stays applied, uncommitted ({error.kept})"
            if error.kept
            else ("the patch stays applied, uncommitted")
        )
        error.hint = error.hint or "codeforge undo takes it back"
        raise
    return Delivered(entry.id, sha, tuple(entry.notes))
