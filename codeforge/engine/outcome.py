"""What a run of `fix` is asked for and what it comes to."""

from dataclasses import dataclass
from enum import StrEnum

from codeforge.engine.candidate import Candidate
from codeforge.localize.model import Location
from codeforge.models.protocol import Usage
from codeforge.sandbox.model import CheckResult
from codeforge.tasks.spec import TaskSpec


@dataclass(frozen=True, slots=True)
class FixOptions:
    """How to run.

    Attributes:
        candidates: most model answers in all rounds together; `None` chooses by the model's size.
        rounds: over how many rounds they are spread; each later round sees the failures of the earlier.
        budget_tokens: tokens of a prompt; `None` chooses by the model.
        timeout_s: wall-clock seconds of one run of the test command.
        seed: of everything random.
        temperature: of the answers after the first, which is greedy; `None` is `SPREAD_TEMPERATURE`.
        mutations: most deterministic mutations to try; 0 turns them off.
        screen_s: wall-clock seconds that trying mutations may take.
        network: whether checks may use the network.
        memory_bytes: memory of one check.
    """

    candidates: int | None = None
    rounds: int = 2
    budget_tokens: int | None = None
    timeout_s: float = 300.0
    seed: int = 0
    temperature: float | None = None
    mutations: int = 200
    screen_s: float = 60.0
    network: bool = False
    memory_bytes: int = 4 * 1024**3


class FixStatus(StrEnum):
    """How a run ended."""

    SOLVED = "solved"
    UNVERIFIED = "unverified"
    NO_PATCH = "no_patch"


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall-clock seconds: of all, of the model, of test commands; the rest is codeforge's own."""

    total_s: float
    model_s: float
    checks_s: float

    @property
    def overhead_s(self) -> float:
        """Seconds that were neither the model's nor a test command's (they may overlap: never negative)."""
        return max(0.0, self.total_s - self.model_s - self.checks_s)


@dataclass(frozen=True, slots=True)
class FixResult:
    """What a run came to.

    Attributes:
        task: what was asked.
        status: how it ended.
        baseline: the check before any change; `None` without a test command.
        locations: where the issue lives, best first.
        candidates: every candidate that was checked, in order.
        best: the chosen one: accepted, or unverified, or `None`.
        nearest: with no accepted candidate, the one that came nearest.
        verified_by: "tests" (failing tests pass now), "regressions" (tests passed before and still do),
            "nothing".
        model_calls: answers asked for.
        mutants_tried: deterministic mutations screened.
        usage: of all answers together.
        timings: where the time went.
        model: the version that answered; "" when no model was needed.
    """

    task: TaskSpec
    status: FixStatus
    baseline: CheckResult | None
    locations: tuple[Location, ...]
    candidates: tuple[Candidate, ...]
    best: Candidate | None
    nearest: Candidate | None
    verified_by: str
    model_calls: int
    mutants_tried: int
    usage: Usage
    timings: Timings
    model: str
