"""Laws of reciprocal-rank fusion."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.dense.fusion import K, reciprocal_rank_fusion

KEYS = st.sampled_from("abcdefgh")
RANKING = st.lists(KEYS, max_size=8, unique=True)
RANKINGS = st.lists(RANKING, max_size=5)


def test_the_formula_of_the_paper() -> None:
    fused = dict(reciprocal_rank_fusion([["a", "b"], ["b", "c"]]))
    assert fused["a"] == pytest.approx(1 / 61)
    assert fused["b"] == pytest.approx(1 / 62 + 1 / 61)
    assert fused["c"] == pytest.approx(1 / 62)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_rankings_makes_no_difference(rankings: list[list[str]], random) -> None:  # type: ignore[no-untyped-def]
    weights = [float(number % 3) for number in range(len(rankings))]
    pairs = list(zip(rankings, weights, strict=True))
    random.shuffle(pairs)
    shuffled = reciprocal_rank_fusion(
        [ranking for ranking, _ in pairs], weights=[weight for _, weight in pairs]
    )
    assert shuffled == reciprocal_rank_fusion(rankings, weights=weights)


@given(RANKINGS)
def test_every_key_comes_once_and_scores_fall(rankings: list[list[str]]) -> None:
    fused = reciprocal_rank_fusion(rankings)
    keys = [key for key, _ in fused]
    assert sorted(keys) == sorted({key for ranking in rankings for key in ranking})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)


@given(RANKINGS)
def test_scores_are_those_of_exact_arithmetic(rankings: list[list[str]]) -> None:
    for key, score in reciprocal_rank_fusion(rankings):
        exact = sum(Fraction(1, int(K) + ranking.index(key) + 1) for ranking in rankings if key in ranking)
        assert score == pytest.approx(float(exact), rel=1e-12)


@given(RANKINGS, RANKING.filter(lambda ranking: len(ranking) > 1), st.data())
def test_rising_in_one_ranking_never_lowers_a_key(rankings: list[list[str]], last: list[str], data) -> None:  # type: ignore[no-untyped-def]
    place = data.draw(st.integers(1, len(last) - 1))
    key = last[place]
    better = [*last[: place - 1], key, last[place - 1], *last[place + 1 :]]
    before = reciprocal_rank_fusion([*rankings, last])
    after = reciprocal_rank_fusion([*rankings, better])
    assert dict(after)[key] > dict(before)[key]
    assert [k for k, _ in after].index(key) <= [k for k, _ in before].index(key)


@given(RANKING, st.integers(1, 4))
def test_equal_rankings_keep_their_order(ranking: list[str], times: int) -> None:
    assert [key for key, _ in reciprocal_rank_fusion([ranking] * times)] == ranking


def test_of_a_repeated_key_the_better_rank_counts() -> None:
    assert reciprocal_rank_fusion([["a", "b", "a"]]) == reciprocal_rank_fusion([["a", "b"]])


@pytest.mark.parametrize("weights", [[1.0], [-1.0, 1.0], [float("nan"), 1.0]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError):
        reciprocal_rank_fusion([["a"], ["b"]], weights=weights)


def test_a_negative_constant_is_refused() -> None:
    with pytest.raises(ValueError):
        reciprocal_rank_fusion([["a"]], k=-1)
