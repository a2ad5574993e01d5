"""The figures of the localization benchmark."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.localization.measure import NEVER, accuracy, deepest, mcnemar

RANKS = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), max_size=40)


def test_a_task_counts_when_all_its_gold_is_there() -> None:
    assert deepest(frozenset("bd"), "abcd") == 4
    assert deepest(frozenset("bz"), "abcd") == NEVER
    assert deepest(frozenset("a"), "aba") == 1
    assert accuracy([1, 4, NEVER], 3) == pytest.approx(100 / 3)


def test_the_exact_test_knows_small_tables() -> None:
    assert mcnemar([1] * 5, [9] * 5, 3) == (5, 0, 0.0625)
    assert mcnemar([1, 9], [9, 1], 3) == (1, 1, 1.0)
    assert mcnemar([1], [1], 3) == (0, 0, 1.0)


@given(RANKS, st.integers(1, 12))
def test_the_test_is_symmetric(pairs: list[tuple[int, int]], k: int) -> None:
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    won, lost, p = mcnemar(ours, theirs, k)
    assert mcnemar(theirs, ours, k) == (lost, won, p)
    assert 0 < p <= 1


def test_the_fit_finds_the_feature_that_tells() -> None:
    softmax = pytest.importorskip("benchmarks.localization.softmax", reason="needs scipy")
    rng = np.random.default_rng(3)
    groups = []
    for _ in range(60):
        values = rng.normal(size=(20, 3)).astype(np.float32)
        gold = np.zeros(20, np.bool_)
        gold[int((values[:, 1] * 2 - values[:, 2]).argmax())] = True
        groups.append(softmax.Group(values, gold, 1.0))
    noise, first, second = softmax.fit(groups, 0.001)
    assert first > 2 * abs(noise) and second < -2 * abs(noise)
