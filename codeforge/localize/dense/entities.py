"""The passages of a code index: one for each entity, and for the code of a file outside of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from textwrap import dedent
from typing import TYPE_CHECKING

from codeforge.localize.dense.passage import Passage, passage_text
from codeforge.localize.graph.nodes import CLASS, FILE
from codeforge.localize.read import decode_source, read_source

if TYPE_CHECKING:
    from codeforge.localize.index import CodeIndex

_HEAD_LINES = 40
"""Of a class or file: more than a passage holds, blank lines counted."""
_COMMENTS = ("#", "//", "/*", "*")
_DIRECTIVES = ("#include", "#define", "#if", "#endif", "#else", "#pragma", "#[", "#!")
MOST_COMMENT_LINES = 10
"""Above an entity."""


def all_nodes(index: CodeIndex) -> list[int]:
    """Every file, class and function, in the order of the nodes."""
    import numpy as np

    rows = index.graph.rows
    found: list[int] = np.flatnonzero(rows.alive & (rows.kind >= FILE)).tolist()
    return found


def node_passages(index: CodeIndex, nodes: Sequence[int]) -> list[Passage]:
    """The passage of each node, in their order; its key is the entity's id.

    A function is given by its source and the comment above it; a class or a file by what it says itself and
    the
    signatures of what it contains. What can't be read any more is given by name and signature.

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
        self._nodes = self._graph.block(int(self._rows.first[block]))

    def passage(self, node: int) -> Passage:
        entity = self._graph.entity(node)
        start, end = int(self._rows.start[node]), int(self._rows.end[node])
        lines: Iterable[str]
        if self._rows.kind[node] <= CLASS:
            lines = chain(self._own_head(node, start, end), self._signatures(node))
        else:
            lines = dedent("\n".join([*self._comment(start), *self._lines[start - 1 : end]])).split("\n")
        return Passage(entity.id, passage_text(entity.qualname or entity.path, entity.signature, list(lines)))

    def _own_head(self, node: int, start: int, end: int) -> list[str]:
        """The first lines of a class or file that aren't of something inside it."""
        taken: set[int] = set()
        for child in self._children(node):
            taken.update(range(int(self._rows.start[child]), int(self._rows.end[child]) + 1))
            if self._rows.start[child] > start + _HEAD_LINES:
                break
        places = range(start, min(end, start + _HEAD_LINES) + 1)
        above = self._comment(start) if self._rows.kind[node] == CLASS else []
        return above + [
            self._lines[place - 1] for place in places if place not in taken and place <= len(self._lines)
        ]

    def _signatures(self, node: int) -> Iterator[str]:
        return (self._rows.signatures[child] for child in self._children(node))

    def _children(self, node: int) -> Iterator[int]:
        return (other for other in self._nodes if self._rows.parent[other] == node)

    def _comment(self, start: int) -> list[str]:
        """The comment that ends on the line above `start`."""
        found: list[str] = []
        for place in range(start - 2, max(-1, start - 2 - MOST_COMMENT_LINES), -1):
            line = self._lines[place].strip() if place < len(self._lines) else ""
            if not line.startswith(_COMMENTS) or line.startswith(_DIRECTIVES):
                break
            found.append(self._lines[place])
        return found[::-1]
