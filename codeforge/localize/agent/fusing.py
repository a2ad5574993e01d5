"""The ranker's answer put together with what an agent says."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log

from codeforge.localize.agent.outcome import Named
from codeforge.localize.agent.voting import Vote
from codeforge.localize.model import Location, Reason
from codeforge.localize.ranker import LocateAnswer

AGENT = "agent"
"""The signal of an agent's reasons."""
_LEAST = 1e-9


def fuse_choice(answer: LocateAnswer, votes: Sequence[Vote], samples: int, trust: float) -> LocateAnswer:
    """The same locations and files, in an order between the ranker's and the chooser's.

    A location's score is its odds relative to the best one. Being chosen first by every sample multiplies
    them by e to the `trust`; second by the root of that; and so on with the mean reciprocal rank. A file is
    as good as its best location.

    Args:
        answer: the ranker's.
        votes: on ids of its locations.
        samples: how many samples the votes are of, at least 1.
        trust: how much the model is believed, in logits.
    """
    strengths = {item.id: float(item.score) / samples for item in votes}
    reasons = {item.id: Reason(AGENT, _said(item, samples), strengths[item.id]) for item in votes}
    of_files: dict[str, float] = {}
    why_files: dict[str, Reason] = {}
    for location in answer.locations:
        path, strength = location.entity.path, strengths.get(location.entity.id, 0.0)
        if strength > of_files.get(path, 0.0):
            of_files[path] = strength
            name = location.entity.qualname or path
            why_files[path] = Reason(AGENT, f"{name}: {reasons[location.entity.id].detail}", strength)
    return LocateAnswer(
        _reordered(answer.locations, strengths, reasons, trust),
        _reordered(answer.files, of_files, why_files, trust),
        answer.notices,
    )


def merge_named(
    answer: LocateAnswer, samples: Sequence[Sequence[Named]], votes: Sequence[Vote]
) -> LocateAnswer:
    """What the samples name by vote, then what the ranker has besides.

    A named location's score is its mean reciprocal rank over `samples`; the ranker's follow below the least
    of them.
    """
    found = {item.entity.id: item for sample in reversed(samples) for item in reversed(sample)}
    known = {location.entity.id: location.reasons for location in answer.locations}
    count = max(1, len(samples))
    named = [
        Location(
            found[item.id].entity,
            float(item.score) / count,
            (
                Reason(AGENT, f"{_said(item, count)}: {found[item.id].reason}", float(item.score) / count),
                *known.get(item.id, ()),
            ),
        )
        for item in votes
    ]
    files: dict[str, Location] = {}
    for location in named:
        file = found[location.entity.id].file
        files.setdefault(file.path, Location(file, location.score, location.reasons[:1]))
    return LocateAnswer(
        _followed(named, answer.locations), _followed(files.values(), answer.files), answer.notices
    )


def cut(answer: LocateAnswer, limit: int) -> LocateAnswer:
    """The best `limit` locations and files."""
    return LocateAnswer(answer.locations[:limit], answer.files[:limit], answer.notices)


def _reordered(
    ranked: Sequence[Location], strengths: Mapping[str, float], reasons: Mapping[str, Reason], trust: float
) -> tuple[Location, ...]:
    logits = [
        log(max(location.score, _LEAST)) + trust * strengths.get(location.entity.id, 0.0)
        for location in ranked
    ]
    best = max(logits, default=0.0)
    fused = [
        Location(location.entity, exp(logit - best), (*_own(reasons, location), *location.reasons))
        for location, logit in zip(ranked, logits, strict=True)
    ]
    return tuple(sorted(fused, key=lambda location: -location.score))


def _own(reasons: Mapping[str, Reason], location: Location) -> tuple[Reason, ...]:
    reason = reasons.get(location.entity.id)
    return (reason,) if reason is not None else ()


def _followed(named: Iterable[Location], ranked: Sequence[Location]) -> tuple[Location, ...]:
    first = tuple(named)
    ids = {location.entity.id for location in first}
    least = min((location.score for location in first), default=1.0)
    rest = (location for location in ranked if location.entity.id not in ids)
    return (*first, *(Location(item.entity, least * item.score, item.reasons) for item in rest))


def _said(item: Vote, samples: int) -> str:
    ranks = ", ".join(f"#{rank}" for rank in item.ranks)
    return f"named {ranks}" if samples == 1 else f"named {ranks} by {len(item.ranks)} of {samples} samples"
