"""Why a row scored: the shares of its features, grouped by the signal that a person knows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.features import BEST, FILE_SCORE, TOP_BODIES
from codeforge.localize.lexical import shared_words
from codeforge.localize.model import Reason
from codeforge.localize.scoring import Scored
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
from codeforge.localize.signals.board import Board
from codeforge.localize.weights import Weights

if TYPE_CHECKING:
    import numpy as np

SIGNALS = {
    traceback.TRACEBACK: "traceback",
    traceback.FAILING: "traceback",
    failing.CALLED: "test",
    failing.IMPORTED: "test",
    paths.PATH: "path",
    paths.PATH_WORDS: "path",
    paths.NAME_WORDS: "path",
    symbols.SYMBOL: "symbol",
    symbols.EXACT: "symbol",
    symbols.PROSE: "symbol",
    symbols.NAMED: "symbol",
    symbols.OWNER: "symbol",
    lexical.BODY: "lexical",
    lexical.HEAD: "lexical",
    lexical.FILE: "lexical",
    lexical.NAME: "lexical",
    lexical.COVERED: "lexical",
    TOP_BODIES: "lexical",
    "class_body": "lexical",
    "class_head": "lexical",
    proximity.RANK: "structural",
    proximity.CALLERS: "structural",
    proximity.CALLEES: "structural",
    proximity.TESTED: "structural",
    proximity.SUBCLASSES: "structural",
    meaning.MEANING: "dense",
    changes.RECENT: "history",
    changes.SIMILAR: "history",
    changes.TOGETHER: "history",
    changes.SIMILAR_FUNCTION: "history",
}
"""By feature, the signal that is shown."""
_IN_WORDS = {"lexical": "its words fit", "structural": "near strong hits", "history": "its history fits"}
_LEAST_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class _Share:
    """What one feature added, in log odds, and the node whose detail says why."""

    feature: str
    node: int
    value: float


@dataclass(frozen=True)
class Explainer:
    """Gives the reasons of rows.

    Attributes:
        board: what the signals wrote.
        weights: what the rows were scored with.
        files: the scored files.
    """

    board: Board
    weights: Weights
    files: Scored

    def of_file(self, row: int, score: float) -> tuple[Reason, ...]:
        """The reasons of a row of `files`; their weights add up to `score`."""
        return self._reasons(list(self._of_file(row)), score, row_node=int(self.files.table.nodes[row]))

    def of_entity(self, entities: Scored, row: int, score: float) -> tuple[Reason, ...]:
        """The reasons of a row of `entities`: its own, and those of its file as far as they were passed
        on."""
        node = int(entities.table.nodes[row])
        shares = list(_shares(entities, row, self.weights.entities, node))
        passed_on = self.weights.entities.get(FILE_SCORE, 0.0)
        place = self._file_row(node)
        if place is not None:
            shares += [
                _Share(share.feature, share.node, share.value * passed_on)
                for share in self._of_file(place)
                if not share.feature.startswith(BEST)
            ]
        return self._reasons(shares, score, row_node=node)

    def _file_row(self, node: int) -> int | None:
        import numpy as np

        file = self.board.rows.first[self.board.rows.block[node]]
        place = int(np.searchsorted(self.files.table.nodes, file))
        found = place < len(self.files.table.nodes) and self.files.table.nodes[place] == file
        return place if found else None

    def _of_file(self, row: int) -> Iterator[_Share]:
        node = int(self.files.table.nodes[row])
        for share in _shares(self.files, row, self.weights.files, node):
            yield _Share(share.feature, self._holder(share.feature, node), share.value)

    def _holder(self, feature: str, file: int) -> int:
        """The entity of a file from which the file has its value."""
        if not feature.startswith(BEST):
            return file
        block = self.board.graph.block(file)
        column = self.board.column(feature.removeprefix(BEST))[block.start : block.stop]
        return block.start + int(column.argmax())

    def _reasons(self, shares: list[_Share], score: float, *, row_node: int) -> tuple[Reason, ...]:
        total = sum(share.value for share in shares)
        groups: dict[str, list[_Share]] = {}
        for share in shares:
            groups.setdefault(SIGNALS[share.feature.removeprefix(BEST)], []).append(share)
        reasons = []
        for signal, members in groups.items():
            weight = score * sum(share.value for share in members) / total
            members.sort(key=lambda share: -share.value)
            reasons.append(Reason(signal, self._detail(signal, members, row_node), weight))
        reasons.sort(key=lambda reason: (-reason.weight, reason.signal))
        if not reasons:
            return (Reason("prior", "nothing in the text fits it", score),)
        return _without_crumbs(reasons, score)

    def _detail(self, signal: str, members: list[_Share], row_node: int) -> str:
        """The first detail that a signal wrote; an entity that is not the row itself is named."""
        rows = self.board.rows
        for share in members:
            name = share.feature.removeprefix(BEST)
            written = self.board.details.get((name, share.node))
            if written:
                inside = share.node != row_node and rows.block[share.node] == rows.block[row_node]
                other = inside and share.node != rows.first[rows.block[share.node]]
                return f"{rows.names[share.node]}: {written}" if other else written
        if signal == "lexical":
            node = members[0].node
            words = shared_words(self.board.index, self.board.mentions.words, node)
            if words:
                return f"shares {self.board.mentions.spelled(words)}"
        return _IN_WORDS.get(signal, signal)


def _shares(scored: Scored, row: int, weights: Mapping[str, float], node: int) -> Iterator[_Share]:
    """The features of a row that spoke for it."""
    values: np.ndarray[tuple[int], np.dtype[np.float32]] = scored.table.values[row]
    for name, value in zip(scored.table.names, values.tolist(), strict=True):
        share = value * weights.get(name, 0.0)
        if share > 0 and name.removeprefix(BEST) in SIGNALS:
            yield _Share(name, node, share)


def _without_crumbs(reasons: list[Reason], score: float) -> tuple[Reason, ...]:
    """Tiny shares go to the first reason: all still add up."""
    kept = [
        reason for place, reason in enumerate(reasons) if place == 0 or reason.weight >= _LEAST_SHARE * score
    ]
    rest = score - sum(reason.weight for reason in kept)
    first = Reason(kept[0].signal, kept[0].detail, kept[0].weight + rest)
    return (first, *kept[1:])
