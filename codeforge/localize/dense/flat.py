"""Exact search by dot product over a matrix of vectors: FAISS where it is installed, else numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from codeforge.localize.dense.extras import optional

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.dense.encoder import Vectors


class FlatIndex(Protocol):
    """Searches the rows of a matrix."""

    @property
    def backend(self) -> str:
        """What searches: "faiss" or "numpy"."""
        ...

    def search(self, query: Vectors, limit: int) -> tuple[NDArray[np.int64], Vectors]:
        """The rows with the largest dot products, best first; of equal ones the lower row first.

        Args:
            query: shape (dimension,).
            limit: most rows.

        Returns:
            Row numbers and dot products, each of shape (min(limit, rows),).
        """
        ...


class NumpyFlat:
    """One matrix-vector product, then the largest of it."""

    backend = "numpy"

    def __init__(self, matrix: Vectors) -> None:
        self._matrix = matrix

    def search(self, query: Vectors, limit: int) -> tuple[NDArray[np.int64], Vectors]:
        """See `FlatIndex.search`."""
        import numpy as np

        scores = self._matrix @ query
        limit = min(limit, len(scores))
        if limit < 1:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        worst = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        chosen = np.flatnonzero(scores >= worst)
        return _ordered(chosen, scores[chosen], limit)


class FaissFlat:
    """FAISS' exact index (`IndexFlatIP`) on the CPU, of faiss-cpu or faiss-gpu.

    The vectors of a large repository are searched in milliseconds there: a graphics card would gain nothing.
    """

    backend = "faiss"

    def __init__(self, faiss: Any, matrix: Vectors) -> None:
        self._rows = len(matrix)
        self._index = faiss.IndexFlatIP(matrix.shape[1])
        self._index.add(matrix)

    def search(self, query: Vectors, limit: int) -> tuple[NDArray[np.int64], Vectors]:
        """See `FlatIndex.search`."""
        import numpy as np

        limit = min(limit, self._rows)
        if limit < 1:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        asked = np.ascontiguousarray(query[None, :], dtype=np.float32)
        fetch = min(self._rows, limit + 1)
        while True:
            scores, rows = self._index.search(asked, fetch)
            # FAISS takes any of the rows that are equal at the limit: fetch until all of them are here.
            if fetch == self._rows or scores[0, -1] < scores[0, limit - 1]:
                return _ordered(rows[0], scores[0], limit)
            fetch = min(self._rows, 4 * fetch)


def flat_index(matrix: Vectors) -> FlatIndex:
    """The best exact index that is installed.

    Args:
        matrix: float32, shape (rows, dimension).
    """
    faiss = optional("faiss")
    return NumpyFlat(matrix) if faiss is None else FaissFlat(faiss, matrix)


def _ordered(rows: NDArray[np.int64], scores: Vectors, limit: int) -> tuple[NDArray[np.int64], Vectors]:
    import numpy as np

    order = np.lexsort((rows, -scores))[:limit]
    return rows[order].astype(np.int64), scores[order]
