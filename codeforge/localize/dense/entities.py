"""The passages of a code index: one for each entity, and for the code of a file outside of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from codeforge.localize.dense.passage import BODY_LINES, Passage, passage_text
from codeforge.localize.graph.nodes import CLASS, FILE
from codeforge.localize.model import Entity
from codeforge.localize.read import decode_source, read_source

if TYPE_CHECKING:
    from codeforge.localize.index import CodeIndex

_HEAD_LINES = 20
"""Of a class or file, blank ones counted."""
_COMMENTS = ("#", "//", "/*", "*")
_DIRECTIVES = ("#include", "#define", "#if", "#endif", "#else", "#pragma", "#[", "#!")
_COMMENT_LINES = 10
"""Above an entity."""


def all_nodes(index: CodeIndex) -> list[int]:
    """Every file, class and function, in the order of the nodes."""
    import numpy as np

    rows = index.graph.rows
    found: list[int] = np.flatnonzero(rows.alive & (rows.kind >= FILE)).tolist()
    return found


def node_passages(index: CodeIndex, nodes: Sequence[int]) -> list[Passage]:
    """The passage of each node, in their order; its key is the entity's id.

    A function is given by its source and the comment above it; a class or file by what it says itself and by
    the signatures of what it contains. What can't be read any more is given by name and signature.

    Args:
        nodes: files, classes and functions.
    """
    rows = index.graph.rows
    by_block: dict[int, list[int]] = {}
    for node in dict.fromkeys(nodes):
        by_block.setdefault(int(rows.block[node]), []).append(node)
    made: dict[int, Passage] = {}
    for block, inside in by_block.items():
        reader = _FileReader(index, block)
        made.update((node, reader.passage(node)) for node in inside)
    return [made[node] for node in nodes]


def all_passages(index: CodeIndex) -> Iterator[Passage]:
    """The passages of all files, classes and functions, read file by file as they are asked for."""
    rows = index.graph.rows
    nodes = all_nodes(index)
    start = 0
    for end in range(1, len(nodes) + 1):
        if end == len(nodes) or rows.block[nodes[end]] != rows.block[nodes[start]]:
            yield from node_passages(index, nodes[start:end])
            start = end


class _FileReader:
    """Passages of one file."""

    def __init__(self, index: CodeIndex, block: int) -> None:
        self._graph = index.graph
        self._rows = index.graph.rows
        path = self._rows.paths[block]
        raw = read_source(index.root, path)
        text = decode_source(raw, path) if raw is not None else None
        self._lines = (text or "").split("\n")
        nodes = self._graph.block(int(self._rows.first[block]))
        self._children: dict[int, list[int]] = {}
        parents = self._rows.parent[nodes.start + 1 : nodes.stop].tolist()
        for child, parent in enumerate(parents, nodes.start + 1):
            self._children.setdefault(parent, []).append(child)

    def passage(self, node: int) -> Passage:
        """The passage of one of the file's nodes."""
        entity = self._graph.entity(node)
        if self._rows.kind[node] <= CLASS:
            inside = self._children.get(node, [])
            signatures = [self._rows.signatures[child] for child in inside]
            lines = [*self._own_lines(entity, inside), *signatures[:BODY_LINES]]
        else:
            lines = [*self._comment(entity), *self._lines[entity.start_line - 1 : entity.end_line]]
        return Passage(entity.id, passage_text(entity.qualname or entity.path, entity.signature, lines))

    def _own_lines(self, entity: Entity, inside: Sequence[int]) -> list[str]:
        """The first lines of a class or file that aren't of something inside it."""
        start, end = (
            entity.start_line,
            min(entity.end_line, entity.start_line + _HEAD_LINES, len(self._lines)),
        )
        taken: set[int] = set()
        for child in inside:
            first, last = int(self._rows.start[child]), int(self._rows.end[child])
            if first > end:
                break
            taken.update(range(first, min(last, end) + 1))
        own = [self._lines[place - 1] for place in range(start, end + 1) if place not in taken]
        return [*self._comment(entity), *own]

    def _comment(self, entity: Entity) -> list[str]:
        """The comment that ends on the line above an entity."""
        found: list[str] = []
        for place in range(entity.start_line - 2, max(-1, entity.start_line - 2 - _COMMENT_LINES), -1):
            line = self._lines[place].strip() if place < len(self._lines) else ""
            if not line.startswith(_COMMENTS) or line.startswith(_DIRECTIVES):
                break
            found.append(self._lines[place])
        return found[::-1]
