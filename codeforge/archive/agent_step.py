"""`AgentStep`: one command of an agent and what it was answered, as a step of a session.

It is a step of the kind `agent_step`; its seconds and tokens are those of the step, so that sums over a
session's steps count it. A session can hold several runs of an agent (samples): `sample` tells them apart.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from codeforge.archive.model import SessionRecord, StepRecord
from codeforge.archive.writer import SessionWriter

AGENT_STEP = "agent_step"


class StepStatus(StrEnum):
    """How a command went: it was answered; it was refused (the agent's mistake, told to it); it ended the
    run."""

    OK = "ok"
    REFUSED = "refused"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A tool and its arguments as the agent wrote them (JSON); the tool is "" where no call could be read."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class StepTokens:
    """Tokens that the model read and wrote for a step; zero for all calls of one answer but the first."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A command and what came of it.

    Attributes:
        command: what the agent did.
        observation: what it was answered.
        status: how it went.
        elapsed_s: seconds, of the model and the tool together.
        tokens: what the model read and wrote.
    """

    command: AgentCommand
    observation: str
    status: StepStatus
    elapsed_s: float
    tokens: StepTokens


@dataclass(frozen=True, slots=True)
class RecordedAgentStep:
    """A step as read back, and the sample (0-based) that it belongs to."""

    sample: int
    step: AgentStep


def write_agent_step(session: SessionWriter, sample: int, step: AgentStep) -> str:
    """Record a step and return its hash in the chain."""
    payload = {
        "sample": sample,
        "command": step.command,
        "observation": step.observation,
        "status": step.status,
    }
    return session.step(AGENT_STEP, payload, step.elapsed_s, asdict(step.tokens))


def agent_steps(record: SessionRecord) -> tuple[RecordedAgentStep, ...]:
    """The agent's steps of a session, in the order in which they were taken."""
    return tuple(_read(step) for step in record.steps if step.kind == AGENT_STEP)


def _read(step: StepRecord) -> RecordedAgentStep:
    payload: Mapping[str, Any] = step.payload
    tokens: Any = step.tokens
    return RecordedAgentStep(
        payload["sample"],
        AgentStep(
            AgentCommand(**payload["command"]),
            payload["observation"],
            StepStatus(payload["status"]),
            step.elapsed_s,
            StepTokens(**tokens),
        ),
    )
