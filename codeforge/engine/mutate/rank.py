"""The order in which mutations are tried: the promising first, and soon something of every kind."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heapreplace

from codeforge.engine.mutate.evidence import Weights
from codeforge.engine.mutate.model import Proposal

# After each pick, others of the same operator, and of the same operator on the same line, count less.
_SAME_OPERATOR = 0.12
_SAME_PLACE = 0.8
_SAME_LINE = 0.04


def scored(
    proposals: Sequence[tuple[Proposal, float]], weights: Weights, seed: int
) -> list[tuple[float, Proposal]]:
    """(score, proposal): suspicion times prior times the strongest evidence and the roots of the rest."""
    # Equal scores are common; the seed decides between them, and only between them.
    jitter = random.Random(seed)
    return [
        (suspicion * proposal.prior * _evidence(proposal, weights) * (1 + 0.01 * jitter.random()), proposal)
        for proposal, suspicion in proposals
    ]


def _evidence(proposal: Proposal, weights: Weights) -> float:
    factors = sorted((weights.get(tag, 1.0) for tag in proposal.tags), reverse=True)
    if not factors:
        return 1.0
    product = factors[0]
    for factor in factors[1:]:
        product *= factor**0.5
    return product


def interleaved(candidates: list[tuple[float, Proposal]]) -> Iterator[tuple[float, Proposal]]:
    """The best first, each time counting less what was just picked: diverse over lines and operators."""
    groups: dict[tuple[str, int], list[tuple[float, Proposal]]] = {}
    for item in sorted(candidates, key=lambda item: item[0]):
        groups.setdefault((item[1].operator, item[1].line), []).append(item)
    by_operator: Counter[str] = Counter()
    by_line: Counter[int] = Counter()
    by_place: Counter[tuple[str, int]] = Counter()

    def standing(place: tuple[str, int]) -> float:
        score: float = groups[place][-1][0]
        score /= 1 + _SAME_OPERATOR * by_operator[place[0]]
        score /= 1 + _SAME_LINE * by_line[place[1]]
        return score * _SAME_PLACE ** by_place[place]

    heap = [(-standing(place), number, place) for number, place in enumerate(groups)]
    heapify(heap)
    while heap:
        # Standings only fall, so a stale one is an upper bound: look again before it is believed.
        _, number, place = heap[0]
        value = standing(place)
        if -value > heap[0][0]:
            heapreplace(heap, (-value, number, place))
            continue
        _, proposal = groups[place].pop()
        by_operator[place[0]] += 1
        by_line[place[1]] += 1
        by_place[place] += 1
        if groups[place]:
            heapreplace(heap, (-standing(place), number, place))
        else:
            heappop(heap)
        yield value, proposal
