"""From rows of features to an order of files and entities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.features import FILE_SCORE, Table, entity_table, file_table
from codeforge.localize.graph.nodes import CLASS, FILE, ROLES
from codeforge.localize.parsers.base import language_of
from codeforge.localize.roles import FileRole
from codeforge.localize.signals.board import Board
from codeforge.localize.weights import Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows with their scores.

    Attributes:
        table: the rows.
        logits: log odds up to a constant, float32, shape (rows,).
        order: the rows, best first; ties in the order of the nodes.
    """

    table: Table
    logits: "Floats"
    order: "Ints"

    @property
    def best(self) -> float:
        """The highest score; 0 without rows."""
        return float(self.logits[self.order[0]]) if len(self.order) else 0.0


def score_files(board: Board, weights: Weights) -> Scored:
    """Score every file that the query allows."""
    table = file_table(board)
    if not board.query.tests:
        table = table.kept(~board.is_test[table.nodes])
    logits = table.scored(weights.files) + _by_role(board, table, weights)
    return _sorted(table, logits)


def score_entities(board: Board, files: Scored, weights: Weights) -> Scored:
    """Score the entities of promising files, and these files' own code."""
    import numpy as np

    table = entity_table(board, files.table, files.logits)
    if not board.query.tests:
        table = table.kept(~board.is_test[table.nodes])
    kinds = board.rows.kind[table.nodes]
    logits = table.scored(weights.entities)
    # What the file's score has passed on of its role already is not counted twice.
    logits += _by_role(board, table, weights) * max(0.0, 1 - weights.entities.get(FILE_SCORE, 0.0))
    logits += np.where(kinds == CLASS, weights.classes, 0)
    outside = (kinds == FILE) & board.has_entities[board.rows.block[table.nodes]]
    logits += np.where(outside, weights.module_code, 0)
    return _sorted(table, np.asarray(logits, dtype=np.float32))


def _by_role(board: Board, table: Table, weights: Weights) -> "Floats":
    """By row, what the role of its file adds."""
    import numpy as np

    rows = board.rows
    of_role = np.array([weights.roles.get(role, 0.0) for role in ROLES], np.float32)
    by_block = of_role[rows.role[rows.first]]
    for path in board.index.generated:
        if path in board.graph.files:
            block = rows.block[board.graph.files[path]]
            by_block[block] = min(by_block[block], weights.roles.get(FileRole.GENERATED, 0.0))
    blocks = rows.block[table.nodes]
    parsed = {block: language_of(rows.paths[block]) is not None for block in np.unique(blocks).tolist()}
    for block, known in parsed.items():
        if not known and by_block[block] == 0:
            by_block[block] = weights.unparsed
    for node in board.named:
        by_block[rows.block[node]] = 0
    return np.asarray(by_block[blocks], dtype=np.float32)


def _sorted(table: Table, logits: "Floats") -> Scored:
    import numpy as np

    return Scored(table, logits, np.argsort(-logits, kind="stable").astype(np.int32))
