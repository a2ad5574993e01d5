"""Consistency voting over samples (Chen et al. 2025, arXiv 2503.09089, "confidence estimation based on
consistency"): what several runs name, and name early, is most likely right."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Vote:
    """What the samples say of one id.

    Attributes:
        id: the entity.
        score: the sum of the reciprocals of its ranks; exact, so that the order of samples can't matter.
        ranks: its ranks (from 1) in the samples that name it, ascending.
    """

    id: str
    score: Fraction
    ranks: tuple[int, ...]


def vote(samples: Sequence[Sequence[str]], ranked: Sequence[str] = ()) -> tuple[Vote, ...]:
    """The ids that any sample names, best first; ties go by their order in `ranked`, then by id.

    Args:
        samples: each an order of ids; an id counts where it stands first.
        ranked: the order to fall back on; its other ids are not votes.
    """
    ranks: dict[str, list[int]] = {}
    for sample in samples:
        for rank, identity in enumerate(dict.fromkeys(sample), 1):
            ranks.setdefault(identity, []).append(rank)
    place = {identity: number for number, identity in enumerate(dict.fromkeys(ranked))}
    votes = [
        Vote(identity, sum((Fraction(1, rank) for rank in found), Fraction()), tuple(sorted(found)))
        for identity, found in ranks.items()
    ]
    return tuple(sorted(votes, key=lambda item: (-item.score, place.get(item.id, len(place)), item.id)))
