"""From what the signals wrote to one row of numbers for each file and each entity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codeforge.localize.graph.nodes import CLASS, DIRECTORY, FILE, last_part
from codeforge.localize.signals import (
    changes,
    failing,
    lexical,
    meaning,
    paths,
    proximity,
    symbols,
    traceback,
)
from codeforge.localize.signals.board import Board, relative

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.history.history import History

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int32]

_STRENGTH = {lexical.BODY: 0.5, lexical.HEAD: 0.3, lexical.NAME: 0.4, symbols.SYMBOL: 1.0, symbols.PROSE: 0.3}
_OF_BOTH = (
    lexical.BODY,
    lexical.HEAD,
    lexical.NAME,
    lexical.COVERED,
    symbols.SYMBOL,
    symbols.EXACT,
    symbols.PROSE,
    symbols.NAMED,
    traceback.TRACEBACK,
    traceback.FAILING,
    failing.CALLED,
    failing.IMPORTED,
    proximity.RANK,
    proximity.CALLEES,
    proximity.CALLERS,
    proximity.TESTED,
    proximity.SUBCLASSES,
)
"""Columns of entities; a file has the largest of its entities."""
OF_FILE = (
    lexical.FILE,
    paths.PATH,
    paths.PATH_WORDS,
    paths.NAME_WORDS,
    changes.RECENT,
    changes.SIMILAR,
    changes.TOGETHER,
)
"""Columns of the file itself."""
BEST = "best_"
TOP_BODIES = "top_bodies"
BEST_MEANING = f"{BEST}{meaning.MEANING}"
FILE_FEATURES = (*OF_FILE, *(f"{BEST}{name}" for name in _OF_BOTH), TOP_BODIES, BEST_MEANING)
OF_ENTITY = (*_OF_BOTH, symbols.OWNER, changes.SIMILAR_FUNCTION)
FILE_SCORE, FILE_PLACE = "file_score", "file_place"
ENTITY_FEATURES = (
    *OF_ENTITY,
    FILE_SCORE,
    FILE_PLACE,
    "first_in_file",
    "class_body",
    "class_head",
    "lines",
    "is_special",
    "is_private",
    "is_inner",
    meaning.MEANING,
)
_FILES_SEARCHED = 100
"""Entities of so many files are looked at, …"""
_ENTITIES_SEARCHED = 300
"""… and so many of the best others."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of features.

    Attributes:
        nodes: the node of each row, int32, shape (rows,).
        names: of the columns.
        values: float32, shape (rows, columns).
    """

    nodes: "Ints"
    names: Sequence[str]
    values: "Floats"

    def scored(self, weights: Mapping[str, float]) -> "Floats":
        """The sum of each row's values times their weights; float32, shape (rows,)."""
        import numpy as np

        vector = np.array([weights.get(name, 0.0) for name in self.names], np.float32)
        return np.asarray(self.values @ vector, dtype=np.float32)

    def kept(self, mask: "NDArray[np.bool_]") -> "Table":
        """The rows where `mask` is set."""
        return Table(self.nodes[mask], self.names, self.values[mask])


def write_signals(board: Board, history: "History | None") -> None:
    """Let every signal write on the board."""
    if history is not None:
        board.words = changes.weighed(board, history)
    traceback.score(board)
    symbols.score(board)
    paths.score(board)
    failing.score(board)
    lexical.score(board)
    strength = _strength(board)
    proximity.score(board, strength)
    if history is not None:
        changes.score(board, history)
        changes.score_functions(board, history)
        changes.score_companions(board, history, _leaders(board, strength))


def _strength(board: Board) -> "Floats":
    """How strongly a node is hit before the graph is asked; tests count too, for what they test."""
    import numpy as np

    total = np.zeros(len(board.rows), np.float32)
    for name, weight in _STRENGTH.items():
        total += weight * board.column(name)
    for name in (traceback.TRACEBACK, traceback.FAILING, failing.CALLED):
        total += board.column(name)
    total[~board.is_entity] *= 0.3
    return total


def _leaders(board: Board, strength: "Floats") -> list[tuple[int, float]]:
    """The files that look best so far: (node, score relative to the best)."""
    import numpy as np

    own = np.where(board.is_test, 0, strength).astype(np.float32)
    best = _largest(board, own) + board.column(lexical.FILE)[board.rows.first]
    best += board.column(paths.PATH)[board.rows.first]
    shares = relative(np.asarray(best, dtype=np.float32))
    order = np.argsort(-shares, kind="stable")[:8].tolist()
    return [(int(board.rows.first[block]), float(shares[block])) for block in order]


def _largest(board: Board, column: "Floats") -> "Floats":
    """By block, the largest value of its nodes."""
    import numpy as np

    found = np.zeros(len(board.rows.paths), np.float32)
    np.maximum.at(found, board.rows.block, column)
    return found


def file_table(board: Board) -> Table:
    """A row for each file."""
    files = board.files
    blocks = board.rows.block[files]
    columns = {name: board.column(name)[files] for name in OF_FILE}
    columns.update({f"{BEST}{name}": _largest(board, board.column(name))[blocks] for name in _OF_BOTH})
    columns[BEST_MEANING] = _largest(board, board.column(meaning.MEANING))[blocks]
    columns[TOP_BODIES] = _top_bodies(board)[blocks]
    return _table(files, FILE_FEATURES, columns)


def entity_table(board: Board, files: Table, file_scores: "Floats") -> Table:
    """A row for each promising class and function, and for each promising file: its code outside of them.

    Args:
        files, file_scores: the rows of `file_table`, scored.
    """
    import numpy as np

    rows = board.rows
    by_block, place = _standing(board, files, file_scores)
    nodes = _promising(board, by_block)
    columns: dict[str, NDArray[Any]] = {name: board.column(name)[nodes] for name in OF_ENTITY}
    columns[meaning.MEANING] = board.column(meaning.MEANING)[nodes]
    columns[FILE_SCORE] = by_block[rows.block[nodes]]
    columns[FILE_PLACE] = place[rows.block[nodes]]
    strength = board.column(lexical.BODY) + board.column(lexical.HEAD) + board.column(lexical.NAME)
    functions = np.where(rows.kind > CLASS, strength, 0).astype(np.float32)
    best = _largest(board, functions)[rows.block[nodes]]
    columns["first_in_file"] = np.divide(
        strength[nodes], best, out=np.zeros(len(nodes), np.float32), where=best > 0
    )
    parents = rows.parent[nodes]
    in_class = rows.kind[parents] == CLASS
    for name, column in (("class_body", lexical.BODY), ("class_head", lexical.HEAD)):
        columns[name] = np.where(in_class, board.column(column)[parents], 0)
    is_code = rows.kind[nodes] > FILE
    columns["lines"] = np.log1p(np.where(is_code, rows.end[nodes] - rows.start[nodes], 0)) / 5
    names = [last_part(rows.names[node]) for node in nodes.tolist()]
    special = np.array([name.startswith("__") for name in names], np.bool_)
    columns["is_special"] = special & is_code
    columns["is_private"] = np.array([name.startswith("_") for name in names], np.bool_) & ~special & is_code
    columns["is_inner"] = rows.kind[parents] > CLASS
    return _table(nodes, ENTITY_FEATURES, columns)


def _standing(board: Board, files: Table, scores: "Floats") -> "tuple[Floats, Floats]":
    """By block: the file's score less the best one, and 1 / its place."""
    import numpy as np

    rows = board.rows
    by_block = np.full(len(rows.paths), -20, np.float32)
    by_block[rows.block[files.nodes]] = np.maximum(scores - scores.max(initial=-20), -20)
    place = np.zeros(len(rows.paths), np.float32)
    order = np.argsort(-scores, kind="stable")
    place[rows.block[files.nodes[order]]] = 1 / (1 + np.arange(len(order)))
    return by_block, place


def _promising(board: Board, by_block: "Floats") -> "Ints":
    """The nodes worth a row, in ascending order: those of the best files, and the best of all others."""
    import numpy as np

    rows = board.rows
    alive = rows.alive & (rows.kind != DIRECTORY)
    best = np.sort(by_block)[-_FILES_SEARCHED:][:1]
    chosen = alive & (by_block >= best.max(initial=-20))[rows.block]
    strength = _strength(board) * alive
    if len(strength) > _ENTITIES_SEARCHED:
        least = max(float(np.partition(strength, -_ENTITIES_SEARCHED)[-_ENTITIES_SEARCHED]), 1e-6)
        chosen |= strength >= least
    else:
        chosen |= alive
    return np.flatnonzero(chosen).astype(np.int32)


def _top_bodies(board: Board) -> "Floats":
    """By block, the mean of the three largest body scores of its entities."""
    import numpy as np

    body = np.where(board.is_entity, board.column(lexical.BODY), 0)
    hit = np.flatnonzero(body > 0)
    order = hit[np.lexsort((-body[hit], board.rows.block[hit]))]
    blocks = board.rows.block[order]
    starts = np.flatnonzero(np.concatenate(([True], blocks[1:] != blocks[:-1]))) if len(order) else order
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    found = np.zeros(len(board.rows.paths), np.float64)
    kept = rank < 3
    np.add.at(found, blocks[kept], body[order[kept]] / 3)
    return np.asarray(found, dtype=np.float32)


def _table(nodes: "Ints", names: Sequence[str], columns: "Mapping[str, NDArray[np.generic]]") -> Table:
    import numpy as np

    values = np.empty((len(nodes), len(names)), np.float32)
    for place, name in enumerate(names):
        values[:, place] = columns[name]
    return Table(nodes, names, values)
