"""`Localizer`: where an issue lives, with reasons."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

from codeforge.localize.database import discard_index
from codeforge.localize.features import write_signals
from codeforge.localize.files import list_files
from codeforge.localize.graph.nodes import DIRECTORY, ROLES
from codeforge.localize.history.history import History
from codeforge.localize.index import DAMAGE, CodeIndex
from codeforge.localize.model import Location, Reason
from codeforge.localize.query import FailureSignal, LocateQuery
from codeforge.localize.reasons import Explainer
from codeforge.localize.scoring import score_entities, score_files
from codeforge.localize.signals import changes, failing, lexical, meaning, paths, symbols, traceback
from codeforge.localize.signals.board import Board
from codeforge.localize.weights import Weights, shipped_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.dense.scorer import CandidateScorer
    from codeforge.localize.scoring import Scored

__all__ = ["FailureSignal", "Localizer", "LocateAnswer", "LocateQuery"]

_EVIDENCE = (
    lexical.BODY,
    lexical.HEAD,
    lexical.FILE,
    symbols.SYMBOL,
    traceback.TRACEBACK,
    traceback.FAILING,
    failing.CALLED,
    failing.IMPORTED,
    paths.PATH,
    changes.SIMILAR,
)
_GUESS = 0.01
"""The score of a location that nothing speaks for."""


@dataclass(frozen=True, slots=True)
class LocateAnswer:
    """The answer.

    Attributes:
        locations: functions, classes and (where code lies outside them) files, best first.
        files: files, best first.
        notices: what the user should know about the index and the history.
    """

    locations: tuple[Location, ...]
    files: tuple[Location, ...]
    notices: tuple[str, ...]


class Localizer:
    """Finds where an issue lives in one tree.

    Files are scored by the words that they share with the issue, what it names, the call graph around strong
    hits and the history of the repository; then the entities of the best files by the same signals. Weights
    are
    data (`weights.json`). A location's score is its odds relative to those of the best one, in (0, 1].

    The index and the history are kept in `.codeforge/index` below `root` and brought up to date by every
    call.

    Args:
        root: the repository root.
        files: its files, relative; `None` asks git, else walks the tree.
        weights: others than those that come with codeforge.
        history: whether the commits of the repository are asked.
        scorer: compares the best candidates by meaning; `None` leaves that out.
    """

    def __init__(
        self,
        root: Path,
        files: Sequence[str] | None = None,
        *,
        weights: Weights | None = None,
        history: bool = True,
        scorer: "CandidateScorer | None" = None,
    ) -> None:
        self._root = root
        self._files = files
        self._weights = weights or shipped_weights()
        self._with_history = history
        self._scorer = scorer

    def prepare(self) -> None:
        """Bring index and history up to date now, so that `locate` answers fast (in another thread, say)."""
        CodeIndex.open(self._root, self._listed()).close()
        self._history()

    def locate(self, query: LocateQuery) -> list[Location]:
        """The `query.limit` best locations, best first; a text that fits nothing gets large source files."""
        return list(self.locate_all(query).locations)

    def locate_all(self, query: LocateQuery) -> LocateAnswer:
        """Locations and files, `query.limit` of each."""
        files = self._listed()
        history = self._history()
        try:
            with CodeIndex.open(self._root, files) as index:
                return self._answer(index, history, query)
        except (sqlite3.Error, *DAMAGE) as error:
            # Whatever a damaged index raises. An error of our own comes again below, where no file is read.
            discard_index(self._root)
            notice = f"the code index was damaged ({error}); it will be made anew"
            with CodeIndex.in_memory(self._root, files, [notice]) as index:
                return self._answer(index, history, query)

    def _listed(self) -> Sequence[str]:
        return list_files(self._root) if self._files is None else self._files

    def _history(self) -> History | None:
        return History.open(self._root) if self._with_history else None

    def _answer(self, index: CodeIndex, history: History | None, query: LocateQuery) -> LocateAnswer:
        board = Board(index, query)
        notices = (*index.notices, *(history.notices if history else ()))
        write_signals(board, history)
        if self._scorer is None and not _speaks(board):
            guesses = _guesses(board, query)
            return LocateAnswer(guesses, guesses, notices)
        files, entities = self._scored(board)
        explainer = Explainer(board, self._weights, files)
        return LocateAnswer(
            tuple(
                Location(index.graph.entity(node), score, explainer.of_entity(entities, row, score))
                for row, node, score in _best(entities, query.limit)
            ),
            tuple(
                Location(index.graph.entity(node), score, explainer.of_file(row, score))
                for row, node, score in _best(files, query.limit)
            ),
            notices,
        )

    def _scored(self, board: Board) -> "tuple[Scored, Scored]":
        files = score_files(board, self._weights)
        entities = score_entities(board, files, self._weights)
        if self._scorer is None:
            return files, entities
        best = entities.order[: meaning.CANDIDATES]
        meaning.score(board, self._scorer, entities.table.nodes[best].tolist())
        files = score_files(board, self._weights)
        return files, score_entities(board, files, self._weights)


def _best(scored: "Scored", limit: int) -> list[tuple[int, int, float]]:
    """(row, node, odds relative to the best), best first."""
    best = scored.best
    return [
        (row, int(scored.table.nodes[row]), max(exp(float(scored.logits[row]) - best), 1e-6))
        for row in scored.order[:limit].tolist()
    ]


def _speaks(board: Board) -> bool:
    """Whether anything in the text fits anything in the tree."""
    return any(float(board.column(name).max(initial=0.0)) > 0 for name in _EVIDENCE)


def _guesses(board: Board, query: LocateQuery) -> tuple[Location, ...]:
    """For a text that fits nothing: source files with most code, with next to no score."""
    rows, index = board.rows, board.index
    words = _words_of_files(board)
    roles = shipped_weights().roles
    nodes = [node for node in board.files.tolist() if query.tests or not board.is_test[node]]
    nodes.sort(
        key=lambda node: (-roles.get(ROLES[rows.role[node]], 0.0), -int(words[rows.block[node]]), node)
    )
    reason = Reason("prior", "nothing in the text fits; a large source file", _GUESS)
    return tuple(Location(index.graph.entity(node), _GUESS, (reason,)) for node in nodes[: query.limit])


def _words_of_files(board: Board) -> "NDArray[np.float64]":
    """By block, how many words its nodes have."""
    import numpy as np

    present = board.rows.alive & (board.rows.kind != DIRECTORY)
    lengths = board.index.lengths[1][present]
    return np.asarray(np.bincount(board.rows.block[present], lengths, len(board.rows.paths)))
