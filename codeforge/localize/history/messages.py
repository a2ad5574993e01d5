"""Past commits whose messages are like a text."""

import re
from collections import Counter
from math import fsum
from typing import TYPE_CHECKING

from codeforge.localize.tokens import count_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.history.timeline import Timeline

K1 = 1.2
B = 0.5

_LONGEST_MESSAGE = 20_000
"""Characters; longer messages are generated lists."""
_TRAILER = re.compile(r"^(?:[A-Z][\w-]*-by|Signed-off|Change-Id|Cc|git-svn-id):.*$", re.MULTILINE)


def words_of(message: str) -> Counter[str]:
    """The words of a commit's message, without the trailers that name people."""
    return count_words(_TRAILER.sub("", message[:_LONGEST_MESSAGE]))


def frequencies(timeline: "Timeline") -> "NDArray[np.int64]":
    """By number of a word, how many messages say it; shape (largest number + 1,)."""
    import numpy as np

    return np.bincount(timeline.words, minlength=1)


def similarity(timeline: "Timeline", text: str) -> "NDArray[np.float64]":
    """How well each commit's message answers `text`: BM25, as a share of the most that a message could get.

    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), eq. 3.15,
    with the inverse document frequency that is never negative.

    Returns:
        By commit a number from 0 to below 1, shape (commits,).
    """
    import numpy as np

    commits = len(timeline)
    query = {
        number: count
        for word, count in count_words(text).items()
        if (number := timeline.vocabulary.get(word)) is not None
    }
    if not query or not commits:
        return np.zeros(commits)
    table = np.zeros(max(int(timeline.words.max(initial=0)), *query) + 1)
    for number, count in query.items():
        table[number] = count / (1 + count)
    hits = np.flatnonzero(table[timeline.words])
    words, ages = timeline.words[hits], timeline.word_ages[hits]
    frequency = np.bincount(words, minlength=len(table))
    # Words that only other branches say weigh nothing: the answer doesn't depend on what else is stored.
    table *= np.log(1 + (commits - frequency + 0.5) / (frequency + 0.5)) * (frequency > 0)
    lengths = np.bincount(timeline.word_ages, weights=timeline.counts, minlength=commits)
    norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
    counts = timeline.counts[hits]
    parts = table[words] * counts / (counts + norm[ages])
    # Summed exactly: the order of the words' numbers depends on which commits were stored first.
    most = fsum(table[table > 0].tolist())
    return np.asarray(np.bincount(ages, weights=parts, minlength=commits) / (most or 1.0))
