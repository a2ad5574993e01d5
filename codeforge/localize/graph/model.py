"""The nouns of the graph: `RelationKind`, `Direction`, `Neighbour`, and the `GraphView` that readers use."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from codeforge.localize.model import Entity, EntityKind


class RelationKind(StrEnum):
    """Kinds of edges. An edge leads from the container, importer, caller or subclass to the other."""

    CONTAINS = "contains"
    IMPORTS = "imports"
    INVOKES = "invokes"
    INHERITS = "inherits"
    TESTS = "tests"
    """From a test function to the product code that it exercises (derived from `invokes` and `imports`)."""


class Direction(StrEnum):
    """Which edges of a node are followed."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"


class Neighbour(NamedTuple):
    """One end of an edge, seen from the other.

    Attributes:
        node: the node at the other end.
        relation: the edge's kind.
        forward: whether the edge leads to `node` (else from it).
        weak: the edge was guessed from a name that several entities have.
    """

    node: int
    relation: RelationKind
    forward: bool
    weak: bool


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Counts of nodes by kind and of edges by relation; `weak` are those of the edges that are guesses."""

    nodes: Mapping[EntityKind, int]
    edges: Mapping[RelationKind, int]
    weak: int


class GraphView(Protocol):
    """What readers of the graph may ask. Nodes are numbers below `len(graph)`; all answers are in a fixed
    order (by path, then by line), whatever the hash seed."""

    def __len__(self) -> int:
        """One more than the largest node number (numbers of removed nodes stay unused)."""
        ...

    def entity(self, node: int) -> Entity:
        """The entity of a node."""
        ...

    def kind(self, node: int) -> EntityKind:
        """Its kind, cheaply."""
        ...

    def find(self, entity_id: str) -> int | None:
        """The node with exactly this id (`dir/`, `path.py`, `path.py:Class.method`; the root is `/`)."""
        ...

    def named(self, name: str) -> Sequence[int]:
        """The classes and functions whose last name part equals `name`, ignoring case."""
        ...

    def names(self) -> Mapping[str, Sequence[int]]:
        """By last name part of classes and functions, as written, their nodes: for fuzzy matching."""
        ...

    def nodes(self) -> Sequence[int]:
        """All present nodes, in order of path and line; directories stand before what they contain."""
        ...

    def neighbours(
        self,
        node: int,
        direction: Direction = Direction.BOTH,
        relations: Collection[RelationKind] | None = None,
        *,
        weak: bool = False,
    ) -> Sequence[Neighbour]:
        """The ends of a node's edges (all relations when `None`), forward ones first; guessed edges only
        with `weak`."""
        ...

    def stats(self) -> GraphStats:
        """Counts."""
        ...
