"""What is near strong hits in the graph: personalised PageRank (Haveliwala 2002, "Topic-Sensitive PageRank"),
and what strong neighbours pass on directly."""

from typing import TYPE_CHECKING

from codeforge.localize.graph.edges import CONTAINS, IMPORTS, INHERITS, INVOKES, TESTS, WEAK
from codeforge.localize.graph.nodes import DIRECTORY
from codeforge.localize.signals.board import Board, relative

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RANK, CALLERS, CALLEES, TESTED, SUBCLASSES = "rank", "callers", "callees", "tested", "relatives"
WALK = 0.6
"""The share of rank that goes on along edges; the rest starts anew at the seeds."""
ROUNDS = 8
SEEDS = 60
_WEIGHTS = {CONTAINS: 0.6, IMPORTS: 0.3, INVOKES: 1.0, INHERITS: 0.8, TESTS: 0.0}
_WEAK_SHARE = 0.3


def score(board: Board, strength: "Floats") -> None:
    """Spread `strength` (by node) over the graph."""
    board.nodes[RANK] = relative(_rank(board, strength))
    edges = board.graph.edges
    kind = edges.relation % WEAK
    weight = _shares(edges.relation)
    direct = ~board.is_test[edges.source] & ~board.is_test[edges.target]
    for name, relation, backward in (
        (CALLEES, INVOKES, False),
        (CALLERS, INVOKES, True),
        (SUBCLASSES, INHERITS, True),
    ):
        mask = direct & (kind == relation)
        _pass_on(board, name, strength, mask, weight, backward=backward)
    _pass_on(board, TESTED, strength, kind == TESTS, weight, backward=False)


def _shares(relation: "NDArray[np.uint8]") -> "Floats":
    import numpy as np

    return np.where(relation >= WEAK, _WEAK_SHARE, 1.0).astype(np.float32)


def _rank(board: Board, strength: "Floats") -> "Floats":
    """The rank of every node beyond what it has as a seed itself."""
    import numpy as np

    count = len(strength)
    if count == 0 or float(strength.max()) <= 0:
        return np.zeros(count, np.float32)
    edges = board.graph.edges
    of_kind = np.array([_WEIGHTS[kind] for kind in range(len(_WEIGHTS))], np.float32)
    weight = of_kind[edges.relation % WEAK] * _shares(edges.relation)
    # Folders and tests join everything with everything.
    joins = (board.rows.kind == DIRECTORY) | board.is_test
    weight[joins[edges.source] | joins[edges.target]] = 0
    used = np.flatnonzero(weight)
    source, target, weight = edges.source[used], edges.target[used], weight[used]
    degree = np.bincount(source, weight, count) + np.bincount(target, weight, count)
    # Hubs pass on less to each, and receive less from each.
    norm = 1 / np.sqrt(np.maximum(degree, 1e-9))
    weight = weight * norm[source] * norm[target]
    seeds = _seeds(strength)
    rank = seeds.copy()
    for _ in range(ROUNDS):
        moved = np.bincount(target, weight * rank[source], count) + np.bincount(
            source, weight * rank[target], count
        )
        rank = (1 - WALK) * seeds + WALK * moved
    return np.asarray(rank - (1 - WALK) * seeds, dtype=np.float32)


def _seeds(strength: "Floats") -> "NDArray[np.float64]":
    """The strongest nodes with their share of 1."""
    import numpy as np

    least = np.partition(strength, -SEEDS)[-SEEDS] if len(strength) > SEEDS else 0.0
    kept = np.where(strength >= max(float(least), 1e-9), strength, 0).astype(np.float64) ** 2
    return np.asarray(kept / kept.sum())


def _pass_on(
    board: Board,
    name: str,
    strength: "Floats",
    mask: "NDArray[np.bool_]",
    weight: "Floats",
    *,
    backward: bool,
) -> None:
    """Every node gets the largest strength among its neighbours; less from a neighbour that has many."""
    import numpy as np

    edges = board.graph.edges
    source, target = (edges.target, edges.source) if backward else (edges.source, edges.target)
    giver, taker = source[mask], target[mask]
    degree = np.bincount(giver, minlength=len(strength))
    given = strength[giver] * weight[mask] / np.sqrt(np.maximum(degree[giver], 1))
    column = board.column(name)
    order = np.argsort(given, kind="stable")
    column[taker[order]] = given[order]  # the last, largest one stays
    best = np.zeros(len(strength), np.int32)
    best[taker[order]] = giver[order]
    verb = {CALLEES: "used by", CALLERS: "uses", SUBCLASSES: "base of", TESTED: "tested by"}[name]
    shown = np.argsort(-column, kind="stable")[:40].tolist()
    for node in shown:
        if column[node] > 0:
            giver_name = board.rows.names[best[node]]
            board.details[name, node] = f"{verb} {giver_name}"
