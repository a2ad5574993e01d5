"""Acc@k, and the test of one column against another."""

from collections.abc import Sequence
from math import comb

KS = (1, 3, 5, 10)
NEVER = 10**6
"""The rank of what isn't found."""


def deepest(gold: frozenset[str], ranked: Sequence[str]) -> int:
    """The smallest k at which everything gold is among the first k (1-based); `NEVER` when it isn't there."""
    places = {name: place for place, name in reversed(list(enumerate(ranked, 1)))}
    return max((places.get(name, NEVER) for name in gold), default=NEVER)


def accuracy(ranks: Sequence[int], k: int) -> float:
    """Acc@k in percent: the share of tasks with all their gold among the first k."""
    return 100 * sum(rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


def shown(ranks: Sequence[int]) -> str:
    """Acc@k for every k."""
    return " ".join(f"{accuracy(ranks, k):5.1f}" for k in KS)


def mcnemar(ours: Sequence[int], theirs: Sequence[int], k: int) -> tuple[int, int, float]:
    """The exact McNemar test (1947) on Acc@k of the same tasks.

    Returns:
        How many tasks only we solve, how many only they solve, and the two-sided p-value.
    """
    pairs = [(our <= k, their <= k) for our, their in zip(ours, theirs, strict=True)]
    won = sum(our and not their for our, their in pairs)
    lost = sum(their and not our for our, their in pairs)
    count = won + lost
    if count == 0:
        return won, lost, 1.0
    tail = sum(comb(count, place) for place in range(min(won, lost) + 1)) / 2**count
    return won, lost, min(1.0, 2 * tail)
