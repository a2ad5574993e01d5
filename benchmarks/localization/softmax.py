"""A linear ranker: softmax over the rows of each task (Cao et al. 2007, "Learning to Rank: From Pairwise
Approach to Listwise Approach", ListNet with the gold as target)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one task.

    Attributes:
        values: float, shape (rows, features).
        gold: bool, shape (rows,); at least one is set.
        weight: how much the task counts.
    """

    values: NDArray[np.float32]
    gold: NDArray[np.bool_]
    weight: float


def fit(groups: Sequence[Group], l2: float) -> Floats:
    """The weights of least cross entropy between the softmax of the scores and the gold (shared equally).

    Args:
        groups: the tasks.
        l2: strength of the penalty on the squared weights of standardised features.

    Returns:
        Weights of the features as they are, shape (features,).
    """
    values = np.concatenate([group.values for group in groups]).astype(np.float64)
    deviation = values.std(axis=0) + 1e-9
    values /= deviation
    total = sum(group.weight for group in groups)
    sizes = np.array([len(group.gold) for group in groups])
    share = np.repeat([group.weight / total for group in groups], sizes)
    target = share * np.concatenate([group.gold / group.gold.sum() for group in groups])
    starts = np.cumsum(sizes) - sizes

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = values @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        odds = np.exp(scores)
        sums = np.repeat(np.add.reduceat(odds, starts), sizes)
        value = -(target * (scores - np.log(sums))).sum() + l2 * (weights @ weights)
        return float(value), values.T @ (share * odds / sums - target) + 2 * l2 * weights

    found = minimize(loss, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x / deviation)
