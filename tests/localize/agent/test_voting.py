"""Laws of the vote."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.agent.voting import vote

IDS = st.sampled_from("abcdefgh")
SAMPLES = st.lists(st.lists(IDS, max_size=8), max_size=6)
RANKED = st.lists(IDS, unique=True)


def test_the_sum_of_reciprocal_ranks() -> None:
    votes = vote([["a", "b"], ["b", "c"], ["b"]])
    assert [(item.id, item.score, item.ranks) for item in votes] == [
        ("b", Fraction(5, 2), (1, 1, 2)),
        ("a", Fraction(1), (1,)),
        ("c", Fraction(1, 2), (2,)),
    ]


def test_ties_go_by_the_rankers_order_then_by_id() -> None:
    samples = [["d"], ["c"], ["b"], ["a"]]
    assert [item.id for item in vote(samples, ["c", "x", "b"])] == ["c", "b", "a", "d"]


@given(SAMPLES, RANKED, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(samples, ranked, random) -> None:
    shuffled = list(samples)
    random.shuffle(shuffled)
    assert vote(shuffled, ranked) == vote(samples, ranked)


@given(st.lists(IDS, unique=True), st.integers(1, 7), RANKED)
def test_a_unanimous_order_stays(order, times, ranked) -> None:
    assert [item.id for item in vote([order] * times, ranked)] == order


@given(SAMPLES, RANKED)
def test_exactly_what_was_named_is_answered(samples, ranked) -> None:
    votes = vote(samples, ranked)
    ids = [item.id for item in votes]
    assert len(ids) == len(set(ids))
    assert set(ids) == {identity for sample in samples for identity in sample}
    assert all(0 < item.score <= len(samples) for item in votes)
    assert all(len(item.ranks) <= len(samples) for item in votes)


@given(SAMPLES, IDS, RANKED)
def test_one_more_sample_that_puts_an_id_first_never_lowers_it(samples, identity, ranked) -> None:
    def place(votes) -> int:
        ids = [item.id for item in votes]
        return ids.index(identity) if identity in ids else len(ids)

    assert place(vote([*samples, [identity]], ranked)) <= place(vote(samples, ranked))
