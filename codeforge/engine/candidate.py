"""The noun `Candidate`: a patch with evidence."""

from dataclasses import dataclass

from codeforge.patch.model import Patch
from codeforge.reward.model import Reward
from codeforge.sandbox.model import CheckResult


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a candidate comes from.

    Attributes:
        proposer: "model", "mutation" or "external".
        operator: the prompt's name, the mutation operator, or "answer".
        model: the model's version; "" for proposers without one.
        prompt_version: name and content hash of the prompt; "" without one.
        seed, temperature: how it was sampled.
        round: 1-based round of the loop.
    """

    proposer: str
    operator: str
    model: str = ""
    prompt_version: str = ""
    seed: int = 0
    temperature: float = 0.0
    round: int = 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A patch with its origin, its checks and its reward.

    Attributes:
        id: `c1`, `c2`, … within a session.
        parent: the id of the candidate whose failure was fed back, if any.
        diff: the patch as a unified diff.
    """

    id: str
    patch: Patch
    diff: str
    origin: Origin
    checks: tuple[CheckResult, ...]
    reward: Reward
    parent: str | None = None
