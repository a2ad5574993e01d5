"""Examples from tasks, and from sessions that ended with a patch that passed the tests."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from codeforge.archive.model import CandidateRecord, SessionRecord, SessionStatus
from codeforge.git import GitError, GitRepo
from codeforge.localize.dataset.record import Example, GoldLocations
from codeforge.localize.dataset.touched import apply_edits, edits_of, split_lines, touched_entities
from codeforge.localize.roles import FileRole, role_of
from codeforge.redact import redact, redact_json
from codeforge.tasks.spec import TaskSpec

_ACCEPTED = ("applied", "selected")
_FRAME = ("start", "finish")


class Unusable(NamedTuple):
    """Why something is no example."""

    reason: str


def example_of_task(task: TaskSpec) -> Example | Unusable:
    """The example of a task that carries its gold in `meta` (keys: `codeforge.tasks.github.meta`)."""
    try:
        files, functions, classes, created, tests = (
            tuple(_texts(task.meta.get(key, "[]")))
            for key in ("gold_files", "gold_functions", "gold_classes", "created_files", "test_files")
        )
    except ValueError:
        return Unusable("its gold can't be read")
    if not files:
        return Unusable("it has no gold files")
    if not task.issue.strip() or not task.base_commit:
        return Unusable("it has no text" if task.base_commit else "it has no base commit")
    gold = GoldLocations(files, functions, classes)
    query = redact(task.issue.strip())
    return Example(f"task:{task.id}", "task", task.repo, task.base_commit, query, gold, (*created, *tests))


def accepted_patch(record: SessionRecord) -> CandidateRecord | Unusable:
    """The patch that a session ended with and that passed the tests."""
    if record.summary.status is not SessionStatus.SOLVED:
        return Unusable("it was not solved")
    best = record.result.get("best")
    found = [each for each in record.candidates if each.id == best or each.status in _ACCEPTED]
    chosen = next((each for each in found if each.id == best), found[-1] if found else None)
    if chosen is None or not chosen.diff.strip():
        return Unusable("no patch is recorded")
    return chosen


def example_of_session(record: SessionRecord, patch: CandidateRecord, repo: GitRepo) -> Example | Unusable:
    """The example of a session whose accepted patch is `patch`, for its repository.

    The gold is taken against the commit that the session stood on; where the user's tree differed from it in
    a patched file, there is no example.
    """
    base = str(record.task.get("base_commit") or "")
    query = record.summary.issue.strip()
    if not base or not query:
        return Unusable("it has no text" if base else "it has no base commit")
    gold = _gold_of(patch.diff, base, repo)
    if isinstance(gold, Unusable):
        return gold
    locations, beside = gold
    identity = f"session:{record.summary.id}"
    steps = trajectory_of(record)
    return Example(identity, "session", record.summary.repo, base, redact(query), locations, beside, steps)


def trajectory_of(record: SessionRecord) -> tuple[Mapping[str, object], ...]:
    """The messages and steps of a session before its first candidate: how the place to change was found."""
    messages = {message.step_seq: message for message in record.messages}
    found: list[Mapping[str, object]] = []
    for step in record.steps:
        if step.kind == "candidate":
            break
        if (message := messages.get(step.seq)) is not None:
            found.append({"kind": "message", "role": message.role, "content": redact(message.content)})
        elif step.kind not in _FRAME:
            found.append({"kind": step.kind, "payload": redact_json(step.payload)})
    return tuple(found)


def _gold_of(diff: str, base: str, repo: GitRepo) -> tuple[GoldLocations, tuple[str, ...]] | Unusable:
    from unidiff import PatchSet
    from unidiff.errors import UnidiffParseError

    files: list[str] = []
    functions: list[str] = []
    classes: list[str] = []
    beside: list[str] = []
    try:
        patches: Sequence[Any] = PatchSet(io.StringIO(diff, newline="\n"))
    except UnidiffParseError:
        return Unusable("its patch can't be read")
    for patched in patches:
        path = patched.path
        if patched.is_added_file or role_of(path) is not FileRole.SOURCE:
            beside.append(path)
            continue
        try:
            content = repo.raw("cat-file", "blob", f"{base}:{path}")
        except GitError:
            return Unusable("its base commit or a patched file is not in the repository")
        edits = edits_of(patched)
        if apply_edits(split_lines(content), edits) is None:
            return Unusable("a patched file had uncommitted changes")
        touched = touched_entities(path, content, edits)
        if touched is not None:
            files.append(path)
            functions += touched.functions
            classes += touched.classes
    if not files:
        return Unusable("its patch changes no product code")
    return GoldLocations(tuple(files), tuple(functions), tuple(classes)), tuple(beside)


def _texts(raw: str) -> list[str]:
    values = json.loads(raw)
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise ValueError("no list of texts")
    return values
