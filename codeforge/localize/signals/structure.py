"""What stands near strong entities: their class, their methods, what they call and who calls them."""

from collections import defaultdict
from collections.abc import Sequence

from codeforge.localize.index import Document
from codeforge.localize.model import EntityKind
from codeforge.localize.roles import PRIOR, role_of
from codeforge.localize.scoreboard import Scoreboard, Target

STRONG = 12
"""How many of the best entities pass something on."""
METHOD = 0.06
CALLEE = 0.1
CALLER = 0.04
FILE = 0.1
_MOST_PLACES = 6


def score(board: Scoreboard) -> None:
    """One step of spreading from the strongest entities; weights are shares of theirs."""
    strong = sorted(board.targets(), key=lambda target: (-_strength(board, target), target))[:STRONG]
    weights = {target: _strength(board, target) for target in strong}
    documents = {target: _document(board, target) for target in strong}
    known = {target: document for target, document in documents.items() if document is not None}
    for target, document in known.items():
        _score_members(board, target, document, weights[target])
    _score_callees(board, known, weights)
    _score_callers(board, known, weights)
    _score_files(board)


def _strength(board: Scoreboard, target: Target) -> float:
    return board.total(target) * PRIOR[role_of(target[0])]


def _document(board: Scoreboard, target: Target) -> Document | None:
    listed = board.documents(target[0])
    return listed[target[1]] if target[1] < len(listed) else None


def _score_members(board: Scoreboard, target: Target, document: Document, weight: float) -> None:
    """A strong class passes on to its methods, a strong method to its class."""
    path = target[0]
    parent = document.qualname.rpartition(".")[0]
    for other in board.documents(path):
        inside = document.kind is EntityKind.CLASS and other.qualname.startswith(f"{document.qualname}.")
        around = bool(parent) and other.qualname == parent
        if inside or around:
            board.add(
                (path, other.ordinal), "structural", f"belongs with {document.qualname}", METHOD * weight
            )


def _score_callees(board: Scoreboard, known: dict[Target, Document], weights: dict[Target, float]) -> None:
    names = {name for document in known.values() for name in document.calls}
    by_name: dict[str, list[Document]] = defaultdict(list)
    for document in board.index.named(names):
        by_name[document.name].append(document)
    for target, document in known.items():
        for name in document.calls:
            places = _places(board, by_name.get(name, []), near=target[0])
            for place in places if len(places) <= _MOST_PLACES else ():
                share = CALLEE * weights[target] / len(places)
                board.add(place, "structural", f"called by {document.qualname or target[0]}", share)


def _score_callers(board: Scoreboard, known: dict[Target, Document], weights: dict[Target, float]) -> None:
    by_name = {document.name: target for target, document in known.items() if document.name}
    callers: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, content, ordinal in board.index.callers(by_name.keys()):
        callers[name].append((content, ordinal))
    for name, found in callers.items():
        places = [(p, ordinal) for content, ordinal in found for p in board.index.snapshot.paths_of[content]]
        for place in places if len(places) <= 2 * _MOST_PLACES else ():
            board.add(
                place,
                "structural",
                f"calls {name}",
                CALLER * weights[by_name[name]] / max(1, len(places)) ** 0.5,
            )


def _places(board: Scoreboard, documents: Sequence[Document], *, near: str) -> list[Target]:
    """Where a called name may be defined: in the same file if it is there, else anywhere."""
    places = [(path, d.ordinal) for d in documents for path in board.index.snapshot.paths_of[d.content]]
    return [place for place in places if place[0] == near] or places


def _score_files(board: Scoreboard) -> None:
    """Entities of a file that has several strong entities gain a little."""
    by_file: dict[str, list[float]] = defaultdict(list)
    for target in board.targets():
        by_file[target[0]].append(board.total(target))
    for target in board.targets():
        others = sorted(by_file[target[0]], reverse=True)[:4]
        gain = FILE * (sum(others) - min(board.total(target), others[0])) / 3
        if gain > 0.05:
            board.add(target, "structural", "its file has other strong places", gain)
