"""The edges that one file's code makes: imports, invokes, inherits."""

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from codeforge.localize.graph.model import RelationKind
from codeforge.localize.graph.resolve import FOREIGN, Resolver, Value, ValueKind
from codeforge.localize.graph.scope import Scope, is_listing
from codeforge.localize.parsers.base import ReferenceKind, language_of

MOST_NAMESAKES = 3
"""A name that can't be resolved is linked (weakly) to those who have it only when they are so few."""


class Link(NamedTuple):
    """An edge between entities, each a (path, ordinal)."""

    source: tuple[str, int]
    target: tuple[str, int]
    relation: RelationKind
    weak: bool = False


def _common_names() -> frozenset[str]:
    """Names of built-in functions and of methods of built-in types: of a call that can't be resolved they say
    nothing about which namesake is meant."""
    types = (str, bytes, list, dict, set, tuple, int, float, str, memoryview, object, BaseException)
    names = {name for kind in types for name in dir(kind)} | set(dir(builtins))
    more = (
        *[
            "read",
            "write",
            "close",
            "open",
            "seek",
            "flush",
            "readline",
            "readlines",
            "writelines",
            "fileno",
            "name",
            "send",
            "throw",
            "put",
        ],
        *[
            "map",
            "filter",
            "reduce",
            "forEach",
            "push",
            "slice",
            "splice",
            "concat",
            "includes",
            "then",
            "catch",
            "finally",
            "toString",
        ],
        *[
            "match",
            "search",
            "group",
            "groups",
            "sub",
            "findall",
            "start",
            "end",
            "span",
            "run",
            "main",
            "test",
            "cancel",
            "wait",
            "submit",
        ],
        *[
            "len",
            "size",
            "begin",
            "end",
            "string",
            "unwrap",
            "clone",
            "into",
            "iter",
            "collect",
            "to_string",
            "ok",
            "err",
            "is_some",
            "println",
        ],
        *[
            "equals",
            "hashCode",
            "length",
            "contains",
            "isEmpty",
            "add",
            "get",
            "set",
            "put",
            "printf",
            "print",
        ],
    )
    return frozenset(names | set(more))


COMMON_NAMES = _common_names()

Namesakes = Callable[[str], Sequence[tuple[str, int, bool]]]
"""By last name part, the functions and classes that have it: (path, ordinal, whether no other is around
it)."""


class Linker:
    """Makes the edges of files.

    Args:
        resolver: of the tree.
        namesakes: who has a name.
    """

    def __init__(self, resolver: Resolver, namesakes: Namesakes) -> None:
        self._resolver = resolver
        self._namesakes = namesakes

    def links(self, path: str) -> list[Link]:
        """The edges that begin in a file, each once, in a fixed order."""
        scope = self._resolver.sources.scope(path)
        if scope is None:
            return []
        found = dict.fromkeys([*self._imports(scope), *self._uses(scope)])
        # What is known needs no guess.
        return [link for link in found if not (link.weak and link._replace(weak=False) in found)]

    def _imports(self, scope: Scope) -> Iterator[Link]:
        source = (scope.path, 0)
        for item in scope.parsed.imports:
            if is_listing(item):
                continue
            for path in self._resolver.sources.modules(scope, item.module):
                if path != scope.path:
                    yield Link(source, (path, 0), RelationKind.IMPORTS)
            if item.name in ("", "*"):
                continue
            value = self._resolver.imported(scope, item)
            if value is None or value.kind not in (ValueKind.MODULE, ValueKind.ENTITY):
                continue  # an object says nothing of where it was made
            if value.path != scope.path:
                yield Link(source, (value.path, 0), RelationKind.IMPORTS)
                if value.ordinal:
                    yield Link(source, (value.path, value.ordinal), RelationKind.IMPORTS)

    def _uses(self, scope: Scope) -> Iterator[Link]:
        for owner, kind, chain in scope.parsed.references:
            source = (scope.path, owner)
            if kind == ReferenceKind.CALL:
                value = self._resolver.chain(scope, owner, chain)
                yield from self._invoked(scope, source, chain, value)
                continue
            # Decorators and bases are evaluated where the definition stands.
            value = self._resolver.beside(scope, owner, chain)
            if kind == ReferenceKind.DECORATOR:
                yield from self._invoked(scope, source, chain, value)
            elif value is not None and value.kind is ValueKind.ENTITY and value[1:] != source:
                yield Link(source, (value.path, value.ordinal), RelationKind.INHERITS)

    def _invoked(
        self, scope: Scope, source: tuple[str, int], chain: str, value: Value | None
    ) -> Iterator[Link]:
        if value is FOREIGN:
            return
        if value is None:
            for target in self._guesses(scope, chain):
                if target != source:
                    yield Link(source, target, RelationKind.INVOKES, weak=True)
        elif value.kind is ValueKind.ENTITY:
            target = (value.path, value.ordinal)
            yield Link(source, target, RelationKind.INVOKES)
            constructor = self._constructor(value)
            if constructor is not None and constructor != source:
                yield Link(source, constructor, RelationKind.INVOKES)
        elif value.kind is ValueKind.INSTANCE:  # an object is called
            called = self._resolver.member(value.path, value.ordinal, "__call__")
            if called is not None and called.kind is ValueKind.ENTITY:
                yield Link(source, (called.path, called.ordinal), RelationKind.INVOKES)

    def _constructor(self, value: Value) -> tuple[str, int] | None:
        """What runs when a class is called."""
        scope = self._resolver.sources.scope(value.path)
        if scope is None or scope.rules.constructor is None or not scope.is_class(value.ordinal):
            return None
        name = scope.rules.constructor or scope.name(value.ordinal)
        found = self._resolver.member(value.path, value.ordinal, name)
        return (found.path, found.ordinal) if found is not None and found.kind is ValueKind.ENTITY else None

    def _guesses(self, scope: Scope, chain: str) -> list[tuple[str, int]]:
        """The few entities of that name and family of languages."""
        receiver, _, name = chain.rpartition(".")
        name = name.removesuffix("()")
        if len(name) < 3 or name in COMMON_NAMES:
            return []
        found = []
        for path, ordinal, is_top in self._namesakes(name):
            # A plain name can't be a method of something else.
            if (receiver or is_top) and _family(path) == scope.family:
                found.append((path, ordinal))
        return found if len(found) <= MOST_NAMESAKES else []


def _family(path: str) -> str:
    language = language_of(path)
    return language.family if language else ""
