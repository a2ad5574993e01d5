"""What happens during a run, as typed events: the one-shot command prints them, other front ends render
them, the archive records them."""

from collections.abc import Callable
from dataclasses import dataclass

from codeforge.engine.candidate import Candidate
from codeforge.localize.model import Location
from codeforge.models.protocol import Usage
from codeforge.sandbox.model import CheckResult


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; the run goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class TestCommandChosen:
    """Which command judges and why; `command` is `None` when nothing will be verified."""

    __test__ = False

    command: str | None
    why: str


@dataclass(frozen=True, slots=True)
class BaselineChecked:
    """The tree before any change."""

    check: CheckResult


@dataclass(frozen=True, slots=True)
class Located:
    """Where the issue lives, best first."""

    locations: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class ContextCompiled:
    """What the model will read: tokens used of the budget, and what was left out and why."""

    tokens: int
    budget: int
    included: tuple[str, ...]
    cut: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MutantsScreened:
    """Deterministic mutations were tried: how many, how many pass the failing tests, in which time."""

    tried: int
    passing: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A request goes out for `samples` answers."""

    model: str
    prompt: str
    samples: int
    round: int


@dataclass(frozen=True, slots=True)
class ModelText:
    """A piece of sample `sample` as it streams."""

    sample: int
    text: str


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """One answer is complete."""

    sample: int
    text: str
    usage: Usage
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class ProposalRefused:
    """An answer led to no candidate, and why."""

    operator: str
    reason: str


@dataclass(frozen=True, slots=True)
class CandidateChecked:
    """A candidate has its evidence."""

    candidate: Candidate


Event = (
    Notice
    | TestCommandChosen
    | BaselineChecked
    | Located
    | ContextCompiled
    | MutantsScreened
    | ModelAsked
    | ModelText
    | ModelAnswered
    | ProposalRefused
    | CandidateChecked
)

EventSink = Callable[[Event], None]
