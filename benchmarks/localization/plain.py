"""The plain rows of the table: BM25 alone, with the textbook's constants."""

from collections import Counter
from math import log

import numpy as np
from numpy.typing import NDArray

from codeforge.localize.graph.nodes import FILE, FUNCTION
from codeforge.localize.index import CodeIndex
from codeforge.localize.parsers.base import language_of
from codeforge.localize.postings import BODY
from codeforge.localize.roles import FileRole
from codeforge.localize.tokens import count_words

K1, B = 1.2, 0.75
Floats = NDArray[np.float64]


def function_ranking(index: CodeIndex, text: str) -> tuple[list[str], list[str]]:
    """BM25 over functions (identifiers split, stemmed, no stop words): the files of the functions in their
    order, and the functions."""
    rows, graph = index.graph.rows, index.graph
    searched = (rows.kind == FUNCTION) & rows.alive & ~_tests(index)
    lengths = index.lengths[BODY].astype(np.float64)
    scores = _scores(index, count_words(text), searched, lengths, np.arange(len(rows)))
    order = [node for node in np.argsort(-scores, kind="stable").tolist() if scores[node] > 0]
    files = dict.fromkeys(graph.path(node) for node in order)
    return list(files), [graph.entity(node).id for node in order[:100]]


def file_ranking(index: CodeIndex, text: str) -> list[str]:
    """BM25 over whole files of source."""
    rows = index.graph.rows
    parsed = np.array([language_of(path) is not None for path in rows.paths], np.bool_)
    searched = (rows.kind >= FILE) & rows.alive & ~_tests(index) & parsed[rows.block]
    counted = np.bincount(rows.block[searched], index.lengths[BODY][searched], len(rows.paths))
    lengths = np.asarray(counted, dtype=np.float64)
    scores = _scores(index, count_words(text), searched, lengths, rows.block)
    return [rows.paths[block] for block in np.argsort(-scores, kind="stable").tolist() if scores[block] > 0]


def _scores(
    index: CodeIndex,
    query: Counter[str],
    searched: NDArray[np.bool_],
    lengths: Floats,
    document_of: NDArray[np.generic],
) -> Floats:
    """BM25 by document; `document_of` says by node which one it is part of."""
    present = np.zeros(len(lengths), np.bool_)
    present[document_of[searched]] = True
    norm = K1 * (1 - B + B * lengths / max(float(lengths[present].mean()), 1.0))
    count = int(present.sum())
    scores = np.zeros(len(lengths))
    for word, times in query.items():
        found = index.postings.find(word)[BODY]
        kept = searched[found.nodes]
        frequency = np.bincount(document_of[found.nodes[kept]], found.times[kept], len(lengths))
        holds = int(np.count_nonzero(frequency))
        if holds:
            idf = log(1 + (count - holds + 0.5) / (holds + 0.5))
            scores += times * idf * frequency * (K1 + 1) / (frequency + norm)
    return scores


def _tests(index: CodeIndex) -> NDArray[np.bool_]:
    graph = index.graph
    return np.array([graph.role(node) is FileRole.TEST for node in range(len(graph))], np.bool_)
