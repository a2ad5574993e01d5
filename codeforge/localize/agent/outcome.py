"""What an agent comes to."""

from dataclasses import dataclass, field

from codeforge.localize.model import Entity
from codeforge.localize.ranker import LocateAnswer
from codeforge.models.protocol import Usage


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that an agent names, the file it is in, and the agent's reason."""

    entity: Entity
    file: Entity
    reason: str


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """An agent's answer.

    Attributes:
        answer: locations and files, best first; the ranker's when no sample has an answer.
        samples: samples drawn.
        failed: those without an answer.
        usage: what all of them cost.
    """

    answer: LocateAnswer
    samples: int
    failed: int
    usage: Usage = field(default_factory=Usage)

    @property
    def by_agent(self) -> bool:
        """Whether the agent has a part in the answer."""
        return self.failed < self.samples
