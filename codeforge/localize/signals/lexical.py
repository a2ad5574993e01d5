"""Words that the issue shares with an entity, with its file, and with its name."""

from typing import TYPE_CHECKING

from codeforge.localize.graph.nodes import last_part
from codeforge.localize.lexical import score_nodes
from codeforge.localize.signals.board import Board, relative
from codeforge.localize.tokens import parts_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

HEAD, BODY, FILE, NAME, COVERED = "head", "body", "file", "name", "covered"
CANDIDATES = 400
"""Entities whose names are compared with the text: those that score best by their words."""


def score(board: Board) -> None:
    """BM25 of head and body by entity and of the whole file, each relative to the best outside of tests; how
    much of an entity's name the text holds."""
    found = score_nodes(board.index, board.words)
    own = ~board.is_test & ~board.is_directory
    for name, values in ((HEAD, found.head), (BODY, found.body), (FILE, found.file)):
        top = float(values[own].max(initial=0.0))
        board.nodes[name] = values / top if top > 0 else values
    board.nodes[COVERED] = relative(found.head + found.body)
    _score_names(board)


def _score_names(board: Board) -> None:
    import numpy as np

    column = board.column(NAME)
    rows = board.rows
    promising = (board.nodes[HEAD] + board.nodes[BODY]) * (board.is_entity & ~board.is_test)
    order = np.argpartition(-promising, min(CANDIDATES, len(promising) - 1)) if len(promising) else promising
    best: list[int] = order[:CANDIDATES].tolist()
    wanted = board.mentions.words
    for node in best:
        words = set(parts_of(last_part(rows.names[node]))) if promising[node] > 0 else set()
        if len(words) > 1:
            words = {word for word in words if "_" not in word}
        hit = words & wanted.keys()
        if hit:
            # Two of two words say more than one of one.
            column[node] = len(hit) / (len(words) + 0.5)
            board.details[NAME, node] = f"name has {board.mentions.spelled(sorted(hit)[:3])}"
