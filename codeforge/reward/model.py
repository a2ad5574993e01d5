"""The noun `Reward`, and the weights that make its total."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RewardWeights:
    """Weights of the parts of a reward, under a name, so that two rewards can be compared at all."""

    version: str = "fix-1"
    tests: float = 0.8
    locality: float = 0.1
    size: float = 0.1


@dataclass(frozen=True, slots=True)
class Reward:
    """A decomposed reward; every part lies in [0, 1].

    Attributes:
        tests: share of the tests that pass (1.0 when the check passes).
        locality: share of the edited lines that lie in what localization named.
        size: 1 for a one-line change, falling towards 0 as the change grows.
        anti_hack: 1, or 0 when the change games the check; then the total is 0.
        self_check: quality of the model's own verification; `None` when none was made.
        total: the weighted mean of tests, locality and size, times anti_hack.
        accepted: the check passes and nothing was gamed.
        diagnosis: what a person should know, in sentences.
        weights: the version of the weights.
    """

    tests: float
    locality: float
    size: float
    anti_hack: float
    self_check: float | None
    total: float
    accepted: bool
    diagnosis: str
    weights: str
