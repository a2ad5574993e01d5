"""An agent's events on stderr, one line each, so that stdout stays free for the answer."""

import sys

from codeforge.archive.agent_step import AgentStep, StepStatus
from codeforge.localize.agent.events import (
    AgentEvent,
    AgentNotice,
    ModelReplied,
    Ranked,
    SampleEnded,
    SampleStarted,
    StepTaken,
)
from codeforge.localize.agent.session import LocatedSession

_MOST_ARGUMENTS = 120
_MARKS = {StepStatus.OK: "→", StepStatus.REFUSED: "✗", StepStatus.FINISHED: "✓"}


def show_agent_event(event: AgentEvent) -> None:
    """Write the lines of one event."""
    for line in describe(event):
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def describe(event: AgentEvent) -> list[str]:
    """The lines of one event; none for what isn't worth one."""
    match event:
        case Ranked(answer, elapsed_s):
            notices = [f"codeforge: {notice}" for notice in answer.notices]
            return [*notices, f"ranker: {len(answer.locations)} locations ({elapsed_s:.1f} s)"]
        case SampleStarted(sample, samples, model):
            return [f"sample {sample + 1} of {samples}: asking {model}"]
        case StepTaken(sample, number, step):
            return [f"  {sample + 1}.{number} {_step(step)}"]
        case SampleEnded(sample, _, problem) if problem:
            return [f"sample {sample + 1} failed: {_line(problem)}"]
        case AgentNotice(text):
            return [f"note: {text}"]
        case SampleEnded() | ModelReplied():
            return []


def summary(done: LocatedSession) -> str:
    """How a run went, in a line."""
    outcome = done.outcome
    failed = f", {outcome.failed} failed" if outcome.failed else ""
    cost = f", ${outcome.usage.cost_usd:.4f}" if outcome.usage.cost_usd is not None else ""
    tokens = outcome.usage.prompt_tokens + outcome.usage.completion_tokens
    return f"agent: {outcome.samples} sample(s){failed}, {tokens} tokens{cost}; session {done.id}"


def _step(step: AgentStep) -> str:
    command = _line(f"{step.command.tool} {step.command.arguments}".strip())
    lines = step.observation.splitlines()
    said = _line(lines[0]) if lines else ""
    more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    return f"{command} {_MARKS[step.status]} {said}{more} ({step.elapsed_s:.1f} s)"


def _line(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in text).split())
    return flat if len(flat) <= _MOST_ARGUMENTS else f"{flat[: _MOST_ARGUMENTS - 1]}…"
