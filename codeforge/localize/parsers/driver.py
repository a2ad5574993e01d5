"""From a tree-sitter tree to a `ParsedFile`, the same way for every language.

The language's query names what it finds with these captures:

- `@function`, `@class`: definitions. `@scope`: a block that names what is inside and is no entity (`impl T`).
- `@outer`: a node that widens the definition ending with it (decorators, `export`).
- `@attribute`: a node that widens the definition starting right after it (`#[derive(...)]`).
- inside a definition: `@name`, `@body`, `@doc`, `@returns`, `@base` (one for each), `@owner` (the type of a
  method written outside of it).
- `@call`: the called expression; `@arguments`: where the called expression can only be captured with its
  arguments, these. `@super`: a call of the base class's constructor; `@superclass`: that class, where
  constructors have the names of their classes.
- `@component`: a call when its name is written like a class (JSX). `@token`: the last name of a call inside
  unparsed tokens (a macro's arguments). `@decorator`.
- `@import`: a statement that `RULES.imports` reads.
- `@comment`: a comment that documents the definition starting below it.
- pairs: `@hint.name` with `@hint.made` (a variable and the call that makes its value), `@typed.name` with
  `@typed.type`, `@field.name` with `@field.type` (a parameter that becomes an attribute), `@alias.name` with
  `@alias.value` (a variable and the one whose value it gets).
- `@local`: a variable that is bound in the function around it, and means nothing from outside there;
  `@outer_variable`: one that is not, although it is bound there (`global`).

Names starting with `_` are for the query's own predicates.
"""

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import (
    Import,
    Language,
    LanguageRules,
    ParsedFile,
    Reference,
    ReferenceKind,
    TypeHint,
    query_of,
)
from codeforge.localize.parsers.comments import comment_remover
from codeforge.localize.parsers.definitions import DEFINING, Definitions
from codeforge.localize.parsers.expressions import LONGEST_CHAIN, chain_of, made_type, type_of
from codeforge.localize.parsers.pairs import Pairing, Span, paired, shared
from codeforge.localize.parsers.source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

    Captured = Mapping[str, Sequence[Node]]

_CALL, _DECORATOR, _BASE = (
    int(kind) for kind in (ReferenceKind.CALL, ReferenceKind.DECORATOR, ReferenceKind.BASE)
)
_REMEMBERED = 50_000


class TreeSitterParser:
    """Implements `Parser` for one language."""

    def __init__(self, language: Language) -> None:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser, Query, QueryCursor

        grammar = Grammar(getattr(import_module(language.grammar), language.function)())
        self._parser = Parser(grammar)
        self._query = Query(grammar, query_of(language))
        self._cursor = QueryCursor
        self._rules = language.rules
        self._without_comments = comment_remover(language.comments)
        # The same few expressions are called everywhere.
        self._chains: dict[str, str] = {}

    def parse(self, source: bytes) -> ParsedFile:
        """See `Parser`."""
        root = self._parser.parse(source).root_node
        captured = self._cursor(self._query).captures(root)
        if root.has_error:
            captured = {name: list(nodes) for name, nodes in self._repaired(source, captured).items()}
        if len(self._chains) > _REMEMBERED:
            self._chains.clear()
        definitions = Definitions(Source(source), captured, self._without_comments)
        return _Reading(definitions, captured, self._rules, self._chains).result(root.has_error)

    def _parses(self, source: bytes) -> bool:
        return not self._parser.parse(source).root_node.has_error

    def _repaired(self, source: bytes, captured: "Captured") -> "Captured":
        """What is found without what is broken, and what can be read in that; `captured` when that is
        more."""
        repair = self._rules.repaired(source, self._parses)
        if repair is None:
            return captured
        found = self._cursor(self._query).captures(self._parser.parse(repair.source).root_node)
        if _defined(found) < _defined(captured):
            return captured
        for start, end in repair.blanked:
            for name, nodes in self._cursor(self._query).captures(self._part(source, start, end)).items():
                if name not in DEFINING:
                    found.setdefault(name, []).extend(nodes)
        return found

    def _part(self, source: bytes, start: int, end: int) -> "Node":
        """The tree of some bytes only, in their places."""
        from tree_sitter import Point, Range

        start += len(source[start:end]) - len(source[start:end].lstrip())
        first, last = (
            Point(source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1) for at in (start, end)
        )
        self._parser.included_ranges = [Range(first, last, start, end)]
        try:
            return self._parser.parse(source).root_node
        finally:
            self._parser.included_ranges = []


class _Reading:
    """One file being read."""

    def __init__(
        self, definitions: Definitions, captured: "Captured", rules: LanguageRules, chains: dict[str, str]
    ) -> None:
        self._source = definitions.source
        self._captured = captured
        self._rules = rules
        self._chains = chains
        self._definitions = definitions
        self._cut = {node.end_byte: node.start_byte for node in captured.get("arguments", ())}

    def result(self, has_errors: bool) -> ParsedFile:
        """Everything that the query found."""
        return ParsedFile(
            entities=self._definitions.entities(),
            imports=self._imports,
            references=self._references(),
            hints=list(dict.fromkeys(self._hints())),
            lines=self._source.lines,
            has_errors=has_errors,
        )

    @cached_property
    def _imports(self) -> list[Import]:
        return list(dict.fromkeys(self._imported()))

    def _imported(self) -> Iterator[Import]:
        for start, end in _spans(self._captured.get("import", ())):
            found = self._rules.imports(self._source.between(start, end))
            owner = self._definitions.ordinal_at(start) if self._rules.local_imports else 0
            yield from (item._replace(owner=owner) for item in found) if owner else found
        yield from self._rules.exports(self._source.data)

    def _references(self) -> list[Reference]:
        new = tuple.__new__
        used = self._called()
        named = dict.fromkeys(self._named())
        for owner, kind, chain in named:
            if kind == _DECORATOR:
                # It is called where the definition stands, not by what it decorates.
                used[owner].pop(chain, None)
        found = [
            new(Reference, (owner, _CALL, chain))
            for owner, chains in enumerate(used)
            for chain in sorted(chains)  # tree-sitter tells of them in another order each time
        ]
        found.extend(named)
        return found

    def _called(self) -> list[dict[str, None]]:
        """By the ordinal of the entity around it, what is called. The busiest loop of all."""
        text, between, known = self._source.text, self._source.between, self._chains
        positions, ordinals = self._definitions.positions, self._definitions.ordinals
        cut = self._cut
        used: list[dict[str, None]] = [{} for _ in range(self._definitions.count + 1)]
        low, high, inside = 0, -1, used[0]
        for node in self._captured.get("call", ()):
            start = node.start_byte
            end = node.end_byte
            if cut:
                end = cut.get(end, end)
            expression = text[start:end] if text is not None else between(start, end)
            chain = known.get(expression)
            if chain is None:
                chain = self._chain(expression)
            if not low <= start < high:
                place = bisect_right(positions, start)
                low, high, inside = positions[place - 1], positions[place], used[ordinals[place - 1]]
            if chain:
                inside[chain] = None
        for start, chain in self._components():
            used[self._definitions.ordinal_at(start)][chain] = None
        return used

    def _components(self) -> Iterator[tuple[int, str]]:
        """Calls that take a closer look: where they stand, and the chain."""
        for node in self._captured.get("component", ()):
            chain = chain_of(self._source.between(node.start_byte, node.end_byte))
            if "." in chain or chain[:1].isupper():
                yield node.start_byte, chain
        for start, _ in _spans(self._captured.get("super", ())):
            chain = self._super_constructor(start)
            if chain:
                yield start, chain
        data = self._source.data
        for node in self._captured.get("token", ()):
            start, end = node.start_byte, node.end_byte
            if data.startswith(b"(", end):
                begin = start
                while begin > 0 and (data[begin - 1 : begin].isalnum() or data[begin - 1] in b"_.:"):
                    begin -= 1
                chain = chain_of(self._source.between(begin, end).lstrip(".:"))
                if chain:
                    yield start, chain

    def _super_constructor(self, position: int) -> str:
        """The base class's constructor, as called at a byte."""
        if self._rules.constructor:
            return f"super().{self._rules.constructor}"
        around = self._definitions.at(position)
        while around is not None and around.kind is not EntityKind.CLASS:
            around = self._definitions.found[around.around] if around.around >= 0 else None
        for start, end in _spans(self._captured.get("superclass", ())) if around is not None else ():
            if self._definitions.at(start) is around:
                return chain_of(self._source.between(start, end))
        return ""

    def _named(self) -> Iterator[Reference]:
        """Decorators and base classes, in source order: members are looked for in the first base first."""
        for start, end in _spans(self._captured.get("decorator", ())):
            chain = chain_of(self._source.between(start, end))
            if chain:
                yield Reference(self._definitions.ordinal_at(start), _DECORATOR, chain)
        for start, end in _spans(self._captured.get("base", ())):
            chain = chain_of(self._source.between(start, end))
            owner = self._definitions.class_at(start)
            if chain and owner:
                yield Reference(owner, _BASE, chain)

    def _hints(self) -> Iterator[TypeHint]:
        yield from self._known_types()
        if "local" in self._captured:
            yield from self._shadows()

    def _shadows(self) -> Iterator[TypeHint]:
        """Variables of functions that hide what the file defines or imports by the same name."""
        hidden = self._names()
        for owner, name in sorted(self._bound("local", hidden) - self._bound("outer_variable", hidden)):
            yield TypeHint(owner, name, "")

    def _bound(self, capture: str, names: Container[str]) -> set[tuple[int, str]]:
        """Those of `names` that a capture found in functions: (owner, name)."""
        text, between = self._source.text, self._source.between
        found = set()
        for node in self._captured.get(capture, ()):
            start = node.start_byte
            name = text[start : node.end_byte] if text is not None else between(start, node.end_byte)
            if name in names:
                around = self._definitions.at(start)
                if around is not None and around.kind is EntityKind.FUNCTION:
                    found.add((around.ordinal, name))
        return found

    def _names(self) -> Container[str]:
        """The names that the file defines or imports outside of classes."""
        found = self._definitions.found
        defined = {
            item.name for item in found if item.around < 0 or found[item.around].kind is not EntityKind.CLASS
        }
        return defined.union(item.alias for item in self._imports)

    def _known_types(self) -> Iterator[TypeHint]:
        captured = self._captured
        if not any(name in captured for name in ("hint.name", "typed.name", "field.name")):
            return
        found = list(self._written())
        yield from found
        if "alias.name" in captured:
            known = {(hint.owner, hint.name): hint.type for hint in reversed(found)}
            for owner, name, value in self._pairs("alias.name", "alias.value", paired):
                kind = known.get((owner, value), "")
                if kind:
                    yield TypeHint(owner, name, kind)

    def _written(self) -> Iterator[TypeHint]:
        """What is declared, then what can be told from how values are made."""
        for owner, name, written in self._pairs("typed.name", "typed.type", shared):
            kind = type_of(written)
            if kind:
                yield TypeHint(owner, name, kind)
        for owner, name, written in self._pairs("field.name", "field.type", shared):
            kind = type_of(written)
            for instance in sorted(self._rules.instances) if kind else ():
                yield TypeHint(owner, f"{instance}.{name}", kind)
        for owner, name, made in self._pairs("hint.name", "hint.made", paired):
            if made[-1] == ">" and (kind := made_type(made)):
                yield TypeHint(owner, name, kind)
            elif (chain := self._chain(made)) and chain[0] != "?" and "(" not in chain:
                yield TypeHint(owner, name, chain + "()")

    def _pairs(self, first: str, second: str, pairing: Pairing) -> Iterator[tuple[int, str, str]]:
        """What two captures found together: (owner, chain of the first, text of the second)."""
        names = self._captured.get(first, ())
        if not names:
            return
        positions, ordinals = self._definitions.positions, self._definitions.ordinals
        between, known, cut = self._source.between, self._chains, self._cut
        for (start, end), (begin, stop) in pairing(_spans(names), _spans(self._captured.get(second, ()))):
            written = between(start, end)
            name = known.get(written) or self._chain(written)
            if name and name[0] != "?":
                value = between(begin, cut.get(stop, stop) if cut else stop)
                yield ordinals[bisect_right(positions, start) - 1], name, value

    def _chain(self, expression: str) -> str:
        chain = self._chains.get(expression)
        if chain is None:
            chain = chain_of(expression)
            if len(expression) <= LONGEST_CHAIN:
                self._chains[expression] = chain
        return chain


def _defined(captured: "Captured") -> int:
    """How many definitions were found."""
    return len(captured.get("function", ())) + len(captured.get("class", ()))


def _spans(nodes: "Sequence[Node]") -> list[Span]:
    return sorted([(node.start_byte, node.end_byte) for node in nodes])
