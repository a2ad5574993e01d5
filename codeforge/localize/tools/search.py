"""`search_entity`: which entities keywords mean, by id, place, name, similar name and content."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from codeforge.localize.graph.model import GraphView
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.resolve import Resolver
from codeforge.localize.tools.written import Written
from codeforge.patch.scope import in_scope

_MOST_NEAR = 10
_MOST_WORDS_OF_A_NAME = 4
_MOST_CONTENT = 2_000
_FEW = 3
_IDENTIFIER = re.compile(r"[^\W\d][\w.:\- ]*")


class LexicalSearch(Protocol):
    """BM25 over the content of entities."""

    def search(self, text: str, limit: int) -> Sequence[tuple[int, float]]:
        """The entities whose content fits `text`: (node, score above 0), best first, at most `limit`."""
        ...


class MatchKind(StrEnum):
    """How an entity matched, surest first."""

    ID = "id"
    LINE = "line"
    NAME = "name"
    PATH = "path"
    LAST_NAME = "last part of the name"
    SIMILAR = "similar name"
    CONTENT = "content"

    @property
    def exact(self) -> bool:
        """Whether it is no matter of degree."""
        return self not in (MatchKind.SIMILAR, MatchKind.CONTENT)


class Match(NamedTuple):
    """One way in which an entity matched.

    Attributes:
        kind: how.
        keyword: what; several joined by a blank where they were searched together.
        score: 100 for exact kinds, 0–100 for similar names, 0 for similar paths, BM25's score for content.
    """

    kind: MatchKind
    keyword: str
    score: float


_NodeMatch = tuple[int, Match]


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity that matched.

    Attributes:
        node: it.
        matches: how, surest first; at least one.
        rivals: how many entities matched the first of these keywords as surely, itself included.
    """

    node: int
    matches: tuple[Match, ...]
    rivals: int


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        hits: best first, no more than the limit.
        more: how many further entities matched by id, place, or name.
        notes: what the caller should know: keywords that matched nothing.
        error: what is wrong with the question, and what to ask instead; else "".
    """

    hits: tuple[Hit, ...]
    more: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""


class EntitySearch:
    """Searches one graph.

    Like LocAgent's SearchEntity (Chen et al. 2025, arXiv 2503.09089): exact matches first, content where
    there is none; but every hit says how it matched, and the answer is the same each time.
    """

    def __init__(self, graph: GraphView, lexical: LexicalSearch, resolver: Resolver) -> None:
        self._graph = graph
        self._lexical = lexical
        self._resolver = resolver

    def search(
        self, keywords: Sequence[str], kinds: Collection[EntityKind] = (), path: str = "", limit: int = 10
    ) -> Found:
        """The entities that `keywords` mean, in turn from each keyword.

        Args:
            keywords: ids, `path:line`s, names, paths, or words that the content has.
            kinds: only these; all when empty.
            path: a glob that their paths match, read as in a `.gitignore`; "" for all.
            limit: the most hits.
        """
        asked = list(dict.fromkeys(keyword.strip() for keyword in keywords if keyword.strip()))
        if not asked:
            return Found((), error="There is no keyword: give names, ids, paths or words to search for.")
        if path and not any(in_scope(place, [path]) for place in self._files()):
            return Found((), error=self._no_such_path(path))
        wanted = _filter(self._graph, kinds, path)
        lists, notes, unresolved = [], [], []
        for keyword in asked:
            found = self._exactly(keyword, wanted)
            if not found:
                unresolved.append(keyword)
                found = self._similar(keyword, wanted)
                # A path that was mistyped says nothing of contents.
                if not found or "/" not in keyword:
                    found += self._content(keyword, wanted, limit)
            if not found:
                notes.append(f"nothing matches `{keyword}`")
            lists.append(found)
        if len(asked) > 1:
            lists = self._by_context(lists, " ".join(asked))
        if len(unresolved) > 1:
            lists.append(self._content(" ".join(unresolved), wanted, limit))
        hits = _merged(lists)
        sure = sum(hit.matches[0].kind.exact for hit in hits[limit:])
        return Found(tuple(hits[:limit]), sure, tuple(notes))

    def _by_context(self, lists: Sequence[list[_NodeMatch]], text: str) -> list[list[_NodeMatch]]:
        """Of many entities with one name, those come first whose content fits all keywords best."""
        if all(len(found) <= _FEW for found in lists):
            return list(lists)
        ranks = {node: rank for rank, (node, _) in enumerate(self._lexical.search(text, _MOST_CONTENT))}
        return [
            sorted(found, key=lambda pair: ranks.get(pair[0], _MOST_CONTENT))
            if len(found) > _FEW and found[0][1].kind.exact
            else found
            for found in lists
        ]

    def _files(self) -> Iterator[str]:
        for node in self._graph.nodes():
            if self._graph.kind(node) is EntityKind.FILE:
                yield self._graph.entity(node).path

    def _no_such_path(self, path: str) -> str:
        plain = re.sub(r"[*?\[\]!]+", "", path).replace("//", "/")
        near = self._resolver.names.nearest_paths(plain, 5)
        ids = ", ".join(f"`{self._graph.entity(node).id}`" for node in near)
        hint = f" Nearest paths: {ids}." if ids else " Leave it out to search everywhere."
        return f"No file matches the path glob `{path}`.{hint}"

    def _exactly(self, keyword: str, wanted: Callable[[int], bool]) -> list[_NodeMatch]:
        node = self._resolver.exact(keyword)
        if node is not None:
            return _matches([node], MatchKind.ID, keyword, wanted)
        written = self._resolver.read(keyword)
        if written.first:
            places = self._at_lines(written)
            return _matches(places, MatchKind.LINE, keyword, wanted)
        for kind, nodes in self._named(written):
            found = _matches(nodes, kind, keyword, wanted)
            if found:
                return found
        return []

    def _named(self, written: Written) -> Iterator[tuple[MatchKind, list[int]]]:
        names = self._resolver.names
        if written.name:
            yield MatchKind.NAME, names.named(written.name)
        if written.path and " " not in written.path:
            yield MatchKind.PATH, names.files_ending(written.path)
        if written.name:
            yield MatchKind.PATH, names.modules(written.name)
        if "." in written.name:
            yield MatchKind.LAST_NAME, names.named(written.name.rpartition(".")[2])

    def _at_lines(self, written: Written) -> list[int]:
        """The innermost entities of the lines that are asked for, in order."""
        files = [written.path] if self._graph.find(written.path) is not None else []
        files = files or [self._graph.entity(n).path for n in self._resolver.names.files_ending(written.path)]
        found = [
            self._resolver.at_line(path, line)
            for path in files
            for line in range(written.first, min(written.last, written.first + _MOST_CONTENT) + 1)
        ]
        return list(dict.fromkeys(node for node in found if node is not None))

    def _similar(self, keyword: str, wanted: Callable[[int], bool]) -> list[_NodeMatch]:
        written = self._resolver.read(keyword)
        if "/" in written.path and " " not in written.path:
            nearest = self._resolver.nearest(written)
            return [(node, Match(MatchKind.SIMILAR, keyword, 0.0)) for node in nearest if wanted(node)]
        name = (written.name or written.path).rpartition(".")[2]
        for candidate in dict.fromkeys((name, written.path.rpartition("/")[2])):
            words = candidate.split()
            if not 1 <= len(words) <= _MOST_WORDS_OF_A_NAME or not _IDENTIFIER.fullmatch(candidate):
                continue
            near = self._resolver.names.near(candidate, _MOST_NEAR)
            found = [(node, Match(MatchKind.SIMILAR, keyword, score)) for node, score in near if wanted(node)]
            if found:
                return found
        return []

    def _content(self, text: str, wanted: Callable[[int], bool], limit: int) -> list[_NodeMatch]:
        """Asks for more until enough are wanted, or there are no more."""
        asked = limit
        while True:
            ranked = self._lexical.search(text, asked)
            found = [(node, Match(MatchKind.CONTENT, text, score)) for node, score in ranked if wanted(node)]
            if len(found) >= limit or len(ranked) < asked or asked >= _MOST_CONTENT:
                return found[:limit]
            asked = min(_MOST_CONTENT, asked * 8)


def _filter(graph: GraphView, kinds: Collection[EntityKind], path: str) -> Callable[[int], bool]:
    wanted = frozenset(kinds)
    scope = [path] if path else []

    def accepts(node: int) -> bool:
        if wanted and graph.kind(node) not in wanted:
            return False
        entity = graph.entity(node)
        # A directory's id ends with a slash, which globs such as `src/` ask for.
        place = entity.id.lstrip("/") if entity.kind is EntityKind.DIRECTORY else entity.path
        return not scope or (bool(place) and in_scope(place, scope))

    return accepts


def _matches(
    nodes: Sequence[int], kind: MatchKind, keyword: str, wanted: Callable[[int], bool]
) -> list[_NodeMatch]:
    return [(node, Match(kind, keyword, 100.0)) for node in nodes if wanted(node)]


def _merged(lists: Sequence[Sequence[_NodeMatch]]) -> list[Hit]:
    """One hit a node. Ids and places stand first; then each list gives its best in turn, and among these a
    node that more lists have is first."""
    matches: dict[int, list[Match]] = {}
    places: dict[int, int] = {}
    rivals: dict[tuple[MatchKind, str], int] = {}
    order = list(MatchKind)
    for found in lists:
        for place, (node, match) in enumerate(found):
            matches.setdefault(node, []).append(match)
            places[node] = min(place, places.get(node, place))
            rivals[match.kind, match.keyword] = rivals.get((match.kind, match.keyword), 0) + 1
    hits: list[tuple[tuple[bool, int, int, int], Hit]] = []
    for node, ways in matches.items():
        ways.sort(key=lambda match: order.index(match.kind))
        first = ways[0]
        sure = first.kind in (MatchKind.ID, MatchKind.LINE)
        key = (not sure, places[node], -len(ways), order.index(first.kind))
        hits.append((key, Hit(node, tuple(ways), rivals[first.kind, first.keyword])))
    hits.sort(key=lambda pair: pair[0])
    return [hit for _, hit in hits]
