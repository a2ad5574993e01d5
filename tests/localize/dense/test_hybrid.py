"""Stages: filter, fusion, rerank."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.fusion import reciprocal_rank_fusion
from codeforge.localize.dense.hybrid import HybridRetriever, Stages
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.rerank import Reranked
from codeforge.localize.dense.scorer import DenseScorer
from codeforge.localize.dense.store import VectorStore
from codeforge.localize.dense.vectors import TextVectors
from tests.localize.dense.hashing import HashingEncoder

WORDS = ("cart", "price", "discount", "item", "digit", "rate")
CANDIDATES = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=10
).map(lambda texts: [Passage(f"k{number}", text) for number, text in enumerate(texts)])


class ShortestFirst:
    """A reranker with a plain rule."""

    name = "shortest first"

    def rerank(self, query: str, candidates: Sequence[Passage]) -> Reranked:
        return Reranked(tuple(-float(len(passage.text)) for passage in candidates), "by length")


class Failing:
    """A reranker whose model is gone."""

    name = "the reranker"

    def rerank(self, query: str, candidates: Sequence[Passage]) -> Reranked:
        raise EnvironmentUnavailableError("The model is gone.")


def scorer() -> DenseScorer:
    return DenseScorer(TextVectors(HashingEncoder(), VectorStore(None)))


@settings(deadline=None)
@given(CANDIDATES, st.sampled_from(WORDS), st.integers(0, 12), st.integers(0, 12))
def test_every_candidate_comes_once(
    candidates: list[Passage], text: str, filtered: int, reranked: int
) -> None:
    stages = Stages(filtered=filtered, reranked=reranked)
    answer = HybridRetriever(scorer(), ShortestFirst(), stages).retrieve(text, [*candidates, candidates[0]])
    assert sorted(hit.key for hit in answer.hits) == sorted(passage.key for passage in candidates)
    assert [hit.key for hit in answer.hits[filtered:]] == [passage.key for passage in candidates[filtered:]]
    judged = [hit for hit in answer.hits if hit.rerank_score is not None]
    assert len(judged) == min(reranked, filtered, len(candidates))
    assert list(answer.hits[: len(judged)]) == judged
    assert all((hit.cosine is None) == (hit.cheap_rank > filtered) for hit in answer.hits)


@settings(deadline=None)
@given(CANDIDATES, st.sampled_from(WORDS))
def test_without_reranker_the_order_is_that_of_the_fusion(candidates: list[Passage], text: str) -> None:
    hits = HybridRetriever(scorer()).retrieve(text, candidates).hits
    dense = sorted(hits, key=lambda hit: (-(hit.cosine or 0), hit.cheap_rank))
    assert [hit.dense_rank for hit in dense] == list(range(1, len(hits) + 1))
    fused = reciprocal_rank_fusion([[p.key for p in candidates], [hit.key for hit in dense]])
    assert [hit.key for hit in hits] == [key for key, _ in fused]


def test_meaning_moves_a_candidate_up(tmp_path: Path) -> None:
    candidates = [Passage("a", "digit"), Passage("b", "rate rate"), Passage("c", "cart item")]
    with DenseScorer.open(tmp_path, HashingEncoder()) as opened:
        stages = Stages(dense_weight=3)
        keys = [
            hit.key for hit in HybridRetriever(opened, stages=stages).retrieve("cart item", candidates).hits
        ]
    assert keys[0] == "c"


def test_the_reranker_has_the_last_word_on_the_head() -> None:
    candidates = [Passage("long", "cart cart cart"), Passage("short", "cart"), Passage("rest", "c")]
    answer = HybridRetriever(scorer(), ShortestFirst(), Stages(reranked=2)).retrieve("cart", candidates)
    assert [hit.key for hit in answer.hits] == ["short", "long", "rest"]
    assert answer.notices == ("by length",)


def test_a_reranker_that_fails_leaves_the_fused_order() -> None:
    candidates = [Passage("a", "digit"), Passage("b", "cart")]
    wanted = HybridRetriever(scorer()).retrieve("cart", candidates)
    answer = HybridRetriever(scorer(), Failing()).retrieve("cart", candidates)
    assert answer.hits == wanted.hits
    assert answer.notices == ("the reranker did not rerank (The model is gone.); the fused order stands",)


def test_a_blank_text_leaves_the_cheap_order() -> None:
    candidates = [Passage("z", "digit"), Passage("a", "cart")]
    answer = HybridRetriever(scorer(), ShortestFirst()).retrieve(" ", candidates)
    assert [hit.key for hit in answer.hits] == ["z", "a"]
    assert HybridRetriever(scorer()).retrieve("x", []).hits == ()
