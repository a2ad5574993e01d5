"""Names of entities in the text; rare names weigh more."""

from math import sqrt

from codeforge.localize.signals.board import Board

SYMBOL, EXACT, PROSE, OWNER = "symbol", "exact_symbol", "prose", "owner"
"""A name of code; one that only a single entity has, or with its owner; an ordinary word that is a name
too; a member of what is named."""
NAMED = "qualified_name"
"""The entity's name with its owner (`Response.json`)."""
QUALIFIED = 1.25
_MOST_NAMES = 800
_MOST_PLACES = 40
_PROSE_PLACES = 3
"""An ordinary word is taken for a name only when few entities have it."""


def score(board: Board) -> None:
    """Each name's weight is divided by the root of how many entities outside tests it may mean."""
    written = sorted(board.mentions.symbols.items(), key=lambda item: (-item[1], item[0]))[:_MOST_NAMES]
    for name, surety in written:
        _score_name(board, name, surety)


def _score_name(board: Board, name: str, surety: float) -> None:
    owner, _, last = name.rpartition(".")
    found = board.rows.named(last) if last else []
    spelled = [node for node in found if board.rows.names[node].endswith(last)]
    if surety >= 0.5 or len(last) < 4:
        found = spelled or found
    exact = [node for node in found if owner and _qualified(board.rows.names[node], name)]
    if owner and not exact:
        # `instance.method`: the owner is a variable. The method may still be meant; less surely.
        surety *= 0.6
    places = exact or found
    own = [node for node in places if not board.is_test[node]] or places
    if not own or len(own) > _MOST_PLACES or (surety < 0.5 and len(own) > _PROSE_PLACES):
        return
    weight = surety * (QUALIFIED if exact else 1.0) / sqrt(len(own))
    for node in own:
        board.raise_to(SYMBOL if surety >= 0.5 else PROSE, node, weight, f"`{name}` is named")
        if surety >= 0.5 and (exact or (len(own) == 1 and "_" in last)):
            board.raise_to(EXACT, node, 1.0 / len(own), f"`{name}` is named")
        if exact:
            board.raise_to(NAMED, node, 1.0 / len(own), f"`{name}` is named")
        for member in _members(board, node) if surety >= 0.5 else ():
            board.raise_to(OWNER, member, weight, f"belongs to `{name}`")


def _members(board: Board, node: int) -> list[int]:
    """What is directly inside an entity."""
    parents = board.rows.parent
    block = board.graph.block(int(board.rows.first[board.rows.block[node]]))
    return [other for other in block if parents[other] == node]


def _qualified(qualname: str, name: str) -> bool:
    tail = ".".join(name.split(".")[-2:])
    return qualname in (tail, name) or qualname.endswith(f".{tail}")
