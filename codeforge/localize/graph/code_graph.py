"""`CodeGraph`: the graph over columns; implements `GraphView`."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from codeforge.localize.graph.edges import RELATIONS, WEAK, Edges
from codeforge.localize.graph.model import Direction, GraphStats, Neighbour, RelationKind
from codeforge.localize.graph.nodes import CLASS, DIRECTORY, FILE, KINDS, ROLES, Nodes, last_part
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.roles import FileRole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]


class CodeGraph:
    """The graph of one tree at one moment.

    Args:
        nodes: its nodes.
        edges: all its edges, sorted by source, relation and target (`edges.completed`).
    """

    def __init__(self, nodes: Nodes, edges: Edges) -> None:
        self.rows = nodes
        self.edges = edges

    def __len__(self) -> int:
        return len(self.rows)

    def entity(self, node: int) -> Entity:
        """See `GraphView`."""
        rows = self.rows
        kind = KINDS[rows.kind[node]]
        path = rows.paths[rows.block[node]]
        lines = int(rows.start[node]), int(rows.end[node])
        if kind is EntityKind.DIRECTORY:
            return Entity(f"{path}/", kind, path, "", *lines)
        if kind is EntityKind.FILE:
            return Entity(path, kind, path, "", *lines)
        name = rows.names[node]
        return Entity(f"{path}:{name}", kind, path, name, *lines, rows.signatures[node])

    def kind(self, node: int) -> EntityKind:
        """See `GraphView`."""
        return KINDS[self.rows.kind[node]]

    def role(self, node: int) -> FileRole:
        """What the node's file is for."""
        return ROLES[int(self.rows.role[node])]

    def path(self, node: int) -> str:
        """The file of a node (a directory's own path)."""
        return self.rows.paths[int(self.rows.block[node])]

    @cached_property
    def files(self) -> Mapping[str, int]:
        """By path, the node of the file; in order of the paths."""
        return self._first_of(FILE)

    @cached_property
    def directories(self) -> Mapping[str, int]:
        """By path without a slash at its end, the node of the directory."""
        return self._first_of(DIRECTORY)

    def _first_of(self, kind: int) -> Mapping[str, int]:
        import numpy as np

        rows = self.rows
        found = np.flatnonzero(rows.alive & (rows.kind == kind)).tolist()
        return dict(
            sorted(
                (rows.paths[block], node)
                for node, block in zip(found, rows.block[found].tolist(), strict=True)
            )
        )

    def block(self, file: int) -> range:
        """The nodes of a file: itself, then its entities in source order."""
        rows = self.rows
        number = int(rows.block[file]) + 1
        end = int(rows.first[number]) if number < len(rows.first) else len(rows)
        return range(file, end)

    def innermost(self, file: int, line: int) -> int:
        """The entity of a file in which a 1-based line lies; the file when it lies in none."""
        best = file
        for node in self.block(file)[1:]:
            if self.rows.start[node] > line:
                break
            if self.rows.end[node] >= line:
                best = node
        return best

    def find(self, entity_id: str) -> int | None:
        """See `GraphView`."""
        if entity_id.endswith("/"):
            return self.directories.get(entity_id.rstrip("/"))
        if entity_id in self.files:
            return self.files[entity_id]
        path, _, name = entity_id.rpartition(":")
        file = self.files.get(path)
        if file is None:
            return None
        found = [node for node in self.block(file)[1:] if self.rows.names[node] == name]
        # Of several definitions (overloads, conditional ones) the longest is no stub.
        return max(found, key=lambda node: (self.rows.end[node] - self.rows.start[node], -node), default=None)

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        alive, kinds = self.rows.alive.tolist(), self.rows.kind.tolist()
        for node, name in enumerate(self.rows.names):
            if kinds[node] >= CLASS and alive[node]:
                found.setdefault(last_part(name), []).append(node)
        return found

    def names(self) -> Mapping[str, Sequence[int]]:
        """See `GraphView`."""
        return self._names

    def named(self, name: str) -> Sequence[int]:
        """See `GraphView`."""
        return self.rows.named(name)

    def nodes(self) -> Sequence[int]:
        """See `GraphView`."""
        rows = self.rows
        import numpy as np

        alive = np.flatnonzero(rows.alive).tolist()
        # A directory sorts before what is in it, and "a/" before "a.py".
        keys = {
            block: (f"{path}/" if rows.kind[rows.first[block]] == DIRECTORY and path else path)
            for block, path in enumerate(rows.paths)
        }
        return sorted(alive, key=lambda node: (keys[int(rows.block[node])], node))

    @cached_property
    def _forward(self) -> "Ints":
        """By node, where its edges begin in `edges`; one more at the end."""
        import numpy as np

        return np.searchsorted(self.edges.source, np.arange(len(self) + 1)).astype(np.int32)

    @cached_property
    def _backward(self) -> "tuple[Ints, Ints]":
        """The edges' places sorted by target, and by node where its own begin there."""
        import numpy as np

        order = np.argsort(self.edges.target, kind="stable").astype(np.int32)
        starts = np.searchsorted(self.edges.target[order], np.arange(len(self) + 1)).astype(np.int32)
        return order, starts

    def neighbours(
        self,
        node: int,
        direction: Direction = Direction.BOTH,
        relations: Collection[RelationKind] | None = None,
        *,
        weak: bool = False,
    ) -> Sequence[Neighbour]:
        """See `GraphView`."""
        found: list[Neighbour] = []
        if direction is not Direction.BACKWARD:
            places = range(int(self._forward[node]), int(self._forward[node + 1]))
            found += self._ends(places, relations, weak, forward=True)
        if direction is not Direction.FORWARD:
            order, starts = self._backward
            found += self._ends(
                order[starts[node] : starts[node + 1]].tolist(), relations, weak, forward=False
            )
        return found

    def _ends(
        self, places: Sequence[int], relations: Collection[RelationKind] | None, weak: bool, *, forward: bool
    ) -> list[Neighbour]:
        ends = self.edges.target if forward else self.edges.source
        found = []
        for place in places:
            number = int(self.edges.relation[place])
            relation = RELATIONS[number % WEAK]
            if (relations is None or relation in relations) and (weak or number < WEAK):
                found.append(Neighbour(int(ends[place]), relation, forward, number >= WEAK))
        found.sort(key=lambda item: (RELATIONS.index(item.relation), self._place(item.node)))
        return found

    def _place(self, node: int) -> tuple[str, int]:
        return self.path(node), int(self.rows.start[node])

    def stats(self) -> GraphStats:
        """See `GraphView`."""
        import numpy as np

        kinds = np.bincount(self.rows.kind[self.rows.alive], minlength=len(KINDS)).tolist()
        relations = np.bincount(self.edges.relation % WEAK, minlength=len(RELATIONS)).tolist()
        return GraphStats(
            dict(zip(KINDS, kinds, strict=True)),
            dict(zip(RELATIONS, relations, strict=True)),
            int(np.count_nonzero(self.edges.relation >= WEAK)),
        )
