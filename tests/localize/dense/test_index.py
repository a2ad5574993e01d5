"""The dense index and the scorer of candidates over a real store."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.encoder import TextRole
from codeforge.localize.dense.index import DenseIndex
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.scorer import DenseScorer
from codeforge.localize.dense.store import VectorStore
from codeforge.localize.dense.vectors import ENCODE_AT_ONCE, TextVectors
from tests.localize.dense.hashing import HashingEncoder

PASSAGES = [
    Passage("cart", "add an item to the cart"),
    Passage("price", "format a price with two digits"),
    Passage("discount", "lower a price by a discount"),
    Passage("copy", "add an item to the cart"),
]


def numbered(count: int) -> list[Passage]:
    return [Passage(f"k{number}", f"word{number} text") for number in range(count)]


def test_what_is_similar_is_found_first(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseIndex.open(tmp_path, encoder) as index:
        assert index.build(PASSAGES) == (3, 0, 0)
        assert len(index) == 4
        found = index.search("item cart", 3)
        assert [key for key, _ in found[:2]] == ["cart", "copy"]
        assert found[0][1] == found[1][1] > found[2][1]
        assert index.search(" \n", 3) == ()
        assert index.search("item", 0) == ()


def test_an_empty_index_finds_nothing(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseIndex.open(tmp_path, encoder) as index:
        assert index.search("item", 3) == ()
        index.build([])
        assert index.search("item", 3) == ()


def test_only_new_texts_are_encoded(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseIndex.open(tmp_path, encoder) as index:
        index.build(PASSAGES)
        index.build([*PASSAGES[1:], Passage("new", "quite new")])
        assert "cart" not in dict(index.search("item cart", 10))
    again = HashingEncoder()
    with DenseIndex.open(tmp_path, again) as index:
        assert index.build([*PASSAGES, Passage("new", "quite new")]) == (0, 4, 0)
    assert again.encoded == []
    assert sorted(encoder.encoded) == sorted({*(passage.text for passage in PASSAGES), "quite new"})


def test_a_change_of_the_model_keeps_both_sets(tmp_path: Path) -> None:
    for version, encoded in (("1", 3), ("2", 3), ("1", 0), ("2", 0)):
        with DenseIndex.open(tmp_path, HashingEncoder(version=version)) as index:
            assert index.build(PASSAGES).encoded == encoded


def test_a_budget_is_kept_and_the_chosen_come_first(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseIndex.open(tmp_path, encoder) as index:
        assert index.build(numbered(10), first=["k7", "unknown"], most_new=2) == (2, 0, 8)
        assert {key for key, _ in index.search("text", 10)} == {"k7", "k0"}
        assert index.build(numbered(10), most_new=0) == (0, 2, 8)


def test_what_was_encoded_before_an_interruption_is_kept(tmp_path: Path, encoder: HashingEncoder) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 2:
            raise KeyboardInterrupt

    count = 3 * ENCODE_AT_ONCE
    with DenseIndex.open(tmp_path, encoder) as index, pytest.raises(KeyboardInterrupt):
        index.build(numbered(count), progress=progress)
    assert told == [(ENCODE_AT_ONCE, count), (2 * ENCODE_AT_ONCE, count)]
    with DenseIndex.open(tmp_path, encoder) as index:
        assert index.build(numbered(count)) == (ENCODE_AT_ONCE, 2 * ENCODE_AT_ONCE, 0)


def test_unusable_vectors_are_refused_and_not_stored(tmp_path: Path) -> None:
    class Broken(HashingEncoder):
        def encode(self, texts, role=TextRole.DOCUMENT):  # type: ignore[no-untyped-def]
            rows = super().encode(texts, role)
            rows[-1] = math.nan
            return rows

    with (
        DenseScorer.open(tmp_path, Broken()) as scorer,
        pytest.raises(EnvironmentUnavailableError, match="usable"),
    ):
        scorer.score_candidates("cart", PASSAGES)
    with DenseIndex.open(tmp_path, HashingEncoder()) as index:
        assert index.build(PASSAGES).kept == 0


def test_candidates_are_scored_in_their_order(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseScorer.open(tmp_path, encoder) as scorer:
        scores = scorer.score_candidates("item cart", PASSAGES)
        assert scores.dtype == np.float32
        wanted = encoder.encode([passage.text for passage in PASSAGES]) @ encoder.encode(["item cart"])[0]
        assert scores == pytest.approx(wanted, abs=2e-3)  # vectors are kept as float16
        assert scores[0] == scores[3]


def test_candidates_seen_before_are_not_encoded_again(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseScorer.open(tmp_path, encoder) as scorer:
        first = scorer.score_candidates("item cart", PASSAGES)
    again = HashingEncoder()
    with DenseScorer.open(tmp_path, again) as scorer:
        told: list[tuple[int, int]] = []
        more = [*PASSAGES, Passage("new", "quite new")]
        scores = scorer.score_candidates("item cart", more, progress=lambda done, of: told.append((done, of)))
    assert again.encoded == ["quite new"]
    assert told == [(1, 1)]
    assert scores[:4].tolist() == first.tolist()


def test_a_blank_text_is_similar_to_nothing(tmp_path: Path, encoder: HashingEncoder) -> None:
    with DenseScorer.open(tmp_path, encoder) as scorer:
        assert scorer.score_candidates(" ", PASSAGES).tolist() == [0.0] * 4
        assert scorer.score_candidates("cart", []).shape == (0,)
    assert encoder.encoded == []


TEXTS = st.lists(st.text(alphabet="ab cd\ud800é", max_size=12), min_size=1, max_size=12)


@settings(deadline=None)
@given(TEXTS, st.text(alphabet="abcd", min_size=1, max_size=6))
def test_search_and_scores_agree(texts: list[str], query: str) -> None:
    passages = [Passage(str(number), text) for number, text in enumerate(texts)]
    vectors = TextVectors(HashingEncoder(), VectorStore(None))
    index = DenseIndex(vectors)
    index.build(passages)
    found = dict(index.search(query, len(texts)))
    scores = DenseScorer(vectors).score_candidates(query, passages)
    assert [found[passage.key] for passage in passages] == pytest.approx(scores.tolist(), abs=1e-5)
    assert list(found.values()) == sorted(found.values(), reverse=True)
