"""From a situation to a request: which prompt, about which function, with which evidence, in which budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.context.compiler import ContextItem, compile_context
from codeforge.context.fit import fit_text
from codeforge.engine.evaluate import Evaluated
from codeforge.engine.evidence import Evidence
from codeforge.engine.outcome import FixOptions
from codeforge.engine.prompts import load_prompt
from codeforge.engine.targets import (
    Excerpt,
    entity_source,
    function_targets,
    header_of,
    most_suspicious,
    whole_file,
)
from codeforge.localize.model import Entity, Location
from codeforge.models.protocol import ChatModel, ChatRequest
from codeforge.sandbox.probe import FailureDetail, render_failure
from codeforge.tasks.spec import TaskSpec

SHOWN_FAILURES = 3
_END_OF_FUNCTION = ("\n```", "\nclass ", "\ndef ", "\nif __name__", "\n@")
"""What follows a function that was begun at column 0: the end of the fence, or other code."""
FAILURE_CHARS = 600
SMALL_FILE_LINES = 80
RIVAL_SHARE = 0.6
"""A second function is asked about when its score is at least this share of the first one's."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How a model is best asked.

    Attributes:
        rewrites: it answers with one whole function (small models ignore edit formats), else edit blocks.
        candidates: answers asked for in all rounds together.
        budget_tokens: tokens of a prompt.
        max_tokens: tokens of an answer.
        targets: functions shown in full.
    """

    rewrites: bool
    candidates: int
    budget_tokens: int
    max_tokens: int
    targets: int


def profile_of(model: ChatModel, options: FixOptions) -> Profile:
    """Defaults by where the model runs, overridden by what the user asked for.

    Measured on a small local model: whole functions are applied nearly always, edit blocks often not.
    """
    if model.local:
        found = Profile(True, 8, min(2000, model.context_window // 3), 700, 2)
    else:
        found = Profile(False, 3, min(16000, model.context_window // 2), 4096, 8)
    return Profile(
        found.rewrites,
        options.candidates or found.candidates,
        options.budget_tokens or found.budget_tokens,
        found.max_tokens,
        found.targets,
    )


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known when a model is asked.

    Attributes:
        task: the task.
        evidence: the baseline; `None` without a test command.
        locations: where the issue lives, best first.
        tried: what earlier rounds came to.
        tree: the captured tree.
    """

    task: TaskSpec
    evidence: Evidence | None
    locations: tuple[Location, ...]
    tried: tuple[Evaluated, ...]
    tree: Path


@dataclass(frozen=True, slots=True)
class Request:
    """A request ready to be sent, and what its context left out.

    Attributes:
        chat: the request.
        prompt_version: name and hash of the prompt.
        tokens: tokens of its messages.
        included, cut: what the context holds, and what it lacks with the reason.
        parent: the candidate whose failure is fed back.
    """

    chat: ChatRequest
    prompt_version: str
    tokens: int
    included: tuple[str, ...]
    cut: tuple[str, ...]
    parent: str | None


def build_request(situation: Situation, profile: Profile, model: ChatModel, *, round_: int) -> Request:
    """Compile the prompt of round `round_` (1-based)."""
    targets = function_targets(situation.locations, profile.targets)
    retry = round_ > 1 and bool(situation.tried)
    prompt = load_prompt(_prompt_name(profile, retry=retry, target=bool(targets)))
    attempts, parent = _attempts(situation.tried) if retry else ("", None)
    evidence = _evidence_text(situation.evidence)
    asked = _asked_function(situation, targets, round_) if profile.rewrites else None
    issue = fit_text(situation.task.issue.strip(), profile.budget_tokens // 2, model.count_tokens)
    values = {"issue": issue, "evidence": evidence, "language": "python"}
    values["target"] = f" `{asked.qualname}`" if asked else ""
    if retry:
        values["attempts"] = attempts
    bare = prompt.messages(context="", **values)
    room = profile.budget_tokens - sum(model.count_tokens(m.content) + 8 for m in bare)
    compiled = compile_context(_items(situation, targets), max(0, room), model.count_tokens)
    messages = prompt.messages(context=compiled.text, **values)
    prefix = _answer_prefix(situation, asked)
    chat = ChatRequest(
        messages=messages,
        max_tokens=_answer_tokens(situation.tree, targets, profile, model),
        answer_prefix=prefix,
        stop=_END_OF_FUNCTION if prefix else (),
    )
    return Request(
        chat,
        prompt.version,
        sum(model.count_tokens(message.content) for message in messages),
        tuple(compiled.included),
        (
            *(f"{cut.title}: {cut.reason}" for cut in compiled.cut),
            *(["the issue: its middle was left out"] if issue != situation.task.issue.strip() else []),
        ),
        parent,
    )


def _prompt_name(profile: Profile, *, retry: bool, target: bool) -> str:
    if profile.rewrites and target:
        return "retry" if retry else "rewrite"
    return "search_replace_retry" if retry else "search_replace"


def _asked_function(situation: Situation, targets: Sequence[Entity], round_: int) -> Entity | None:
    """The function to rewrite: the likeliest; a later round takes a near rival."""
    if not targets:
        return None
    scores = {location.entity.id: location.score for location in situation.locations}
    floor = RIVAL_SHARE * scores.get(targets[0].id, 0.0)
    likely = [target for target in targets if scores.get(target.id, 0.0) >= floor]
    return likely[(round_ - 1) % len(likely)]


def _answer_prefix(situation: Situation, asked: Entity | None) -> str:
    """The beginning of the answer, up to the header of the function to rewrite: a small model then can
    neither chat nor answer with something else."""
    source = entity_source(situation.tree, asked) if asked else None
    header = header_of(source.text) if source else ""
    return f"```python\n{header}\n" if header else ""


def _answer_tokens(tree: Path, targets: Sequence[Entity], profile: Profile, model: ChatModel) -> int:
    """A whole function needs about its own length, half as much again, and room for a sentence."""
    if not profile.rewrites:
        return profile.max_tokens
    sources = [entity_source(tree, target) for target in targets]
    longest = max((model.count_tokens(source.text) for source in sources if source), default=0)
    return min(profile.max_tokens, 150 + longest * 3 // 2)


def _items(situation: Situation, targets: Sequence[Entity]) -> list[ContextItem]:
    """The targets in full; the rest of their files while small; further locations by their signature."""
    items: list[ContextItem] = []
    shown: set[str] = set()
    for place, target in enumerate(targets):
        priority = 100.0 - place
        whole = whole_file(situation.tree, target.path)
        if whole is not None and whole.end <= SMALL_FILE_LINES:
            if target.path not in shown:
                items.append(_item(whole, "file", priority, situation.evidence))
        else:
            source = entity_source(situation.tree, target)
            if source is not None:
                items.append(_item(source, "target", priority, situation.evidence))
        shown.add(target.path)
    for place, location in enumerate(situation.locations):
        if location.entity.path not in shown and place < SHOWN_FAILURES and not targets:
            whole = whole_file(situation.tree, location.entity.path)
            if whole is not None:
                items.append(_item(whole, "file", 50.0 - place, situation.evidence))
                shown.add(location.entity.path)
    return items


def _item(excerpt: Excerpt, kind: str, priority: float, evidence: Evidence | None) -> ContextItem:
    """An excerpt as a fenced, titled piece; suspicious lines are named below it."""
    lines = evidence.suspicious.get(excerpt.path, {}) if evidence else {}
    note = _suspicion_note(excerpt, lines)
    title = f"File `{excerpt.path}`" if kind == "file" else f"From `{excerpt.path}`, line {excerpt.start}"
    shown = excerpt.text.strip("\n")
    text = f"{title}:\n```python\n{shown}\n```{note}"
    return ContextItem(kind=kind, title=f"{excerpt.path}:{excerpt.start}", text=text, priority=priority)


def _suspicion_note(excerpt: Excerpt, lines: Mapping[int, float]) -> str:
    numbers = most_suspicious(lines, excerpt.start, excerpt.end, 3)
    source = excerpt.text.splitlines()
    named = [source[n - excerpt.start].strip() for n in numbers if n - excerpt.start < len(source)]
    if not named:
        return ""
    return "\nSuspicious: " + ", ".join(f"`{line}`" for line in named)


def _evidence_text(evidence: Evidence | None) -> str:
    if evidence is None:
        return ""
    if evidence.failures:
        shown = "\n\n".join(render_failure(f, FAILURE_CHARS) for f in _telling(evidence.failures))
        return f"Failing tests:\n{shown}\n"
    failing = evidence.check.failing
    if failing:
        shown = "\n".join(
            f"{o.id}: {o.message or o.details[-FAILURE_CHARS:]}" for o in failing[:SHOWN_FAILURES]
        )
        return f"Failing tests:\n{shown}\n"
    if not evidence.check.passed:
        tail = (evidence.check.stdout_tail + evidence.check.stderr_tail)[-3 * FAILURE_CHARS :]
        return f"The command `{evidence.check.command}` fails:\n{tail}\n"
    return ""


def _telling(failures: Sequence[FailureDetail]) -> list[FailureDetail]:
    """A few failures that tell most: short values first, wrong results before crashes before hangs,
    and no kind of failure left out."""

    def effort(failure: FailureDetail) -> tuple[bool, int]:
        return failure.hung, len(failure.call) + len(failure.expected) + len(failure.actual)

    ranked = sorted(failures, key=effort)
    kinds: dict[str, FailureDetail] = {}
    for failure in ranked:
        kinds.setdefault(failure.exc_type, failure)
    first = list(kinds.values())[:SHOWN_FAILURES]
    rest = [failure for failure in ranked if failure not in first]
    return [*first, *rest][:SHOWN_FAILURES]


def _attempts(tried: Sequence[Evaluated]) -> tuple[str, str | None]:
    """The best failed attempts: their changed lines, and what then happens."""
    ranked = sorted(tried, key=lambda item: -item.candidate.reward.total)[:2]
    parts = []
    for item in ranked:
        changed = [
            line
            for line in item.candidate.diff.splitlines()
            if line[:1] in "+-" and not line.startswith(("+++", "---"))
        ]
        happened = render_failure(item.failures[0], 300) if item.failures else item.candidate.reward.diagnosis
        parts.append("```diff\n" + "\n".join(changed[:20]) + f"\n```\nThen: {happened}")
    return "\n\n".join(parts), ranked[0].candidate.id if ranked else None
