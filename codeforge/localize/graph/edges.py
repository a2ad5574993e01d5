"""The edges of the graph in columns."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.graph.linker import Link
from codeforge.localize.graph.model import RelationKind
from codeforge.localize.graph.nodes import ROLES, Nodes
from codeforge.localize.roles import FileRole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Bytes = NDArray[np.uint8]

RELATIONS = tuple(RelationKind)
CONTAINS, IMPORTS, INVOKES, INHERITS, TESTS = range(5)
WEAK = 8
"""Added to a relation's number: the edge is a guess."""
_NUMBER = {kind: number for number, kind in enumerate(RELATIONS)}


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges in three columns of equal length.

    Attributes:
        source, target: nodes.
        relation: a place in `RELATIONS`, plus `WEAK`.
    """

    source: "Ints"
    target: "Ints"
    relation: "Bytes"

    def __len__(self) -> int:
        return len(self.source)

    def only(self, mask: "NDArray[np.bool_]") -> "Edges":
        """The edges where `mask` holds."""
        return Edges(self.source[mask], self.target[mask], self.relation[mask])


def edges_of(links: Iterable[Link], first: Callable[[str], int]) -> Edges:
    """The columns of links; `first` gives a file's node."""
    import numpy as np

    rows = [
        (
            first(source[0]) + source[1],
            first(target[0]) + target[1],
            _NUMBER[relation] + (WEAK if weak else 0),
        )
        for source, target, relation, weak in links
    ]
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return Edges(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].astype(np.uint8))


def together(*parts: Edges) -> Edges:
    """The edges of all parts."""
    import numpy as np

    if not parts:
        return Edges(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))
    return Edges(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.relation for part in parts]),
    )


def completed(nodes: Nodes, linked: Edges) -> Edges:
    """`linked` with the edges that follow from others: contains (from the nodes' parents), and tests (what
    the
    code of test files invokes or imports of other code). Sorted by source, relation and target."""
    import numpy as np

    inner = np.flatnonzero(nodes.alive & (nodes.parent >= 0)).astype(np.int32)
    contains = Edges(nodes.parent[inner], inner, np.zeros(len(inner), dtype=np.uint8))
    is_test = nodes.role == ROLES.index(FileRole.TEST)
    kind = linked.relation % WEAK
    crossing = is_test[linked.source] & ~is_test[linked.target] & ((kind == INVOKES) | (kind == IMPORTS))
    found = linked.only(crossing)
    tests = _once(found.source, found.target, (found.relation // WEAK * WEAK + TESTS).astype(np.uint8))
    every = together(contains, linked, tests)
    order = np.lexsort((every.target, every.relation, every.source))
    return Edges(every.source[order], every.target[order], every.relation[order])


def _once(source: "Ints", target: "Ints", relation: "Bytes") -> Edges:
    """Each pair of nodes once (what is imported may be invoked too); known edges win over guesses."""
    import numpy as np

    order = np.lexsort((relation, target, source))
    ordered = Edges(source[order], target[order], relation[order])
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = (np.diff(ordered.source) != 0) | (np.diff(ordered.target) != 0)
    return ordered.only(new)
