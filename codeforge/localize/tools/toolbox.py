"""The three tools over one graph, without threads: what `GraphWorkspace` runs in its own."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from codeforge.localize.graph.model import GraphView
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.resolve import Resolved, Resolver
from codeforge.localize.tools.results import (
    Edge,
    FoundEntity,
    Reached,
    RetrievalResult,
    RetrievedEntity,
    SearchResult,
    TraversalResult,
)
from codeforge.localize.tools.retrieve import show_entities
from codeforge.localize.tools.search import EntitySearch, LexicalSearch
from codeforge.localize.tools.search_view import show_found
from codeforge.localize.tools.sources import Sources
from codeforge.localize.tools.traverse import Limits, Traversal, traverse
from codeforge.localize.tools.tree_view import show_traversal
from codeforge.localize.tools.views import View, Views


class GraphIndex(LexicalSearch, Protocol):
    """What the tools need of a code index.

    Attributes:
        graph: the code graph of its tree.
        notices: what the user should know of it.
    """

    @property
    def graph(self) -> GraphView:
        """The code graph."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know of the index."""
        ...


class Toolbox:
    """The tools over one state of a tree.

    Args:
        index: the graph and the search of contents.
        root: the folder that ids are relative to; sources are read below it.
    """

    def __init__(self, index: GraphIndex, root: Path) -> None:
        self._graph = index.graph
        self._root = root
        self._resolver = Resolver(self._graph, root)
        self._search = EntitySearch(self._graph, index, self._resolver)

    def search_entity(
        self,
        keywords: Sequence[str],
        budget: Budget,
        kinds: Collection[EntityKind] = (),
        path: str = "",
        limit: int = 10,
        view: View | None = None,
    ) -> SearchResult:
        """See `GraphWorkspace.search_entity`."""
        found = self._search.search(keywords, kinds, path, limit)
        if found.error:
            return SearchResult((), budget.clip(found.error), found.error)
        layout = show_found(found, self._graph, self._views(), budget, view)
        text = layout.text
        if not found.hits:
            hint = "Nothing was found. Try other names or words, or leave out path and kinds."
            text = budget.clip("\n".join([hint, *found.notes]))
        hits = tuple(
            FoundEntity(self._graph.entity(hit.node), hit.matches, *(shown or ("", "")))
            for hit, shown in zip(found.hits, layout.shown, strict=True)
        )
        return SearchResult(hits, text, "", found.notes, found.more)

    def traverse_graph(self, start_ids: Sequence[str], budget: Budget, limits: Limits) -> TraversalResult:
        """See `GraphWorkspace.traverse_graph`."""
        meant, errors = self._resolve(start_ids)
        traversal = traverse(self._graph, [item.node for item in meant], limits)
        notes = [*errors, *(item.note for item in meant if item.note)]
        if meant:
            text = show_traversal(traversal, self._graph, budget, notes)
        else:
            text = budget.clip("\n".join(notes))
        return TraversalResult(
            self._reached(traversal), self._edges(traversal), text, tuple(errors), not traversal.cut
        )

    def retrieve_entity(self, ids: Sequence[str], budget: Budget) -> RetrievalResult:
        """See `GraphWorkspace.retrieve_entity`."""
        meant, errors = self._resolve(ids)
        layout = show_entities(meant, errors, self._graph, self._views(), budget)
        entities = tuple(
            RetrievedEntity(self._graph.entity(item.node), *(shown or ("", "")))
            for item, shown in zip(meant, layout.shown, strict=True)
        )
        return RetrievalResult(entities, layout.text, tuple(errors))

    def _views(self) -> Views:
        """With sources read anew: files change between calls."""
        return Views(self._graph, Sources(self._root))

    def _resolve(self, ids: Sequence[str]) -> tuple[list[Resolved], list[str]]:
        meant: dict[tuple[int, int, int], Resolved] = {}
        errors: list[str] = []
        for text in dict.fromkeys(ids):
            item = self._resolver.resolve(text)
            if isinstance(item, Resolved):
                meant.setdefault((item.node, item.first, item.last), item)
            else:
                errors.append(item.error)
        if not meant and not errors:
            errors.append(
                "There is no id: give ids such as `path/to/file.py:Class.method`, `path/to/file.py` or `/`."
            )
        return list(meant.values()), errors

    def _reached(self, traversal: Traversal) -> tuple[Reached, ...]:
        depths: dict[int, int] = {}
        for step in traversal.steps:
            depths.setdefault(step.node, step.depth)
        return tuple(Reached(self._graph.entity(node), depth) for node, depth in depths.items())

    def _edges(self, traversal: Traversal) -> tuple[Edge, ...]:
        found: dict[Edge, None] = {}
        for step in traversal.steps:
            own = self._graph.entity(step.node).id
            for child in step.children:
                other = self._graph.entity(child.node).id
                for link in child.links:
                    ends = (own, other) if link.forward else (other, own)
                    found[Edge(ends[0], link.relation, ends[1], link.weak)] = None
        return tuple(found)
