"""What the history of the repository says: files changed of late, for reasons like the issue's, and
together."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from codeforge.localize.graph.nodes import last_part
from codeforge.localize.signals.board import Board

if TYPE_CHECKING:
    from codeforge.localize.history.history import History

RECENT, SIMILAR, TOGETHER = "recent", "similar_changes", "changed_together"
SIMILAR_FUNCTION = "similar_changes_here"
_DEFINED = re.compile(
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|impl)\s+(?:\([^)]*\)\s*)?(\w+)"
)
_LEADERS = 5
_COMPANIONS = 12


def weighed(board: Board, history: "History") -> Mapping[str, float]:
    """The words of the text, with less weight for what the messages of commits say all the time."""
    rarity = history.word_rarity(board.mentions.words)
    return {word: weight * rarity[word] ** 0.5 for word, weight in board.mentions.words.items()}


def score(board: Board, history: "History") -> None:
    """Columns by file node: recency, and votes of similar commits; each relative to the highest."""
    _fill(board, RECENT, history.recency(), "changed often of late")
    text = board.mentions.prose
    _fill(board, SIMILAR, history.files_of_similar(text, limit=60), "changed for similar reasons")


def score_companions(board: Board, history: "History", leaders: Sequence[tuple[int, float]]) -> None:
    """Files that changed together with the leading ones (file node, score in [0, 1])."""
    for node, strength in leaders[:_LEADERS]:
        path = board.graph.path(node)
        for other, share in history.cochanged(path, _COMPANIONS):
            companion = board.graph.files.get(other)
            if companion is not None:
                board.raise_to(TOGETHER, companion, share * strength, f"often changed with {path}")


def score_functions(board: Board, history: "History") -> None:
    """Functions and classes that commits for similar reasons changed, relative to the highest."""
    found = history.functions_of_similar(board.mentions.prose)
    top = max(found.values(), default=0.0)
    for (path, header), value in found.items():
        file, name = board.graph.files.get(path), _DEFINED.search(header)
        if file is None or name is None or board.is_test[file]:
            continue
        for node in board.graph.block(file)[1:]:
            if last_part(board.rows.names[node]) == name[1]:
                board.raise_to(SIMILAR_FUNCTION, node, value / top, "changed for similar reasons")


def _fill(board: Board, name: str, values: Mapping[str, float], detail: str) -> None:
    column = board.column(name)
    top = max(values.values(), default=0.0)
    for path, value in values.items():
        node = board.graph.files.get(path)
        if node is not None and not board.is_test[node] and top > 0:
            column[node] = value / top
            board.details[name, node] = detail
