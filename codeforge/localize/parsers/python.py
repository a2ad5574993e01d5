"""Python through tree-sitter: entities, imports, calls; files with syntax errors give what parses."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import LanguageParser, ParsedEntity, ParsedFile

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
(function_definition name: (identifier) @name) @definition
(class_definition name: (identifier) @name) @definition
(call function: [(identifier) @called (attribute attribute: (identifier) @called)])
(import_statement) @import
(import_from_statement) @import
"""

_BLANKS = re.compile(r"\s+")
_IMPORT_FROM = re.compile(r"from\s+(\S+)\s+import\s+(.*)", re.DOTALL)
_NO_NAMES = re.compile(r"#[^\n]*|[()\\]")
_QUOTES = re.compile(r'^[rRbBuUfF]{0,2}("""|\'\'\'|"|\')(.*?)\1$', re.DOTALL)
_MAX_SIGNATURE = 400


@dataclass(slots=True)
class _Found:
    """A definition on its way: byte offsets of the node with its decorators, and what lies inside."""

    name: str
    kind: EntityKind
    start: int
    end: int
    first_row: int
    last_row: int
    signature: str
    docstring: str
    bases: tuple[str, ...]
    parent: "_Found | None" = None
    children: list["_Found"] = field(default_factory=list)
    calls: dict[str, None] = field(default_factory=dict)

    @property
    def qualname(self) -> str:
        return f"{self.parent.qualname}.{self.name}" if self.parent else self.name


class PythonParser:
    """Implements `LanguageParser`."""

    def __init__(self) -> None:
        import tree_sitter_python
        from tree_sitter import Language, Parser, Query

        language = Language(tree_sitter_python.language())
        self._parser = Parser(language)
        self._query = Query(language, _QUERY)

    def parse(self, text: str) -> ParsedFile:
        """See `LanguageParser`."""
        from tree_sitter import QueryCursor

        source = text.encode("utf-8", "replace")
        tree = self._parser.parse(source)
        found_nodes = QueryCursor(self._query).captures(tree.root_node)
        captured = {
            name: sorted(nodes, key=lambda node: node.start_byte) for name, nodes in found_nodes.items()
        }
        found = _nested([_definition(node, source) for node in captured.get("definition", ())])
        file_calls = _assign_calls(captured.get("called", ()), found, source)
        imports = [name for node in captured.get("import", ()) for name in _imported(_text(node, source))]
        top = [item for item in found if item.parent is None]
        return ParsedFile(
            entities=tuple(_entity(item, source) for item in found),
            imports=tuple(dict.fromkeys(imports)),
            text=_without(source, 0, len(source), top),
            calls=tuple(file_calls),
            lines=text.count("\n") + (not text.endswith("\n") and bool(text)),
            has_errors=tree.root_node.has_error,
        )


def create() -> LanguageParser:
    """The parser, for the registry."""
    return PythonParser()


def _text(node: "Node", source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _definition(node: "Node", source: bytes) -> _Found:
    outer = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    body = node.child_by_field_name("body")
    name = node.child_by_field_name("name")
    is_class = node.type == "class_definition"
    head_end = body.start_byte if body is not None else node.end_byte
    head = source[node.start_byte : head_end].decode("utf-8", "replace")
    return _Found(
        name=_text(name, source) if name is not None else "",
        kind=EntityKind.CLASS if is_class else EntityKind.FUNCTION,
        start=outer.start_byte,
        end=outer.end_byte,
        first_row=outer.start_point[0],
        last_row=_last_row(outer),
        signature=_signature(head),
        docstring=_docstring(body, source),
        bases=_bases(node, source) if is_class else (),
    )


def _last_row(node: "Node") -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _signature(head: str) -> str:
    """The header in one line; comments after its colon are dropped."""
    line = _BLANKS.sub(" ", re.sub(r":\s*#[^\n]*\s*$", ":", head)).strip()
    return line[:_MAX_SIGNATURE]


def _docstring(body: "Node | None", source: bytes) -> str:
    if body is None or not body.named_children:
        return ""
    first = next((child for child in body.named_children if child.type != "comment"), None)
    if first is not None and first.type == "expression_statement" and first.named_children:
        first = first.named_children[0]
    if first is None or first.type != "string":
        return ""
    match = _QUOTES.match(_text(first, source))
    return match[2].strip() if match else ""


def _bases(node: "Node", source: bytes) -> tuple[str, ...]:
    listed = node.child_by_field_name("superclasses")
    if listed is None:
        return ()
    plain = [child for child in listed.named_children if child.type in ("identifier", "attribute")]
    return tuple(_text(child, source).rpartition(".")[2] for child in plain)


def _nested(found: list[_Found]) -> list[_Found]:
    """Link every definition to the innermost one around it. Source order."""
    found.sort(key=lambda item: (item.start, -item.end))
    stack: list[_Found] = []
    for item in found:
        while stack and stack[-1].end <= item.start:
            stack.pop()
        if stack:
            item.parent = stack[-1]
            stack[-1].children.append(item)
        stack.append(item)
    return found


def _assign_calls(nodes: "list[Node] | tuple[()]", found: list[_Found], source: bytes) -> dict[str, None]:
    """Give each called name to every function around it, and to the innermost class; the rest is returned."""
    starts = [item.start for item in found]
    outside: dict[str, None] = {}
    for node in nodes:
        name = _text(node, source)
        place = bisect_right(starts, node.start_byte) - 1
        owner = found[place] if place >= 0 else None
        while owner is not None and owner.end <= node.start_byte:
            owner = owner.parent
        if owner is None:
            outside[name] = None
        while owner is not None:
            owner.calls[name] = None
            owner = owner.parent if owner.kind is EntityKind.FUNCTION and _in_function(owner) else None
    return outside


def _in_function(item: _Found) -> bool:
    return item.parent is not None and item.parent.kind is EntityKind.FUNCTION


def _entity(item: _Found, source: bytes) -> ParsedEntity:
    if item.kind is EntityKind.CLASS:
        text = _without(source, item.start, item.end, item.children)
    else:
        text = source[item.start : item.end].decode("utf-8", "replace")
    return ParsedEntity(
        kind=item.kind,
        qualname=item.qualname,
        start_line=item.first_row + 1,
        end_line=item.last_row + 1,
        signature=item.signature,
        docstring=item.docstring,
        text=text,
        calls=tuple(item.calls),
        bases=item.bases,
    )


def _without(source: bytes, start: int, end: int, holes: list[_Found]) -> str:
    """The source between `start` and `end` without what lies in `holes`."""
    parts = []
    for hole in holes:
        parts.append(source[start : hole.start])
        start = max(start, hole.end)
    parts.append(source[start:end])
    return b"".join(parts).decode("utf-8", "replace")


def _imported(statement: str) -> list[str]:
    """`import a.b as c, d` → a.b, d; `from .x import y as z` → .x.y."""
    statement = _NO_NAMES.sub(" ", statement)
    found = _IMPORT_FROM.match(statement)
    listed = found[2] if found else statement.removeprefix("import")
    names = [part.split()[0] for part in listed.split(",") if part.split()]
    if not found:
        return names
    module = found[1]
    joint = "" if module.endswith(".") else "."
    return [module if name == "*" else f"{module}{joint}{name}" for name in names]
