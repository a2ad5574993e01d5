"""From a tree-sitter tree to a `ParsedFile`, the same way for every language.

The language's query names what it finds with these captures:

- `@function`, `@class`: definitions. `@scope`: a block that names the things inside it and is no entity (`impl T`).
- `@outer`: a node that widens the definition ending with it (decorators, `export`).
- inside a definition: `@name`, `@body`, `@doc`, `@returns`, `@bases`, `@owner` (the type of a method written outside of it).
- `@call`: the called expression; `@decorator`; `@import`: a statement that `RULES.imports` reads.
- `@comment`: a comment that documents the definition starting below it.
- `@hint.name` with `@hint.made` (a variable and the call that makes its value), `@typed.name` with `@typed.type`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import (
    Import,
    Language,
    LanguageRules,
    ParsedEntity,
    ParsedFile,
    Reference,
    ReferenceKind,
    TypeHint,
    query_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_BLANKS = re.compile(r"\s+")
_PLAIN = re.compile(r"[\w$]+(?:\.[\w$]+)*", re.ASCII)
_SEPARATORS = re.compile(r"::|->|\?\.|!\.")
_NOT_NAME = re.compile(r"[^\w.$]+")
_QUOTES = re.compile(r'^[rRbBuUfF]{0,2}("""|\'\'\'|"|\')(.*?)\1$', re.DOTALL)
_COMMENT = re.compile(r"^\s*(?:///?!?|/\*\*?|\*/|\*(?!/)|#+)[ \t]?|\*/\s*$", re.MULTILINE)
_TYPE_WORDS = re.compile(r"[A-Za-z_][\w.]*")
_WRAPPERS = frozenset(
    ("Optional", "Union", "None", "Annotated", "ClassVar", "Final", "Type", "type", "typing", "t", "const", "mut")
)
_MAX_SIGNATURE = 400
_MAX_CHAIN = 120


@dataclass(slots=True)
class _Definition:
    """A definition on its way; `ordinal` 0 is a scope, which is no entity."""

    kind: EntityKind | None
    node: "Node"
    start: int
    end: int
    place: int = 0
    parent: int = -1
    ordinal: int = 0
    name: str = ""
    qualname: str = ""
    owner: str = ""
    body: int = -1
    doc: str = ""
    returns: str = ""
    bases: str = ""


class TreeSitterParser:
    """Implements `Parser` for one language."""

    def __init__(self, language: Language) -> None:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser, Query

        grammar = Grammar(getattr(import_module(language.grammar), language.function)())
        self._parser = Parser(grammar)
        self._query = Query(grammar, query_of(language))
        self._rules = language.rules

    def parse(self, source: bytes) -> ParsedFile:
        """See `Parser`."""
        from tree_sitter import QueryCursor

        tree = self._parser.parse(source)
        captured = QueryCursor(self._query).captures(tree.root_node)
        return _Reading(source, captured, self._rules).result(tree.root_node.has_error)


class _Reading:
    """One file being read."""

    def __init__(self, source: bytes, captured: "Mapping[str, list[Node]]", rules: LanguageRules) -> None:
        self._source = source
        # In pure ASCII bytes and characters have the same offsets, and slices of text need no decoding.
        self._text = source.decode("ascii") if source.isascii() else None
        self._captured = captured
        self._rules = rules
        self._definitions = self._nested()
        self._starts = [item.start for item in self._definitions]

    def result(self, has_errors: bool) -> ParsedFile:
        """Everything that the query found."""
        self._fill()
        lines = self._source.count(b"\n") + (not self._source.endswith(b"\n") and bool(self._source))
        return ParsedFile(
            entities=[self._entity(item) for item in self._definitions if item.kind is not None],
            imports=list(dict.fromkeys(self._imports())),
            references=list(dict.fromkeys(self._references())),
            hints=list(dict.fromkeys(self._hints())),
            lines=lines,
            has_errors=has_errors,
        )

    def _slice(self, start: int, end: int) -> str:
        if self._text is not None:
            return self._text[start:end]
        return self._source[start:end].decode("utf-8", "replace")

    def _nodes(self, capture: str) -> "Iterator[tuple[int, int, Node]]":
        found = [(node.start_byte, node.end_byte, node) for node in self._captured.get(capture, ())]
        found.sort(key=_by_place)
        return iter(found)

    def _nested(self) -> list[_Definition]:
        """The definitions in source order, each linked to the innermost one around it."""
        found = [
            _Definition(kind, node, start, end)
            for capture, kind in (("function", EntityKind.FUNCTION), ("class", EntityKind.CLASS), ("scope", None))
            for start, end, node in self._nodes(capture)
        ]
        outer: dict[int, list[tuple[int, Node]]] = {}
        for start, end, node in self._nodes("outer"):
            outer.setdefault(end, []).append((start, node))
        for item in found if outer else ():
            wider = [pair for pair in outer.get(item.end, ()) if pair[0] <= item.start]
            if wider:
                item.start = max(start for start, _ in wider)
        found.sort(key=lambda item: (item.start, -item.end))
        stack: list[_Definition] = []
        for place, item in enumerate(found):
            while stack and stack[-1].end <= item.start:
                stack.pop()
            item.place = place
            item.parent = stack[-1].place if stack else -1
            stack.append(item)
        return found

    def _around(self, position: int) -> _Definition | None:
        """The innermost definition that holds a byte."""
        place = bisect_right(self._starts, position) - 1
        while place >= 0:
            item = self._definitions[place]
            if item.end > position:
                return item
            place = item.parent
        return None

    def _owner(self, position: int) -> int:
        """The ordinal of the innermost entity that holds a byte; a scope's holder stands for the scope."""
        item = self._around(position)
        while item is not None and item.ordinal == 0:
            item = self._definitions[item.parent] if item.parent >= 0 else None
        return item.ordinal if item is not None else 0

    def _fill(self) -> None:
        """Give every definition its name and what else the query found inside it; number the entities."""
        for start, end, _ in self._nodes("name"):
            item = self._around(start)
            if item is not None and not item.name:
                item.name = _NOT_NAME.sub("", self._slice(start, end).replace("::", "."))
        for start, end, _ in self._nodes("owner"):
            item = self._around(start)
            if item is not None:
                item.owner = ".".join(_type_names(self._slice(start, end))[:1])
        for start, _, _ in self._nodes("body"):
            item = self._around(start)
            if item is not None and item.body < 0:
                item.body = start
        for capture in ("doc", "returns", "bases"):
            for start, end, _ in self._nodes(capture):
                item = self._around(start)
                if item is not None and not getattr(item, capture):
                    setattr(item, capture, self._slice(start, end))
        self._attach_comments()
        ordinal = 0
        for item in self._definitions:
            if item.kind is not None:
                ordinal += 1
                item.ordinal = ordinal
            around = self._definitions[item.parent].qualname if item.parent >= 0 else ""
            item.qualname = ".".join(part for part in (around, item.owner, item.name) if part)

    def _attach_comments(self) -> None:
        """A comment directly above a definition documents it."""
        ends: dict[int, tuple[int, str]] = {}
        for start, end, node in self._nodes("comment"):
            text = self._slice(start, end)
            row = node.end_point[0] - (text.endswith("\n"))
            above = ends.pop(node.start_point[0] - 1, None)
            ends[row] = (start, f"{above[1]}\n{text}" if above else text)
        for item in self._definitions if ends else ():
            row = self._source.count(b"\n", 0, item.start)
            if row - 1 in ends and not item.doc:
                item.doc = _COMMENT.sub("", ends[row - 1][1]).strip()

    def _entity(self, item: _Definition) -> ParsedEntity:
        kind = item.kind
        assert kind is not None
        head = self._slice(item.node.start_byte, item.body if item.body >= 0 else item.end)
        first = self._line(item.start)
        quoted = _QUOTES.match(item.doc)
        return ParsedEntity(
            kind,
            item.qualname,
            self._owner_of(item),
            first,
            max(first, self._line(max(item.end - 1, item.start))),
            _BLANKS.sub(" ", head).strip()[:_MAX_SIGNATURE],
            quoted[2].strip() if quoted else item.doc,
            item.start,
            item.end,
            ".".join(_type_names(item.returns)[:1]),
        )

    def _owner_of(self, item: _Definition) -> int:
        parent = self._definitions[item.parent] if item.parent >= 0 else None
        while parent is not None and parent.ordinal == 0:
            parent = self._definitions[parent.parent] if parent.parent >= 0 else None
        return parent.ordinal if parent is not None else 0

    def _line(self, position: int) -> int:
        """The 1-based line of a byte."""
        if not hasattr(self, "_breaks"):
            self._breaks = [match.start() for match in re.finditer(b"\n", self._source)]
        return bisect_right(self._breaks, position - 1) + 1

    def _imports(self) -> Iterator[Import]:
        for start, end, _ in self._nodes("import"):
            yield from self._rules.imports(self._slice(start, end))

    def _references(self) -> Iterator[Reference]:
        for capture, kind in (("call", ReferenceKind.CALL), ("decorator", ReferenceKind.DECORATOR)):
            for start, end, _ in self._nodes(capture):
                chain = chain_of(self._slice(start, end))
                if chain:
                    yield Reference(self._owner(start), int(kind), chain)
        for item in self._definitions:
            for base in _listed(item.bases):
                chain = chain_of(base)
                if chain:
                    yield Reference(item.ordinal, int(ReferenceKind.BASE), chain)

    def _hints(self) -> Iterator[TypeHint]:
        for name, kind, made in (("hint.name", "hint.made", True), ("typed.name", "typed.type", False)):
            names, types = list(self._nodes(name)), list(self._nodes(kind))
            if len(names) != len(types):
                continue  # broken source: the pairs can't be told apart
            for (start, end, _), (first, last, _) in zip(names, types, strict=True):
                written = self._slice(first, last)
                chain = f"{chain_of(written)}()" if made else ".".join(_type_names(written)[:1])
                bound = chain_of(self._slice(start, end))
                if len(chain) > 2 and bound and not bound.startswith("?"):
                    yield TypeHint(self._owner(start), bound, chain)


def _by_place(found: "tuple[int, int, Node]") -> tuple[int, int]:
    return found[0], -found[1]


def chain_of(expression: str) -> str:
    """An expression as a chain of names: `a.b`, `Class().b`, `?.b`; "" when it ends in no name."""
    if len(expression) <= _MAX_CHAIN and _PLAIN.fullmatch(expression):
        return expression
    text = _SEPARATORS.sub(".", _BLANKS.sub("", expression))
    if len(text) <= _MAX_CHAIN and _PLAIN.fullmatch(text):
        return text
    head, dot, last = text.rpartition(".")
    if not _PLAIN.fullmatch(last):
        return ""
    if not dot:
        return last
    made = _made(head)
    return f"{made}.{last}" if made else f"?.{last}"


def _made(expression: str) -> str:
    """`Class(x, y)` → `Class()`, when nothing else stands there."""
    if not expression.endswith(")"):
        return ""
    depth = 0
    for place in range(len(expression) - 1, -1, -1):
        depth += (expression[place] == ")") - (expression[place] == "(")
        if depth == 0:
            name = expression[:place]
            return f"{name}()" if len(name) <= _MAX_CHAIN and _PLAIN.fullmatch(name) else ""
    return ""


def _listed(bases: str) -> list[str]:
    """The base classes of a bracketed list; keyword arguments and type parameters are left out."""
    inner = bases.strip().removeprefix("(").removesuffix(")")
    parts: list[str] = []
    depth, last = 0, 0
    for place, char in enumerate(inner):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(inner[last:place])
            last = place + 1
    parts.append(inner[last:])
    return [re.split(r"[\[<(]", part.strip())[0].strip() for part in parts if part.strip() and "=" not in part]


def _type_names(written: str) -> Sequence[str]:
    """The class names in a type; wrappers such as `Optional` and `None` left out; containers give nothing."""
    text = written.strip().strip("\"'").lstrip("*&").removeprefix(":").removeprefix("->").strip()
    if not text:
        return ()
    names = [name for name in _TYPE_WORDS.findall(text) if name.rpartition(".")[2] not in _WRAPPERS]
    plain = re.sub(r"\b(?:typing\.|t\.)?(?:Optional|Union|Annotated|Type|type|ClassVar|Final)\b|None", "", text)
    container = re.match(r"[\w.]+\s*[\[<]", plain.strip(" []|"))
    return () if container and not text.startswith(("Optional", "Union", "t.", "typing.")) else names
