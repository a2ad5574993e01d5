"""From what the signals wrote to one row of numbers for each file and each entity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.graph.nodes import CLASS, FILE, ROLES, last_part
from codeforge.localize.parsers.base import language_of
from codeforge.localize.roles import FileRole
from codeforge.localize.signals import changes, failing, lexical, paths, proximity, symbols, traceback
from codeforge.localize.signals.board import Board, relative

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.history.history import History

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int32]

_STRENGTH = {lexical.BODY: 0.5, lexical.HEAD: 0.3, lexical.NAME: 0.4, symbols.SYMBOL: 1.0, symbols.PROSE: 0.3}
_BY_FILE = (
    lexical.BODY,
    lexical.HEAD,
    lexical.NAME,
    lexical.COVERED,
    symbols.SYMBOL,
    symbols.EXACT,
    symbols.PROSE,
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
"""Columns of entities of which a file has the largest."""
_OF_FILE = (
    lexical.FILE,
    paths.PATH,
    paths.PATH_WORDS,
    paths.NAME_WORDS,
    changes.RECENT,
    changes.SIMILAR,
    changes.TOGETHER,
)
"""Columns of the file itself."""
FILE_FEATURES = (
    *_OF_FILE,
    *(f"best_{name}" for name in _BY_FILE),
    "top_bodies",
    "mass",
    "lines",
    "entities",
    "used",
    "is_package",
    "is_example",
    "is_private",
)
_OF_ENTITY = (
    lexical.BODY,
    lexical.HEAD,
    lexical.NAME,
    lexical.COVERED,
    symbols.SYMBOL,
    symbols.EXACT,
    symbols.PROSE,
    symbols.OWNER,
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
ENTITY_FEATURES = (
    *_OF_ENTITY,
    "file_score",
    "file_place",
    "first_in_file",
    "class_body",
    "class_head",
    "lines",
    "is_special",
    "is_private",
    "is_inner",
    "used",
    "siblings",
)


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


def write_signals(board: Board, history: "History | None") -> None:
    """Let every signal write on the board."""
    traceback.score(board)
    symbols.score(board)
    paths.score(board)
    failing.score(board)
    lexical.score(board)
    strength = _strength(board)
    proximity.score(board, strength)
    if history is not None:
        changes.score(board, history)
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
    """A row for each file that is not a test (all files, when all are tests)."""
    import numpy as np

    rows = board.rows
    files = board.files
    blocks = rows.block[files]
    columns = {name: board.column(name)[files] for name in _OF_FILE}
    columns.update({f"best_{name}": _largest(board, board.column(name))[blocks] for name in _BY_FILE})
    columns["top_bodies"] = _top_bodies(board)[blocks]
    counts = np.bincount(rows.block[board.is_entity], minlength=len(rows.paths))
    strong = np.where(board.is_entity, board.column(lexical.BODY), 0) ** 4
    columns["mass"] = np.log1p(np.bincount(rows.block, strong, len(rows.paths)))[blocks]
    columns["lines"] = np.log1p(rows.end[files]) / 10
    columns["entities"] = np.log1p(counts)[blocks] / 10
    columns["used"] = np.log1p(_used(board))[files] / 10
    names = [rows.paths[block].rpartition("/")[2] for block in blocks.tolist()]
    columns["is_package"] = np.array([name == "__init__.py" for name in names])
    columns["is_private"] = np.array([name.startswith("_") and not name.startswith("__") for name in names])
    columns["is_example"] = rows.role[files] == ROLES.index(FileRole.EXAMPLE)
    return _table(files, FILE_FEATURES, columns)


def entity_table(board: Board, files: Table, file_scores: "Floats") -> Table:
    """A row for each class and function.

    Args:
        files, file_scores: the rows of `file_table`, scored.
    """
    import numpy as np

    rows = board.rows
    nodes = np.flatnonzero(board.is_entity).astype(np.int32)
    columns = {name: board.column(name)[nodes] for name in _OF_ENTITY}
    by_block = np.full(len(rows.paths), -20, np.float32)
    by_block[rows.block[files.nodes]] = file_scores - file_scores.max(initial=0)
    place = np.zeros(len(rows.paths), np.float32)
    order = np.argsort(-file_scores, kind="stable")
    place[rows.block[files.nodes[order]]] = 1 / (1 + np.arange(len(order)))
    columns["file_score"] = by_block[rows.block[nodes]]
    columns["file_place"] = place[rows.block[nodes]]
    strength = board.column(lexical.BODY) + board.column(lexical.HEAD) + board.column(lexical.NAME)
    functions = np.where(rows.kind > CLASS, strength, 0).astype(np.float32)
    best = _largest(board, functions)[rows.block[nodes]]
    columns["first_in_file"] = np.divide(strength[nodes], best, out=np.zeros(len(nodes), np.float32), where=best > 0)
    parents = rows.parent[nodes]
    in_class = rows.kind[parents] == CLASS
    for name, column in (("class_body", lexical.BODY), ("class_head", lexical.HEAD)):
        columns[name] = np.where(in_class, board.column(column)[parents], 0)
    columns["lines"] = np.log1p(rows.end[nodes] - rows.start[nodes]) / 5
    names = [last_part(rows.names[node]) for node in nodes.tolist()]
    columns["is_special"] = np.array([name.startswith("__") for name in names], dtype=np.bool_)
    columns["is_private"] = np.array([name.startswith("_") and not name.startswith("__") for name in names], np.bool_)
    columns["is_inner"] = rows.kind[parents] > CLASS
    columns["used"] = np.log1p(_used(board))[nodes] / 5
    counts = np.bincount(rows.block[board.is_entity], minlength=len(rows.paths))
    columns["siblings"] = np.log1p(counts)[rows.block[nodes]] / 5
    return _table(nodes, ENTITY_FEATURES, columns)


def _used(board: Board) -> "NDArray[np.int64]":
    """By node, how many edges other than those of containment lead to it from outside of tests."""
    import numpy as np

    edges = board.graph.edges
    mask = (edges.relation % 8 > 0) & ~board.is_test[edges.source]
    return np.bincount(edges.target[mask], minlength=len(board.rows))


def _top_bodies(board: Board) -> "Floats":
    """By block, the mean of the three largest body scores of its entities."""
    import numpy as np

    body = np.where(board.is_entity, board.column(lexical.BODY), 0)
    hit = np.flatnonzero(body > 0)
    blocks = board.rows.block[hit]
    order = np.lexsort((-body[hit], blocks))
    blocks, values = blocks[order], body[hit][order]
    starts = np.searchsorted(blocks, blocks)
    first = np.arange(len(blocks)) - starts < 3
    found = np.bincount(blocks[first], values[first], len(board.rows.paths)) / 3
    return np.asarray(found, dtype=np.float32)


def _table(nodes: "Ints", names: Sequence[str], columns: "Mapping[str, NDArray[np.generic]]") -> Table:
    import numpy as np

    values = np.empty((len(nodes), len(names)), np.float32)
    for place, name in enumerate(names):
        values[:, place] = columns[name]
    return Table(nodes, names, values)


def is_code(path: str) -> bool:
    """Whether the file's language has a parser."""
    return language_of(path) is not None


FILE_KIND = FILE
