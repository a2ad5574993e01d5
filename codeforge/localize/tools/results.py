"""What the three tools answer."""

from dataclasses import dataclass
from typing import NamedTuple

from codeforge.localize.graph.model import RelationKind
from codeforge.localize.model import Entity
from codeforge.localize.tools.search import Match


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A hit of `search_entity`.

    Attributes:
        entity: it.
        matches: how it matched, surest first.
        view: how it is shown: a `View`, or "" when it did not fit.
        text: what is shown of it.
    """

    entity: Entity
    matches: tuple[Match, ...]
    view: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Of `search_entity`.

    Attributes:
        hits: best first.
        text: all of it as a model reads it, within the budget.
        error: what is wrong with the question and what to ask instead; else "".
        notes: keywords that matched nothing.
        more: further sure matches beyond the limit.
    """

    hits: tuple[FoundEntity, ...]
    text: str
    error: str = ""
    notes: tuple[str, ...] = ()
    more: int = 0


class Edge(NamedTuple):
    """An edge that was followed: from one id to another; weak when it is a guess."""

    source: str
    relation: RelationKind
    target: str
    weak: bool


class Reached(NamedTuple):
    """An entity that was reached, and how many edges it is from the nearest start."""

    entity: Entity
    depth: int


@dataclass(frozen=True, slots=True)
class TraversalResult:
    """Of `traverse_graph`.

    Attributes:
        reached: the entities, breadth first, the starts among them.
        edges: the edges followed, in that order.
        text: the tree, within the budget.
        errors: start ids that no entity has, with what to write instead.
        complete: whether all was followed that was asked for (else there are too many).
    """

    reached: tuple[Reached, ...]
    edges: tuple[Edge, ...]
    text: str
    errors: tuple[str, ...] = ()
    complete: bool = True

    @property
    def error(self) -> str:
        """All errors as one text, or ""."""
        return "\n".join(self.errors)


class RetrievedEntity(NamedTuple):
    """An entity of `retrieve_entity`; `view` is how it is shown ("" if it didn't fit), `text` its source."""

    entity: Entity
    view: str
    text: str


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Of `retrieve_entity`.

    Attributes:
        entities: in the order asked for.
        text: all of it as a model reads it, within the budget.
        errors: ids that no entity has, with what to write instead.
    """

    entities: tuple[RetrievedEntity, ...]
    text: str
    errors: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """All errors as one text, or ""."""
        return "\n".join(self.errors)
