"""Several rankings become one."""

from collections.abc import Sequence
from math import fsum, isfinite

K = 60
"""The constant of the paper: how little the difference between the first ranks counts."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], *, k: float = K, weights: Sequence[float] | None = None
) -> tuple[tuple[str, float], ...]:
    """Fuse rankings by reciprocal rank (Cormack, Clarke & Büttcher 2009, SIGIR, eq. 1).

    score(d) = Σ over rankings r of weight_r / (k + rank_r(d)), ranks from 1; a ranking without d adds
    nothing.
    Only ranks count, so scores of any scales can be fused.

    Args:
        rankings: keys, best first; of a key that stands twice the better rank counts.
        k: at least 0.
        weights: one for each ranking, none negative; all 1 when `None`.

    Returns:
        Every key with its score, best first; of equal scores, the key with the best single rank, then the
        lesser key. The order of the rankings makes no difference.

    Raises:
        ValueError: `k` or a weight is negative, or their number is not that of the rankings.
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    if len(weights) != len(rankings):
        raise ValueError(f"{len(rankings)} rankings, but {len(weights)} weights")
    if not all(isfinite(number) and number >= 0 for number in (k, *weights)):
        raise ValueError("k and the weights are numbers of at least 0")
    shares: dict[str, list[float]] = {}
    best: dict[str, int] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            shares.setdefault(key, []).append(weight / (k + rank))
            best[key] = min(rank, best.get(key, rank))
    # `fsum` is exact: the sum doesn't depend on the order of the rankings.
    scores = {key: fsum(parts) for key, parts in shares.items()}
    order = sorted(scores, key=lambda key: (-scores[key], best[key], key))
    return tuple((key, scores[key]) for key in order)
