"""`traverse_graph`: breadth-first from some nodes, as a tree in which every node is expanded once."""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from codeforge.localize.graph.model import Direction, GraphView, Neighbour, RelationKind
from codeforge.localize.model import EntityKind

MOST_NODES = 20_000
"""The most places of a tree: an unlimited traversal from the root of a large repository ends here."""


class Link(NamedTuple):
    """What connects a node with the one above it in the tree.

    Attributes:
        relation: the edge's kind.
        forward: whether the edge leads away from the node above.
        weak: the edge is a guess.
    """

    relation: RelationKind
    forward: bool
    weak: bool


@dataclass(slots=True, eq=False)
class Step:
    """A place in the tree.

    Attributes:
        node: the node at it.
        depth: edges from its start.
        links: the edges to the node above; none for a start.
        first: the place where the node is expanded, when that is another one.
        children: the places below, in the order of path and line.
        below: how many places are below, at any depth.
    """

    node: int
    depth: int
    links: tuple[Link, ...] = ()
    first: "Step | None" = None
    children: "list[Step]" = field(default_factory=list)
    below: int = 0


@dataclass(frozen=True, slots=True)
class Traversal:
    """A traversal.

    Attributes:
        starts: the trees, in the order asked for.
        steps: every place, breadth first.
        other_kinds: how many neighbours were not followed because their kind was not asked for.
        cut: whether it ended because it had `MOST_NODES` places.
    """

    starts: tuple[Step, ...]
    steps: tuple[Step, ...]
    other_kinds: int
    cut: bool


class Limits(NamedTuple):
    """What is followed.

    Attributes:
        direction: along edges, against them, or both. With both, each path keeps the direction of its first
            edge (as in LocAgent), so that siblings of a start, which share only a container, don't count.
        hops: the most edges from a start; -1 for no limit.
        kinds: only entities of these kinds (the starts apart); all when empty.
        relations: only these; all when empty.
        weak: guessed edges too.
    """

    direction: Direction = Direction.FORWARD
    hops: int = 1
    kinds: Collection[EntityKind] = ()
    relations: Collection[RelationKind] = ()
    weak: bool = False


def traverse(graph: GraphView, starts: Sequence[int], limits: Limits) -> Traversal:
    """Follow edges from `starts`, breadth first. The answer depends on the graph alone."""
    walk = _Walk(graph, limits)
    trees = [walk.add_start(node) for node in dict.fromkeys(starts)]
    walk.run()
    for step in reversed(walk.steps):
        step.below = sum(1 + child.below for child in step.children)
    return Traversal(tuple(trees), tuple(walk.steps), len(walk.refused), walk.cut)


class _Walk:
    """A traversal on its way. A node may be expanded once for each sense in which it is reached."""

    def __init__(self, graph: GraphView, limits: Limits) -> None:
        self._graph = graph
        self._limits = limits
        self._kinds = frozenset(limits.kinds)
        self._relations = frozenset(limits.relations) or None
        self._expanded: dict[tuple[int, Direction], Step] = {}
        self._queue: deque[tuple[Step, Direction]] = deque()
        self.steps: list[Step] = []
        self.refused: set[int] = set()
        self.cut = False

    def add_start(self, node: int) -> Step:
        step = Step(node, 0)
        self.steps.append(step)
        for sense in _senses(self._limits.direction):
            self._expanded[node, sense] = step
        self._queue.append((step, self._limits.direction))
        return step

    def run(self) -> None:
        while self._queue:
            step, direction = self._queue.popleft()
            if self._limits.hops >= 0 and step.depth >= self._limits.hops:
                continue
            for node, forward, links in self._around(step.node, direction):
                if len(self.steps) >= MOST_NODES:
                    self.cut = True
                    return
                self._add_child(step, node, Direction.FORWARD if forward else Direction.BACKWARD, links)

    def _add_child(self, above: Step, node: int, sense: Direction, links: tuple[Link, ...]) -> None:
        first = self._expanded.get((node, sense))
        step = Step(node, above.depth + 1, links, first)
        above.children.append(step)
        self.steps.append(step)
        if first is None:
            self._expanded[node, sense] = step
            self._queue.append((step, sense))

    def _around(self, node: int, direction: Direction) -> list[tuple[int, bool, tuple[Link, ...]]]:
        """The neighbours to follow, several edges to one of them together."""
        links: dict[tuple[int, bool], list[Link]] = {}
        found = self._graph.neighbours(node, direction, self._relations, weak=self._limits.weak)
        for neighbour in found:
            if self._kinds and self._graph.kind(neighbour.node) not in self._kinds:
                self.refused.add(neighbour.node)
            else:
                links.setdefault((neighbour.node, neighbour.forward), []).append(_link(neighbour))
        return [(other, forward, tuple(ways)) for (other, forward), ways in links.items()]


def _link(neighbour: Neighbour) -> Link:
    return Link(neighbour.relation, neighbour.forward, neighbour.weak)


def _senses(direction: Direction) -> tuple[Direction, ...]:
    return (Direction.FORWARD, Direction.BACKWARD) if direction is Direction.BOTH else (direction,)
