"""The definitions of one file: where they stand, what is inside what, and their names."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import ParsedEntity
from codeforge.localize.parsers.comments import Comments
from codeforge.localize.parsers.expressions import type_of
from codeforge.localize.parsers.source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

    Captured = Mapping[str, Sequence[Node]]

_OUTER, _FUNCTION, _CLASS, _SCOPE = range(4)
_CAPTURES = (("outer", _OUTER), ("function", _FUNCTION), ("class", _CLASS), ("scope", _SCOPE))
DEFINING = frozenset(
    (*(name for name, _ in _CAPTURES), "attribute", "name", "owner", "body", "doc", "returns")
)
"""The captures that make definitions; the others say what is used where."""
_KINDS = (None, EntityKind.FUNCTION, EntityKind.CLASS, None)
_LONGEST_SIGNATURE = 400
_GENERICS = re.compile(r"<[^<>]*>")
_NOT_NAME = re.compile(r"[^\w.$~]+")
_OPERATOR = re.compile(r"(?:^|(?<=\W))operator\b(.*)", re.DOTALL)
_QUOTES = re.compile(r'[rRbBuUfF]{0,2}("""|\'\'\'|"|\')(.*?)\1', re.DOTALL)


class Definition:
    """A definition on its way to an entity.

    Attributes:
        kind: `None` for a scope, which is no entity.
        node: the first byte of it without decorators.
        start, end: its bytes; first, last: its lines, 1-based, inclusive.
        around: the place of the one around it, -1 for the file.
        ordinal: of the entity; of a scope that of the entity around it.
    """

    last = ordinal = 0
    body = -1
    name = qualname = owner = doc = returns = ""

    def __init__(
        self, kind: EntityKind | None, node: int, start: int, end: int, first: int, around: int
    ) -> None:
        self.kind = kind
        self.node = node
        self.start = start
        self.end = end
        self.first = first
        self.around = around


class Definitions:
    """The definitions that a query found in a file.

    Args:
        source: the file.
        captured: what the query found.
        without_comments: takes the comments out of a signature.

    Attributes:
        source: as given.
        found: in source order.
        count: how many of them are entities.
        positions, ordinals: from byte `positions[n]` on (up to the next) the innermost entity is
            `ordinals[n]`; the first position is before the file, the last behind it.
    """

    def __init__(self, source: Source, captured: "Captured", without_comments: Callable[[str], str]) -> None:
        self.source = source
        self._without_comments = without_comments
        self._captured = captured
        self.found: list[Definition] = []
        self.positions: list[int] = [-1]
        self._inner: list[int] = [-1]
        self._classes: dict[str, int] | None = None
        self.count = 0
        self._arrange()
        self._name()
        self._number()
        self._describe()
        places = [item.ordinal for item in self.found]
        places.append(0)
        self.ordinals = [places[place] for place in self._inner]

    def at(self, position: int) -> Definition | None:
        """The innermost definition that holds a byte."""
        place = self._inner[bisect_right(self.positions, position) - 1]
        return self.found[place] if place >= 0 else None

    def ordinal_at(self, position: int) -> int:
        """The ordinal of the innermost entity that holds a byte, 0 for the file."""
        return self.ordinals[bisect_right(self.positions, position) - 1]

    def class_at(self, position: int) -> int:
        """The ordinal of the class that is described at a byte; a scope (`impl T`) describes the class of its
        name. 0 when it isn't in this file."""
        item = self.at(position)
        if item is None or item.kind is not None:
            return item.ordinal if item is not None else 0
        if self._classes is None:
            self._classes = {one.qualname: one.ordinal for one in self.found if one.kind is EntityKind.CLASS}
        return self._classes.get(item.qualname, 0)

    def entities(self) -> list[ParsedEntity]:
        """The entities; ordinal n is the n-th."""
        return [self._entity(item) for item in self.found if item.kind is not None]

    def _marks(self) -> list[tuple[int, int, int]]:
        marks = [
            (node.start_byte, -node.end_byte, kind)
            for capture, kind in _CAPTURES
            for node in self._captured.get(capture, ())
        ]
        marks.sort()  # what is outside stands before what is inside
        return marks

    def _arrange(self) -> None:
        """Find what is inside what, and on which lines it stands, in one sweep over all starts and ends."""
        found, positions, inner = self.found, self.positions, self._inner
        count = self.source.data.count
        attributes = self._attributes()
        pending: dict[int, int] = {}
        before = (-1, 0)
        stack: list[int] = []
        row = last = 0
        for node, negative, mark in self._marks():
            end = -negative
            if mark == _OUTER:
                pending.setdefault(end, node)
                continue
            if before == (node, end):
                continue  # two patterns found it
            start = pending.pop(end, node)
            if start < before[0]:
                start = node  # another definition begins in between
            while start in attributes:
                start = attributes[start]
            before = (node, end)
            while stack and found[stack[-1]].end <= start:
                item = found[stack.pop()]
                row += count(b"\n", last, item.end)
                last = item.end
                self._close(item, row)
            row += count(b"\n", last, start)
            last = start
            place = len(found)
            found.append(Definition(_KINDS[mark], node, start, end, row + 1, stack[-1] if stack else -1))
            positions.append(start)
            inner.append(place)
            stack.append(place)
        while stack:
            item = found[stack.pop()]
            row += count(b"\n", last, item.end)
            last = item.end
            self._close(item, row)
        positions.append(len(self.source.data) + 1)
        inner.append(-1)

    def _close(self, item: Definition, row: int) -> None:
        """A definition has ended on a row (0-based)."""
        item.last = max(item.first, row + (not self.source.data.startswith(b"\n", item.end - 1)))
        self.positions.append(item.end)
        self._inner.append(item.around)

    def _attributes(self) -> dict[int, int]:
        """By the place where the thing after it starts, the start of an attribute."""
        starts: dict[int, int] = {}
        data = self.source.data
        for node in self._captured.get("attribute", ()):
            end = node.end_byte
            while end < len(data) and data[end] in b" \t\n\r":
                end += 1
            starts[end] = node.start_byte
        return starts

    def _name(self) -> None:
        between, at = self.source.between, self.at
        for node in self._captured.get("name", ()):
            start = node.start_byte
            item = at(start)
            if item is not None and not item.name:
                item.name = _named(between(start, node.end_byte))
        for node in self._captured.get("owner", ()):
            start = node.start_byte
            item = at(start)
            if item is not None and not item.owner:
                item.owner = type_of(between(start, node.end_byte))

    def _number(self) -> None:
        found = self.found
        ordinal = 0
        for item in found:
            around = found[item.around] if item.around >= 0 else None
            if not item.name:
                item.kind = None
            if item.kind is not None:
                ordinal += 1
                item.ordinal = ordinal
            elif around is not None:
                item.ordinal = around.ordinal
            name = f"{item.owner}.{item.name}" if item.owner and item.name else item.name
            if around is None or not around.qualname:
                item.qualname = name
            else:
                item.qualname = f"{around.qualname}.{name}" if name else around.qualname
        self.count = ordinal

    def _describe(self) -> None:
        between, at = self.source.between, self.at
        for node in self._captured.get("body", ()):
            start = node.start_byte
            item = at(start)
            while item is not None and item.start == start:  # it begins the body of the one around it
                item = self.found[item.around] if item.around >= 0 else None
            if item is not None and item.body < 0:
                item.body = start
        for node in self._captured.get("doc", ()):
            item = at(node.start_byte)
            if item is not None and not item.doc:
                item.doc = _unquoted(between(node.start_byte, node.end_byte))
        for node in self._captured.get("returns", ()):
            item = at(node.start_byte)
            if item is not None and not item.returns:
                item.returns = type_of(between(node.start_byte, node.end_byte))
        comments = self._captured.get("comment")
        if comments:
            read = Comments(self.source, comments)
            for item in self.found:
                if not item.doc and item.kind is not None:
                    item.doc = read.above(item.start, item.first)

    def _entity(self, item: Definition) -> ParsedEntity:
        kind = item.kind
        assert kind is not None
        head = self.source.between(item.node, item.body if item.body >= 0 else item.end)
        head = self._without_comments(head[: 4 * _LONGEST_SIGNATURE])
        signature = " ".join(head.split())[:_LONGEST_SIGNATURE]
        return ParsedEntity(
            kind,
            item.qualname,
            self.found[item.around].ordinal if item.around >= 0 else 0,
            item.first,
            item.last,
            signature.replace("\0", "") if "\0" in signature else signature,
            item.doc,
            item.start,
            item.end,
            item.returns,
        )


def _named(written: str) -> str:
    """A name as it is written where it is defined, as part of a qualified name."""
    if written.isidentifier():
        return written
    operator = _OPERATOR.search(written)
    symbol = ""
    if operator is not None:
        written = written[: operator.start()]
        symbol = "operator" + "".join(operator[1].split()).replace("::", "_").replace(".", "")
    while "<" in written:
        shorter = _GENERICS.sub("", written)
        if shorter == written:
            break
        written = shorter
    name = _NOT_NAME.sub("", written.replace("::", ".")).strip(".")
    return f"{name}.{symbol}" if name and symbol else name or symbol


def _unquoted(doc: str) -> str:
    quoted = _QUOTES.fullmatch(doc)
    return (quoted[2] if quoted else doc).replace("\0", "").strip()
