"""Canonical JSON: one text a value, nothing lost, and hashes that tell any two values apart."""

import json
import random
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.archive.canonical import canonical, chain_hash, digest, to_jsonable

ANY_TEXT = st.text(st.characters(), max_size=20)  # lone surrogates and NUL included
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


def _shuffled(value: object, rng: random.Random) -> object:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: _shuffled(value[key], rng) for key in keys}
    return [_shuffled(item, rng) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_reading_back_gives_the_same_text_and_value(value: object) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text
    assert len(digest(text)) == 64


@given(JSON, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: object, rng: random.Random) -> None:
    assert canonical(_shuffled(value, rng)) == canonical(value)


@given(JSON, JSON)
def test_equal_hashes_mean_equal_values(one: object, other: object) -> None:
    if digest(canonical(one)) == digest(canonical(other)):
        assert one == other


@given(
    st.tuples(ANY_TEXT, st.integers(0, 99), ANY_TEXT, st.floats(0, 99), ANY_TEXT, ANY_TEXT),
    st.tuples(ANY_TEXT, st.integers(0, 99), ANY_TEXT, st.floats(0, 99), ANY_TEXT, ANY_TEXT),
)
def test_the_chain_hash_covers_every_part(
    one: tuple[str, int, str, float, str, str], other: tuple[str, int, str, float, str, str]
) -> None:
    assert (chain_hash(*one) == chain_hash(*other)) == (canonical(list(one)) == canonical(list(other)))


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: float
    tags: tuple[str, ...]


def test_what_engines_hand_over() -> None:
    value = {
        "point": Point(float("inf"), ("a",)),
        "colour": Colour.RED,
        "path": PurePosixPath("a/b"),
        "text": b"caf\xc3\xa9",
        "bytes": b"\xff",
        "set": {"b", "a"},
        3: None,
    }
    assert to_jsonable(value) == {
        "point": {"x": "inf", "tags": ["a"]},
        "colour": "red",
        "path": "a/b",
        "text": "café",
        "bytes": {"base64": "/w=="},
        "set": ["a", "b"],
        "3": None,
    }


@pytest.mark.parametrize("value", [object(), {"a": lambda: 0}, {1: "a", "1": "b"}])
def test_nothing_is_dropped_silently(value: object) -> None:
    with pytest.raises(TypeError):
        to_jsonable(value)
