"""How one entity is shown: folded, as a preview, as an outline, or in full."""

from collections.abc import Collection, Sequence
from enum import StrEnum

from codeforge.localize.graph.model import Direction, GraphView, RelationKind
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.tools.sources import SourceFile, Sources, counted, printable

_MOST_MEMBERS = 12
_MOST_MATCHING = 3
_MOST_SIGNATURE = 160


class View(StrEnum):
    """The ways to show an entity, shortest first."""

    FOLD = "fold"
    PREVIEW = "preview"
    OUTLINE = "outline"
    FULL = "full"


class Views:
    """Shows entities of one graph, with the sources as they are now."""

    def __init__(self, graph: GraphView, sources: Sources) -> None:
        self._graph = graph
        self._sources = sources

    def fold(self, node: int, note: str = "") -> str:
        """Kind, id and lines on one line."""
        entity = self._graph.entity(node)
        lines = "" if entity.kind is EntityKind.DIRECTORY else f" ({lines_of(entity)})"
        return f"{entity.kind} {printable(entity.id)}{lines}{f' — {note}' if note else ''}"

    def preview(self, node: int, note: str = "", words: Collection[str] = ()) -> str:
        """The fold line, the signature, the first line of documentation, the lines that contain `words`, and
        the names inside."""
        entity = self._graph.entity(node)
        parts = [self.fold(node, note)]
        if entity.signature:
            parts.append(f"  {_cut(printable(entity.signature), _MOST_SIGNATURE)}")
        source = self._source(entity)
        if source is not None:
            documentation = source.docstring(entity)
            if documentation:
                parts.append(f"  {_cut(printable(documentation), _MOST_SIGNATURE)}")
            first, last = self._body(entity, source)
            said = " ".join([entity.signature, documentation])
            matching = source.containing(words, first, last, _MOST_MATCHING, besides=said) if words else []
            parts += [_cut(source.numbered([number]), _MOST_SIGNATURE) for number in matching]
        parts += self._members(node)
        return "\n".join(parts)

    def outline(self, node: int, note: str = "") -> str:
        """The fold line, then the header of everything inside with its line, indented by depth."""
        return "\n".join([self.fold(node, note), *self._headers(node, "  ")])

    def full(self, node: int, note: str = "", *, imports: bool = True) -> str | None:
        """The fold line, then the source with line numbers, the imports that it uses above it; for a
        directory what it contains. `None` when the source can't be read."""
        entity = self._graph.entity(node)
        if entity.kind is EntityKind.DIRECTORY:
            return self.outline(node, note)
        return self.lines(node, entity.start_line, entity.end_line, note, imports=imports)

    def lines(self, node: int, first: int, last: int, note: str = "", *, imports: bool = True) -> str | None:
        """Lines `first`–`last` of the file that the node is in, below its fold line."""
        entity = self._graph.entity(node)
        source = self._source(entity)
        if source is None:
            return None
        changed = self._changed(entity, source)
        head = self.fold(node, "; ".join(part for part in (note, changed) if part))
        last = min(last, len(source.lines))
        above = self._above(entity, source, first, last) if imports and entity.qualname else []
        return "\n".join([head, *above, source.numbered(range(max(1, first), last + 1))])

    def missing(self, node: int) -> str:
        """Why there is no source to show, or ""."""
        entity = self._graph.entity(node)
        if entity.kind is EntityKind.DIRECTORY or self._source(entity) is not None:
            return ""
        return f"{printable(entity.path)} can't be read now: it is gone, binary, or larger than 1 MiB"

    def excerpt(self, node: int, first: int, last: int, kept: int, note: str = "") -> str | None:
        """The first and last `kept` lines of `first`–`last`; the gap says how to ask for the rest."""
        entity = self._graph.entity(node)
        source = self._source(entity)
        if source is None:
            return None
        last = min(last, len(source.lines))
        if kept < 1 or last - first + 1 <= 2 * kept:
            return self.lines(node, first, last, note) if kept >= 1 else None
        top = source.numbered(range(first, first + kept))
        bottom = source.numbered(range(last - kept + 1, last + 1))
        hidden = f"{printable(entity.path)}:{first + kept}-{last - kept}"
        gap = f"… {last - first + 1 - 2 * kept} lines left out to fit; retrieve `{hidden}` for them"
        return "\n".join([self.fold(node, note), top, gap, bottom])

    def _source(self, entity: Entity) -> SourceFile | None:
        return None if entity.kind is EntityKind.DIRECTORY else self._sources.of(entity.path)

    def _body(self, entity: Entity, source: SourceFile) -> tuple[int, int]:
        last = min(entity.end_line, len(source.lines))
        return (entity.start_line, last) if entity.qualname else (1, len(source.lines))

    def _above(self, entity: Entity, source: SourceFile, first: int, last: int) -> list[str]:
        """The imports that the lines use, and the headers of the entities around them."""
        found = source.imports(first, last)
        parts = []
        if found.lines:
            parts.append(source.numbered(found.lines))
        if found.others:
            parts.append(f"… {counted(found.others, 'import statement')} that it does not use")
        home = self._graph.find(entity.path)
        outer = self._around(home, entity) if home is not None else []
        return [
            *parts,
            *(f"{item.start_line}| {_cut(printable(item.signature), _MOST_SIGNATURE)} …" for item in outer),
        ]

    def _around(self, node: int, entity: Entity) -> list[Entity]:
        """The entities between a file and one of its entities, outermost first."""
        for child in self._inside(node):
            other = self._graph.entity(child)
            if entity.qualname.startswith(f"{other.qualname}.") and (
                other.start_line <= entity.start_line and entity.end_line <= other.end_line
            ):
                return [other, *self._around(child, entity)]
        return []

    def _changed(self, entity: Entity, source: SourceFile) -> str:
        """Whether the file is not as long as it was when the graph was made."""
        node = self._graph.find(entity.path)
        known = self._graph.entity(node).end_line if node is not None else len(source.lines)
        if known <= 1 or known == len(source.lines):
            return ""
        return "the file has changed since it was indexed: lines may be off"

    def _inside(self, node: int) -> Sequence[int]:
        found = self._graph.neighbours(node, Direction.FORWARD, (RelationKind.CONTAINS,))
        return [neighbour.node for neighbour in found]

    def _members(self, node: int) -> list[str]:
        inside = [self._graph.entity(child) for child in self._inside(node)]
        if not inside:
            return []
        named = [printable(entity.qualname.rpartition(".")[2] or entity.id) for entity in inside]
        more = f", … {len(named) - _MOST_MEMBERS} more" if len(named) > _MOST_MEMBERS else ""
        return [f"  contains {', '.join(named[:_MOST_MEMBERS])}{more}"]

    def _headers(self, node: int, indent: str) -> list[str]:
        shown: list[str] = []
        for child in self._inside(node):
            entity = self._graph.entity(child)
            if entity.qualname:
                header = _cut(printable(entity.signature or entity.qualname), _MOST_SIGNATURE)
                shown.append(f"{entity.start_line}-{entity.end_line}|{indent}{header}")
                if entity.kind is EntityKind.CLASS:
                    shown += self._headers(child, f"{indent}    ")
            else:
                shown.append(f"  {self.fold(child)}")
        return shown


def lines_of(entity: Entity) -> str:
    """`line 3` or `lines 3-9`."""
    if entity.end_line <= entity.start_line:
        return f"line {entity.start_line}"
    return f"lines {entity.start_line}-{entity.end_line}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
