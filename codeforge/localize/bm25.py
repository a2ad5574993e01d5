"""Okapi BM25 over the documents of the index (Robertson and Zaragoza 2009, "The Probabilistic Relevance
Framework: BM25 and Beyond")."""

from collections import defaultdict
from collections.abc import Mapping
from math import log

from codeforge.localize.index import CodeIndex

K1 = 1.2
B = 0.6
MOST_HITS = 150_000
"""The commonest words of a long query are left out once the rarer ones brought so many hits: they cost
most and decide least."""

Key = tuple[int, int]
"""(content id, ordinal)."""


def scores(index: CodeIndex, query: Mapping[str, float]) -> dict[Key, float]:
    """The score of every document that holds a word of `query` (word → weight)."""
    total = index.snapshot.documents
    lists = []
    for word, weight in query.items():
        found = index.postings(word)
        frequency = sum(len(hits) for _, hits in found) // 2
        if frequency:
            lists.append((frequency, word, weight, found))
    lists.sort(key=lambda item: item[:2])
    lengths = index.lengths({content for _, _, _, found in lists for content, _ in found})
    average = index.snapshot.average_length
    result: dict[Key, float] = defaultdict(float)
    used = 0
    for frequency, _, weight, found in lists:
        used += frequency
        if used > MOST_HITS and result:
            break
        gain = weight * log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        for content, hits in found:
            of_content = lengths[content]
            for place in range(0, len(hits), 2):
                ordinal, count = hits[place], hits[place + 1]
                norm = K1 * (1 - B + B * of_content[ordinal] / average)
                result[content, ordinal] += gain * count * (K1 + 1) / (count + norm)
    return result
