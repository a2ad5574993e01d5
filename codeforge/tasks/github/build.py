"""From a repository to tasks: history, pairing, gold, output."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from codeforge.errors import CodeforgeError
from codeforge.git import GitError, GitRepo
from codeforge.tasks.github.address import Endpoint, RepositoryName
from codeforge.tasks.github.cache import AnswerCache
from codeforge.tasks.github.client import GitHubClient
from codeforge.tasks.github.clone import check_ref, default_ref, open_clone, origin_of, own_clone
from codeforge.tasks.github.failures import NotFoundError
from codeforge.tasks.github.gold import gold_of
from codeforge.tasks.github.history import Change, changes, read_commits
from codeforge.tasks.github.lookups import (
    BATCH,
    CachedLookup,
    FallbackLookup,
    GraphQlLookup,
    RestLookup,
)
from codeforge.tasks.github.meta import task_id, task_of
from codeforge.tasks.github.output import GrowingFile
from codeforge.tasks.github.pairing import ApiPairing, Lookup, MessagePairing, Paired, Pairing
from codeforge.tasks.spec import TaskSpec

Tell = Callable[[str], None]

RULES = 2
"""Version of the rules by which a change is a task or none."""

_ANSWERS = "answers.db"
_BY = {"message": "commit messages", "kept answers": "what GitHub answered earlier"}
_STRIDE = 500
"""Changes between two words of progress."""

FRESH_S = 7 * 24 * 3600.0
"""How long GitHub's answers on a change count: texts of closed issues seldom change."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which changes become tasks.

    Attributes:
        ref: the branch to walk; "" for the default branch.
        since, until: bounds of the commit's date, inclusive.
        limit: most tasks in the output, those of earlier runs included.
        issues_only: only changes that closed an issue.
        max_files: most product files that a change may touch.
    """

    ref: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int | None = None
    issues_only: bool = False
    max_files: int = 10

    def takes(self, change: Change) -> bool:
        """Whether the change's date lies within the bounds."""
        at = change.committed_at
        return (self.since is None or self.since <= at) and (self.until is None or at <= self.until)


@dataclass(slots=True)
class Summary:
    """What came of a run.

    Attributes:
        repo: `owner/name`.
        paired_by: "api", "kept answers" (of the API, without asking it) or "message".
        added: tasks that this run wrote.
        before: tasks that were there.
        changes: changes of the history within the bounds.
        skipped: changes that are no tasks, by reason.
        complete: nothing is left to look at (else the limit ended the run).
    """

    repo: str
    paired_by: str
    added: int = 0
    before: int = 0
    changes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """Where tasks come from.

    Attributes:
        clone: the user's clone; `None` for our own.
        folder: our own clones, and what GitHub answered.
        offline: no network at all.
        refresh: ask GitHub anew for what it answered not long ago.
    """

    name: RepositoryName
    endpoint: Endpoint
    clone: Path | None
    folder: Path
    offline: bool
    refresh: bool = False


def build_tasks(
    source: Source,
    selection: Selection,
    out: GrowingFile | None,
    emit: Callable[[TaskSpec], None],
    tell: Tell,
) -> Summary:
    """Make the tasks of a repository, newest first, and hand each on as it is made.

    With a token GitHub is asked what each change closed; else (or offline) what it once answered counts, and
    where there is no answer the messages.

    Args:
        out: knows what earlier runs made, and keeps what this one makes; `None` keeps nothing.
        emit: gets each new task.

    Raises:
        CodeforgeError: the clone or the API can't be used. What was emitted stays written.
    """
    repo = _repository(source, tell)
    ref = check_ref(repo, selection.ref or default_ref(repo))
    summary = Summary(str(source.name), "message")
    with ExitStack() as stack:
        # Before anything else, so that a wrong name or token shows at once.
        online = _online(source, stack, tell) if source.endpoint.token and not source.offline else None
        history = {change.sha: change for change in changes(read_commits(repo, ref), source.name)}
        pairing: Pairing = MessagePairing()
        if online is not None:
            pairing, summary.paired_by = ApiPairing(*online, history), "api"
        elif (kept := _kept(source, stack)) is not None:
            pairing, summary.paired_by = ApiPairing(kept, source.name, history), "kept answers"
        if online is None and not source.offline:
            tell(f"no GITHUB_TOKEN or GH_TOKEN is set: going by {_BY[summary.paired_by]}")
        found = [change for change in history.values() if selection.takes(change)]
        summary.changes = len(found)
        summary.before = len(out.ids) if out else 0
        run = _Run(repo, source.name, selection, pairing, out, summary, tell)
        for task in run.tasks(found):
            emit(task)
    return summary


def _repository(source: Source, tell: Tell) -> GitRepo:
    if source.clone is not None:
        repo = open_clone(source.clone)
        origin = origin_of(repo)
        if origin and not source.name.is_same(origin):
            tell(f"{source.clone} is a clone of {origin}: its history is taken for that of {source.name}")
        return repo
    return own_clone(
        source.name, source.endpoint, source.folder / "clones", offline=source.offline, tell=tell
    )


def _online(source: Source, stack: ExitStack, tell: Tell) -> tuple[Lookup, RepositoryName]:
    """What asks GitHub, and the repository's present name."""
    cache = stack.enter_context(AnswerCache(source.folder / _ANSWERS))
    client = stack.enter_context(GitHubClient(source.endpoint, cache=cache, tell=tell))
    name = source.name
    try:
        known = client.get(f"/repos/{name}")
    except NotFoundError as error:
        error.hint = f"Check that {name} exists and that the token may read it; --offline goes by messages."
        raise
    full = str(known.get("full_name") or name)
    if not name.is_same(full):
        tell(f"{name} is {full} now")
        name = RepositoryName.parse(full)
    lookup = FallbackLookup(GraphQlLookup(client, name), RestLookup(client, name), tell)
    return CachedLookup(lookup, cache, _where(source), 0.0 if source.refresh else FRESH_S), name


def _kept(source: Source, stack: ExitStack) -> Lookup | None:
    """What GitHub answered in earlier runs; `None` when it was never asked about this repository."""
    path = source.folder / _ANSWERS
    if not path.exists():
        return None
    cache = stack.enter_context(AnswerCache(path))
    lookup = CachedLookup(None, cache, _where(source), math.inf)
    return lookup if lookup.knows_something() else None


def _where(source: Source) -> str:
    """Names the repository in keys of answers: as it was asked for, for it may have another name by now."""
    return f"{source.endpoint.api} {str(source.name).lower()}"


@dataclass(frozen=True, slots=True)
class _Run:
    """One walk through the changes."""

    repo: GitRepo
    name: RepositoryName
    selection: Selection
    pairing: Pairing
    out: GrowingFile | None
    summary: Summary
    tell: Tell

    def tasks(self, found: Sequence[Change]) -> Iterator[TaskSpec]:
        """New tasks; each is in the output before it is given."""
        waiting = [change for change in found if self._is_new(change)]
        for at in range(0, len(waiting), BATCH):
            if at and at % _STRIDE == 0:
                self.tell(f"{at} of {len(waiting)} changes: {self.summary.added} tasks")
            batch = waiting[at : at + BATCH]
            paired = {each.change.sha: each for each in self.pairing.pair(batch)}
            for change in batch:
                if self._is_full():
                    self.summary.complete = False
                    return
                task = self._task(change, paired.get(change.sha))
                if task is not None:
                    if self.out:
                        self.out.add(task.to_json())
                    self.summary.added += 1
                    yield task
                if self.out:
                    self.out.look_at([change.sha])

    def _is_new(self, change: Change) -> bool:
        if change.undone:
            self.summary.skipped[change.undone] += 1
            return False
        if self.out is None:
            return True
        if task_id(self.name, change.sha) in self.out.ids:
            return False
        if change.sha in self.out.seen:
            self.summary.skipped["looked at by an earlier run"] += 1
            return False
        return True

    def _is_full(self) -> bool:
        limit = self.selection.limit
        return limit is not None and self.summary.before + self.summary.added >= limit

    def _task(self, change: Change, paired: Paired | None) -> TaskSpec | None:
        reason, task = self._judge(change, paired)
        if task is None:
            self.summary.skipped[reason] += 1
        return task

    def _judge(self, change: Change, paired: Paired | None) -> tuple[str, TaskSpec | None]:
        if paired is None:
            return "closes nothing", None
        if self.selection.issues_only and not paired.issues:
            return "closes no issue", None
        if not paired.text:
            return "no text", None
        try:
            base = paired.change.base
            gold = gold_of(self.repo, base, change.sha, max_files=self.selection.max_files)
        except GitError:
            return "objects missing from the clone", None
        if not gold.files:
            return "no product file changed", None
        if len(gold.files) > self.selection.max_files:
            return f"more than {self.selection.max_files} product files", None
        return "", task_of(self.name, paired, gold)


def with_kept(error: CodeforgeError, out: GrowingFile) -> CodeforgeError:
    """`error`, saying what is kept and that the next run goes on."""
    if out.ids:
        kept = f"{len(out.ids)} {out.holds} are kept in {out.path}; the same command goes on from there."
        error.kept = " ".join(filter(None, (error.kept, kept)))
    return error
