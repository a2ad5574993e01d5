"""Okapi BM25 over the documents of the index (Robertson and Zaragoza 2009, "The Probabilistic Relevance
Framework: BM25 and Beyond")."""

from collections import defaultdict
from collections.abc import Mapping
from math import log

from codeforge.localize.content import PAIR_BYTES, unpack
from codeforge.localize.index import CodeIndex

K1 = 2.0
B = 0.4
MOST_HITS = 60_000
"""The commonest words of a long query are left out once the rarer ones brought so many hits: they cost
most and decide least."""

Key = tuple[int, int]
"""(content id, ordinal)."""

_List = tuple[int, str, float, list[tuple[int, bytes]]]
"""(document frequency, word, weight, postings)."""


def scores(index: CodeIndex, query: Mapping[str, float]) -> dict[Key, float]:
    """The score of every document that holds a word of `query` (word → weight)."""
    total = index.snapshot.documents
    lists: list[_List] = []
    for word, weight in query.items():
        found = index.postings(word)
        frequency = sum(len(hits) for _, hits in found) // PAIR_BYTES
        if frequency:
            lists.append((frequency, word, weight, found))
    lists = _cheapest(lists)
    lengths = index.lengths({content for _, _, _, found in lists for content, _ in found})
    average = index.snapshot.average_length
    result: dict[Key, float] = defaultdict(float)
    norms_of: dict[int, list[float]] = {}
    for frequency, _, weight, found in lists:
        gain = weight * log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        gain *= K1 + 1
        for content, packed in found:
            hits = unpack(packed)
            norms = norms_of.get(content)
            if norms is None:
                norms = norms_of[content] = [K1 * (1 - B + B * n / average) for n in lengths[content]]
            for ordinal, count in zip(hits[::2], hits[1::2], strict=True):
                result[content, ordinal] += gain * count / (count + norms[ordinal])
    return result


def _cheapest(lists: list[_List]) -> list[_List]:
    """The rarest words first, as many as `MOST_HITS` allows, and never none."""
    lists.sort(key=lambda item: item[:2])
    used = 0
    for place, (frequency, *_) in enumerate(lists):
        used += frequency
        if used > MOST_HITS and place:
            return lists[:place]
    return lists
