"""Ranking entities against an issue: several signals, one sum, a prior by role, a reason for every share."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.localize.database import discard_index
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex
from codeforge.localize.mentions import Mentions
from codeforge.localize.model import Entity, EntityKind, Location, Reason
from codeforge.localize.query import FailureSignal, LocateQuery
from codeforge.localize.roles import PRIOR, FileRole, role_of
from codeforge.localize.scoreboard import Scoreboard, Target
from codeforge.localize.signals import lexical, paths, structure, symbols, tests, traceback

__all__ = ["FailureSignal", "Localizer", "LocateAnswer", "LocateQuery"]

CLASS_SHARE = 0.8
"""A fix is rather in a method than in what is left of its class."""
FILE_SHARE = 0.6
"""The code of a file outside its functions and classes; files without any count in full."""
FOLLOWERS = 0.3
"""What each further entity of a file adds to the file's score."""


@dataclass(frozen=True, slots=True)
class LocateAnswer:
    """The answer.

    Attributes:
        locations: functions, classes and (where code lies outside them) files, best first.
        files: files, best first.
        notices: what the user should know about the index.
    """

    locations: tuple[Location, ...]
    files: tuple[Location, ...]
    notices: tuple[str, ...]


class Localizer:
    """Finds where an issue lives in one tree.

    The index is kept in `.codeforge/index` below `root` and brought up to date by every call.

    Args:
        root: the repository root.
        files: its files, relative; `None` asks git, else walks the tree.
    """

    def __init__(self, root: Path, files: Sequence[str] | None = None) -> None:
        self._root = root
        self._files = files

    def prepare(self) -> None:
        """Bring the index up to date now, so that `locate` answers fast (in another thread, say)."""
        CodeIndex.open(self._root, self._listed()).close()

    def locate(self, query: LocateQuery) -> list[Location]:
        """The `query.limit` best locations, best first; a text that fits nothing gets large source files."""
        return list(self.locate_all(query).locations)

    def locate_all(self, query: LocateQuery) -> LocateAnswer:
        """Locations and files, `query.limit` of each."""
        files = self._listed()
        try:
            with CodeIndex.open(self._root, files) as index:
                return _answer(index, query)
        except (sqlite3.Error, ValueError, LookupError) as error:
            # Whatever a damaged index raises. An error of our own comes again below, where no file is read.
            discard_index(self._root)
            notice = f"the code index was damaged ({error}); it will be made anew"
            with CodeIndex.in_memory(self._root, files, [notice]) as index:
                return _answer(index, query)

    def _listed(self) -> Sequence[str]:
        return list_files(self._root) if self._files is None else self._files


def _answer(index: CodeIndex, query: LocateQuery) -> LocateAnswer:
    board = Scoreboard(index)
    _score(board, query)
    ranked = _ranked(board) or _guesses(index)
    files = _files(ranked, board)
    return LocateAnswer(tuple(ranked[: query.limit]), tuple(files[: query.limit]), index.notices)


def _score(board: Scoreboard, query: LocateQuery) -> None:
    failed = "\n".join(failure.message for failure in query.failures)
    mentions = Mentions(f"{query.text}\n{failed}" if failed else query.text)
    traceback.score(board, mentions, query.failures)
    paths.score(board, mentions)
    symbols.score(board, mentions)
    tests.score(board, query.failures)
    lexical.score(board, mentions)
    structure.score(board)


def _ranked(board: Scoreboard) -> list[Location]:
    found = []
    for target in board.targets():
        documents = board.documents(target[0])
        if target[1] >= len(documents):
            continue
        entity = documents[target[1]].at(target[0])
        factor = _factor(board, target, entity, len(documents))
        found.append(Location(entity, factor * board.total(target), board.reasons(target)))
    found.sort(key=lambda location: (-location.score, location.entity.id))
    return found


def _factor(board: Scoreboard, target: Target, entity: Entity, documents: int) -> float:
    path = target[0]
    role = role_of(path)
    size = board.index.snapshot.sizes[board.index.snapshot.content_of[path]]
    if size.generated:
        role = FileRole.GENERATED
    factor = 1.0 if path in board.named_files else PRIOR[role]
    if entity.kind is EntityKind.CLASS:
        return factor * CLASS_SHARE
    return factor * FILE_SHARE if entity.kind is EntityKind.FILE and documents > 1 else factor


def _files(ranked: Sequence[Location], board: Scoreboard) -> list[Location]:
    """Files by their best entity and a share of the next ones."""
    by_path: dict[str, list[Location]] = {}
    for location in ranked:
        by_path.setdefault(location.entity.path, []).append(location)
    files = []
    for path, inside in by_path.items():
        score = inside[0].score + FOLLOWERS * sum(location.score for location in inside[1:4])
        documents = board.documents(path)
        entity = documents[0].at(path) if documents else inside[0].entity
        best = inside[0].entity.qualname
        detail = tuple(
            Reason(reason.signal, f"{best}: {reason.detail}" if best else reason.detail, reason.weight)
            for reason in inside[0].reasons
        )
        files.append(Location(entity, score, detail))
    files.sort(key=lambda location: (-location.score, location.entity.id))
    return files


def _guesses(index: CodeIndex) -> list[Location]:
    """For a text that fits nothing: source files with most code, with next to no score."""
    sizes = index.snapshot.sizes
    ordered = sorted(
        index.snapshot.content_of.items(),
        key=lambda item: (-PRIOR[role_of(item[0])], -sizes[item[1]].words, item[0]),
    )
    heads = {d.content: d for d in index.inside({content for _, content in ordered[:50]}) if d.ordinal == 0}
    reason = Reason("prior", "nothing in the text fits; a large source file", 0.01)
    return [Location(heads[content].at(path), 0.01, (reason,)) for path, content in ordered[:50]]
