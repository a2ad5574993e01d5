"""Exact search: numpy against the definition, FAISS against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.dense.flat import FaissFlat, FlatIndex, NumpyFlat, flat_index

# Small whole numbers: dot products are exact in any order of summation, and many are equal.
NUMBERS = st.integers(-2, 2).map(float)
MATRIX = st.lists(st.lists(NUMBERS, min_size=4, max_size=4), min_size=1, max_size=12)
QUERY = st.lists(NUMBERS, min_size=4, max_size=4)


def expected(rows: list[list[float]], query: list[float], limit: int) -> list[tuple[int, float]]:
    scores = [sum(a * b for a, b in zip(row, query, strict=True)) for row in rows]
    order = sorted(range(len(rows)), key=lambda row: (-scores[row], row))
    return [(row, scores[row]) for row in order[:limit]]


def found(index: FlatIndex, query: list[float], limit: int) -> list[tuple[int, float]]:
    rows, scores = index.search(np.array(query, np.float32), limit)
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


@given(MATRIX, QUERY, st.integers(0, 15))
def test_numpy_finds_the_largest_and_the_lower_row_of_equals(rows, query, limit) -> None:  # type: ignore[no-untyped-def]
    index = NumpyFlat(np.array(rows, np.float32))
    assert found(index, query, limit) == expected(rows, query, limit)


@given(MATRIX, QUERY, st.integers(0, 15))
def test_faiss_finds_the_same(rows, query, limit) -> None:  # type: ignore[no-untyped-def]
    faiss = pytest.importorskip("faiss")
    index = FaissFlat(faiss, np.array(rows, np.float32))
    assert found(index, query, limit) == expected(rows, query, limit)


def test_the_best_backend_that_is_installed_is_taken() -> None:
    try:
        import faiss  # noqa: F401
    except ImportError:
        wanted = "numpy"
    else:
        wanted = "faiss"
    assert flat_index(np.eye(3, dtype=np.float32)).backend == wanted
