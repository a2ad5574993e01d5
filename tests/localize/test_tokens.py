"""Identifiers become words."""

from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.tokens import count_words, parts_of, spellings, stem


def test_identifiers_are_split() -> None:
    assert parts_of("parseHTTPHeader2") == ("pars", "http", "header", "2".strip("2") or "parsehttpheader2")
    assert parts_of("max_retry_count") == ("max", "retry", "count", "max_retry_count")


def test_forms_of_a_word_meet() -> None:
    assert len({stem(word) for word in ("cache", "caches", "cached", "caching")}) == 1
    assert len({stem(word) for word in ("stop", "stops", "stopped", "stopping")}) == 1
    assert stem("class") == "class" and stem("bus") == "bus" and stem("is") == "is"
    assert stem("queries") == stem("query")


def test_stop_words_and_data_are_left_out() -> None:
    assert count_words("the return of self") == {}
    assert count_words("a" * 100) == {}
    assert count_words("Cart cart add_cart")["cart"] == 3


@given(st.text(max_size=200))
def test_words_are_lower_case_and_counted(text: str) -> None:
    for word, count in count_words(text).items():
        assert word == word.lower() and word and count > 0


def test_words_can_be_spelled_as_they_were() -> None:
    assert spellings("Updating the cachedValues, updates") == {
        "updat": "updating",
        "the": "the",
        "cach": "cached",
        "valu": "values",
    }
