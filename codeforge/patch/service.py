"""An answer from anywhere, applied: parse, resolve, show, verify, write. One path for every caller."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import CodeforgeError, PatchRefusedError
from codeforge.patch.apply import resolve_patch
from codeforge.patch.diff import DiffStats, patch_stats, render_patch
from codeforge.patch.entities import EntitySource
from codeforge.patch.journal import JournalEntry, apply_journaled
from codeforge.patch.model import Patch
from codeforge.patch.parse import parse_answer
from codeforge.sandbox.model import CheckResult

Verify = Callable[[Patch], CheckResult]
"""Checks a patch somewhere else than in the user's tree."""

Commit = Callable[[Sequence[str]], str]
"""Commits exactly these paths and returns the commit's id."""


@dataclass(frozen=True, slots=True)
class AppliedAnswer:
    """What an answer came to.

    Attributes:
        patch, diff, stats: the change.
        notes: what a person should know.
        check: what `verify` found; `None` without one.
        entry: the journal entry; `None` when nothing was written (dry run, failed check).
        commit: the commit's id, if one was made.
    """

    patch: Patch
    diff: str
    stats: DiffStats
    notes: tuple[str, ...]
    check: CheckResult | None = None
    entry: JournalEntry | None = None
    commit: str | None = None

    @property
    def acceptable(self) -> bool:
        """No check says otherwise."""
        return self.check is None or self.check.passed


def plan_answer(
    text: str,
    root: Path,
    *,
    entities: EntitySource | None = None,
    known_paths: Sequence[str] = (),
    scope: Sequence[str] = (),
) -> AppliedAnswer:
    """Parse and resolve an answer; nothing is written.

    Raises:
        PatchRefusedError: a part of the answer can't be read, no edit is in it, or an edit can't be made.
        PermissionDeniedError: an edit lies outside `scope`.
    """
    parsed = parse_answer(text, entities, known_paths)
    if parsed.problems:
        listing = "\n".join(f"  {problem}" for problem in parsed.problems)
        raise PatchRefusedError(f"the answer can't be used:\n{listing}", kept="nothing was changed")
    if not parsed.edits:
        raise PatchRefusedError(
            "the answer holds no edit",
            kept="nothing was changed",
            hint="edits are SEARCH/REPLACE blocks, unified diffs, or whole functions in fenced blocks",
        )
    patch = resolve_patch(parsed.edits, root, scope=scope)
    if not patch.changes:
        raise PatchRefusedError("the answer changes nothing", kept="nothing was changed")
    notes = (*parsed.notes, *patch.notes)
    return AppliedAnswer(patch, render_patch(patch), patch_stats(patch), notes)


def apply_answer(
    text: str,
    root: Path,
    *,
    entities: EntitySource | None = None,
    known_paths: Sequence[str] = (),
    scope: Sequence[str] = (),
    dry_run: bool = False,
    verify: Verify | None = None,
    commit: Commit | None = None,
    label: str = "apply",
    session_id: str | None = None,
) -> AppliedAnswer:
    """Apply an answer to the tree at `root`, journaled, when `verify` (if given) passes.

    Raises:
        PatchRefusedError, PermissionDeniedError: see `plan_answer`; nothing was changed.
        EnvironmentUnavailableError: the disk or the sandbox refuses; nothing was changed.
        CodeforgeError: from `commit`; the patch stays applied and `kept` says so.
    """
    plan = plan_answer(text, root, entities=entities, known_paths=known_paths, scope=scope)
    check = verify(plan.patch) if verify is not None else None
    checked = AppliedAnswer(plan.patch, plan.diff, plan.stats, plan.notes, check)
    if dry_run or not checked.acceptable:
        return checked
    entry = apply_journaled(plan.patch, root, label=label, session_id=session_id)
    notes = (*plan.notes, *entry.notes)
    sha = _commit(commit, plan.patch, entry) if commit is not None else None
    return AppliedAnswer(plan.patch, plan.diff, plan.stats, notes, check, entry, sha)


def _commit(commit: Commit, patch: Patch, entry: JournalEntry) -> str:
    try:
        return commit(list(patch.paths))
    except CodeforgeError as error:
        applied = "the patch is applied, not committed"
        error.kept = f"{applied} ({error.kept})" if error.kept else applied
        error.hint = error.hint or f"codeforge undo {entry.id} takes it back"
        raise
