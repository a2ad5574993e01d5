"""BM25 over the nodes of the graph, and over whole files (Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond", eq. 3.15), by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, log1p
from typing import TYPE_CHECKING, Any

from codeforge.localize.graph.nodes import FILE
from codeforge.localize.postings import BODY, HEAD
from codeforge.localize.tokens import count_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.index import CodeIndex

    Floats = NDArray[np.float32]

K1, B = 1.5, 0.4
FILE_K1, FILE_B = 1.8, 0.4
HEAD_SHARE = 0.5
"""What the head adds to the body in one score."""


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """BM25 by node, float32, shape (nodes,).

    Attributes:
        head: of names, signatures and documentation.
        body: of the whole text of the entity.
        file: of the whole text of the node's file.
    """

    head: "Floats"
    body: "Floats"
    file: "Floats"

    def total(self) -> "Floats":
        """One score of each node."""
        return self.body + HEAD_SHARE * self.head


def query_words(text: str) -> dict[str, float]:
    """The words of a query with their weights."""
    return {word: log1p(count) for word, count in count_words(text).items()}


def score_nodes(index: "CodeIndex", query: Mapping[str, float]) -> LexicalScores:
    """Score every node for `query` (word → weight)."""
    import numpy as np

    rows = index.graph.rows
    count = len(rows)
    blocks = rows.block
    fields = (np.zeros(count, np.float32), np.zeros(count, np.float32))
    norms = [_norms(index.lengths[field], rows.alive, K1, B) for field in (HEAD, BODY)]
    documents = max(1, int(np.count_nonzero(rows.alive)))
    by_block = np.zeros(len(rows.paths), np.float32)
    block_lengths = np.bincount(blocks[rows.alive], index.lengths[BODY][rows.alive], len(rows.paths))
    block_norms = _norms(block_lengths, block_lengths > 0, FILE_K1, FILE_B)
    files = max(1, int(np.count_nonzero(block_lengths)))
    for word, weight in query.items():
        for field, found in enumerate(index.postings.find(word)):
            if not len(found.nodes):
                continue
            gain = weight * _idf(documents, len(found.nodes)) * (K1 + 1)
            fields[field][found.nodes] += gain * found.times / (found.times + norms[field][found.nodes])
            if field == BODY:
                times = np.bincount(blocks[found.nodes], found.times, len(rows.paths))
                holds = np.flatnonzero(times)
                gain = weight * _idf(files, len(holds)) * (FILE_K1 + 1)
                by_block[holds] += gain * times[holds] / (times[holds] + block_norms[holds])
    return LexicalScores(fields[HEAD], fields[BODY], by_block[blocks])


def shared_words(index: "CodeIndex", query: Mapping[str, float], node: int, limit: int = 4) -> list[str]:
    """The words of `query` that a node (for a file: anything in it) has, the most telling first."""
    import numpy as np

    rows = index.graph.rows
    block = index.graph.block(node) if rows.kind[node] == FILE else range(node, node + 1)
    documents = max(1, int(np.count_nonzero(rows.alive)))
    found: list[tuple[float, str]] = []
    for word, weight in query.items():
        nodes = index.postings.find(word)[BODY].nodes
        place = int(np.searchsorted(nodes, block.start))
        if place < len(nodes) and nodes[place] < block.stop:
            found.append((-weight * _idf(documents, len(nodes)), word))
    return [word for _, word in sorted(found)[:limit]]


def _idf(total: int, holding: int) -> float:
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def _norms(lengths: "NDArray[Any]", present: "NDArray[np.bool_]", k1: float, b: float) -> "Floats":
    """By document the term that grows with its length."""
    import numpy as np

    average = float(lengths[present].mean()) if present.any() else 1.0
    return np.asarray(k1 * (1 - b + b * lengths / max(average, 1.0)), dtype=np.float32)
