"""What the fit learns from: for every training task the ranker's features, with the gold among them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.localization.tasks import Task
from codeforge.localize.dense.scorer import DenseScorer
from codeforge.localize.features import FILE_SCORE, Table, entity_table, file_table, write_signals
from codeforge.localize.files import list_files
from codeforge.localize.graph.nodes import FUNCTION
from codeforge.localize.history.history import History
from codeforge.localize.index import CodeIndex
from codeforge.localize.parsers.base import language_of
from codeforge.localize.query import LocateQuery
from codeforge.localize.scoring import score_entities, score_files
from codeforge.localize.signals import meaning
from codeforge.localize.signals.board import Board
from codeforge.localize.weights import shipped_weights

if TYPE_CHECKING:
    from codeforge.localize.dense.encoder import Encoder

MOST_ENTITIES = 400
"""Of a task; the gold ones are always kept."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one task.

    Attributes:
        files: features, float32, shape (files, FILE_FEATURES).
        gold_files: by file.
        entities: features of functions, float32, shape (functions, ENTITY_FEATURES).
        gold_entities: by function.
        file_of: by function its file's row.
        missing: how many gold files, and how many gold functions are in no row.
    """

    files: Floats
    gold_files: NDArray[np.bool_]
    entities: Floats
    gold_entities: NDArray[np.bool_]
    file_of: NDArray[np.int32]
    missing: tuple[int, int]

    def save(self, path: Path) -> None:
        """Write to a compressed file."""
        columns = {name: getattr(self, name) for name in self.__slots__}
        temporary = path.with_suffix(".part.npz")
        np.savez_compressed(temporary, **columns)
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Rows":
        """Read what `save` wrote."""
        with np.load(path) as data:
            columns = {name: data[name] for name in cls.__slots__ if name != "missing"}
            files, functions = data["missing"].tolist()
        return cls(**columns, missing=(files, functions))


def rows_of(task: Task, root: Path, encoder: "Encoder | None" = None) -> Rows:
    """The rows of a task whose commit is checked out at `root`; with `encoder` the best entities are compared
    by meaning. Tests are not searched, and only files with a parser: the gold is never elsewhere."""
    with CodeIndex.open(root, list_files(root)) as index:
        board = Board(index, LocateQuery(task.text, tests=False))
        write_signals(board, History.open(root))
        if encoder is not None:
            _compare(board, root, encoder)
        files = file_table(board)
        files = files.kept(_searched(board, files))
        entities = entity_table(board, files, files.scored(shipped_weights().files))
        rows = board.rows
        kinds = rows.kind[entities.nodes]
        inside = np.isin(rows.block[entities.nodes], rows.block[files.nodes])
        entities = entities.kept((kinds == FUNCTION) & inside)
        ids = [f"{rows.paths[rows.block[node]]}:{rows.names[node]}" for node in entities.nodes.tolist()]
        gold = np.array([name in task.gold_functions for name in ids], np.bool_)
        found = int(gold.sum())
        kept = gold | _best(entities)
        entities, gold = entities.kept(kept), gold[kept]
        paths = [rows.paths[block] for block in rows.block[files.nodes].tolist()]
        gold_files = np.array([path in task.gold_files for path in paths], np.bool_)
        file_of = np.searchsorted(rows.block[files.nodes], rows.block[entities.nodes]).astype(np.int32)
        missing = len(task.gold_files) - int(gold_files.sum()), len(task.gold_functions) - found
        return Rows(files.values, gold_files, entities.values, gold, file_of, missing)


def _compare(board: Board, root: Path, encoder: "Encoder") -> None:
    weights = shipped_weights()
    entities = score_entities(board, score_files(board, weights), weights)
    best = entities.table.nodes[entities.order[: meaning.CANDIDATES]].tolist()
    with DenseScorer.open(root, encoder) as scorer:
        meaning.score(board, scorer, best)


def _searched(board: Board, files: Table) -> NDArray[np.bool_]:
    rows = board.rows
    parsed = [language_of(rows.paths[block]) is not None for block in rows.block[files.nodes].tolist()]
    return np.asarray(np.array(parsed, np.bool_) & ~board.is_test[files.nodes])


def _best(entities: Table) -> NDArray[np.bool_]:
    score = entities.scored({"body": 4, "head": 2, "symbol": 3, "prose": 2, "rank": 2, FILE_SCORE: 1})
    order = np.argsort(np.argsort(-score, kind="stable"), kind="stable")
    return np.asarray(order < MOST_ENTITIES)
