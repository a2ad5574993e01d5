"""Words that the issue shares with an entity, and with the path of its file."""

from collections import Counter
from heapq import nsmallest
from math import log

from codeforge.localize import bm25
from codeforge.localize.mentions import Mentions
from codeforge.localize.scoreboard import Scoreboard

WORDS = 2.0
PATH_WORDS = 0.3
CANDIDATES = 100
_SHOWN = 4


def score(board: Scoreboard, mentions: Mentions) -> None:
    """The best documents by BM25, relative to the best one; then the words of paths."""
    found = bm25.scores(board.index, mentions.words)
    if not found:
        return
    ranked = nsmallest(CANDIDATES, found.items(), key=lambda item: (-item[1], item[0]))
    top = ranked[0][1] or 1.0
    board.load({content for (content, _), _ in ranked})
    path_shares = _path_shares(board, mentions)
    for (content, ordinal), value in ranked:
        for path in board.index.snapshot.paths_of[content]:
            board.add((path, ordinal), "lexical", "words of the issue", WORDS * value / top)
            if path in path_shares:
                share, words = path_shares[path]
                board.add((path, ordinal), "lexical", f"path has {words}", PATH_WORDS * share)


def _path_shares(board: Scoreboard, mentions: Mentions) -> dict[str, tuple[float, str]]:
    """By path, how much of the issue its words hold, relative to the best path; and those words."""
    words_of = {
        path: mentions.words.keys() & words.split() for path, words in board.index.snapshot.words_of.items()
    }
    frequency = Counter(word for words in words_of.values() for word in words)
    total = len(words_of)
    gain = {word: log(1 + total / count) * mentions.words[word] for word, count in frequency.items()}
    shares = {path: sum(gain[word] for word in words) for path, words in words_of.items() if words}
    top = max(shares.values(), default=0.0)
    return {
        path: (share / top, ", ".join(sorted(words_of[path])[:_SHOWN]))
        for path, share in shares.items()
        if top
    }
