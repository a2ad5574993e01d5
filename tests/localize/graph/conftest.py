"""The edges of small repositories, by the ids of the entities."""

from collections.abc import Callable, Mapping

import pytest

from codeforge.localize.files import list_files
from codeforge.localize.graph.model import Direction, GraphView, RelationKind
from codeforge.localize.index import CodeIndex
from tests.localize.conftest import MakeRepo


class Edges:
    """Edges of a graph.

    Args:
        graph: where they are.
    """

    def __init__(self, graph: GraphView) -> None:
        self._graph = graph

    def of(self, source: str, relation: RelationKind, *, weak: bool = False) -> set[str]:
        """The ids to which an entity has an edge; with `weak` those of the guessed edges instead."""
        node = self._graph.find(source)
        assert node is not None, source
        found = self._graph.neighbours(node, Direction.FORWARD, (relation,), weak=weak)
        return {self._graph.entity(one.node).id for one in found if one.weak is weak}

    def invokes(self, source: str) -> set[str]:
        """What it surely invokes."""
        return self.of(source, RelationKind.INVOKES)

    def guesses(self, source: str) -> set[str]:
        """What it may invoke."""
        return self.of(source, RelationKind.INVOKES, weak=True)

    def imports(self, source: str) -> set[str]:
        """What it imports."""
        return self.of(source, RelationKind.IMPORTS)

    def inherits(self, source: str) -> set[str]:
        """Its bases."""
        return self.of(source, RelationKind.INHERITS)

    def tests(self, source: str) -> set[str]:
        """What it exercises."""
        return self.of(source, RelationKind.TESTS)


Link = Callable[[Mapping[str, str | bytes]], Edges]


@pytest.fixture
def link(make_repo: MakeRepo) -> Link:
    """The edges of a repository with these files."""

    def make(files: Mapping[str, str | bytes]) -> Edges:
        root = make_repo(files)
        with CodeIndex.open(root, list_files(root)) as index:
            return Edges(index.graph)

    return make
