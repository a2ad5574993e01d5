"""Names of entities in the text; rare names weigh more."""

from collections import defaultdict
from math import sqrt

from codeforge.localize.index import Document
from codeforge.localize.mentions import Mentions
from codeforge.localize.roles import FileRole, role_of
from codeforge.localize.scoreboard import Scoreboard

NAMED = 1.6
QUALIFIED = 1.25
_MOST_NAMES = 800
_MOST_PLACES = 40
_PROSE_PLACES = 3
"""An ordinary word is taken for a name only when few entities have it."""


def score(board: Scoreboard, mentions: Mentions) -> None:
    """Each name's weight is divided by the root of how many entities outside tests it may mean."""
    written = dict(sorted(mentions.symbols.items(), key=lambda item: -item[1])[:_MOST_NAMES])
    lasts = {name.rpartition(".")[2] for name in written}
    lasts |= {name.rpartition(".")[0].rpartition(".")[2] for name in written if "." in name}
    by_name: dict[str, list[Document]] = defaultdict(list)
    for document in board.index.named({name for name in lasts if name}):
        by_name[document.name].append(document)
    for name, surety in written.items():
        _score_name(board, name, surety, by_name)


def _score_name(board: Scoreboard, name: str, surety: float, by_name: dict[str, list[Document]]) -> None:
    owner, _, last = name.rpartition(".")
    found = by_name.get(last, [])
    exact = [d for d in found if owner and _qualified(d, name)]
    if owner and not exact:
        # `instance.method`: the owner is a variable. The method may still be meant; less surely.
        surety *= 0.6
    chosen = exact or found
    places = [(path, d) for d in chosen for path in board.index.snapshot.paths_of[d.content]]
    own = [place for place in places if role_of(place[0]) is not FileRole.TEST]
    count = len(own) or len(places)
    if not places or count > _MOST_PLACES or (surety < 0.5 and count > _PROSE_PLACES):
        return
    weight = NAMED * surety * (QUALIFIED if exact else 1.0) / sqrt(count)
    for path, document in own or places:
        board.add((path, document.ordinal), "symbol", f"`{name}` is named", weight)


def _qualified(document: Document, name: str) -> bool:
    tail = ".".join(name.split(".")[-2:])
    return document.qualname == tail or document.qualname.endswith(f".{tail}") or document.qualname == name
