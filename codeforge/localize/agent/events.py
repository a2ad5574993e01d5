"""What happens while an agent looks, as typed events: front ends show them, the archive records them."""

from collections.abc import Callable
from dataclasses import dataclass

from codeforge.archive.agent_step import AgentStep
from codeforge.localize.ranker import LocateAnswer
from codeforge.models.protocol import Message


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranker has answered; what follows can only reorder and add to it."""

    answer: LocateAnswer
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class SampleStarted:
    """A sample begins: its number (0-based), of how many, and what the model is told first."""

    sample: int
    samples: int
    model: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The model's answer as it came, tool calls included."""

    sample: int
    text: str


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A command was carried out or refused; `number` counts the sample's steps from 1."""

    sample: int
    number: int
    step: AgentStep


@dataclass(frozen=True, slots=True)
class SampleEnded:
    """A sample has named ids, best first; or it has failed, and `problem` says why."""

    sample: int
    ids: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AgentNotice:
    """Something the user should know; the run goes on."""

    text: str


AgentEvent = Ranked | SampleStarted | ModelReplied | StepTaken | SampleEnded | AgentNotice

AgentEventSink = Callable[[AgentEvent], None]
