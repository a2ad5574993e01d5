"""The whole graph as text, line by line: JSON lines, GraphML, DOT. The order is that of paths and lines."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from codeforge.localize.graph.model import Direction, GraphView
from codeforge.localize.model import Entity

SCHEMA_VERSION = 1

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = ("id", "kind", "path", "qualname", "start_line", "end_line", "signature")
_NUMBERS = frozenset(("start_line", "end_line"))


class _Edge(NamedTuple):
    """An edge between two places of the order of nodes."""

    source: int
    target: int
    relation: str
    weak: bool


def json_lines(graph: GraphView) -> Iterator[str]:
    """A head with the counts, then each node and each edge on a line; an edge names nodes by their place."""
    counts = graph.stats()
    head = {
        "schema_version": SCHEMA_VERSION,
        "nodes": sum(counts.nodes.values()),
        "edges": sum(counts.edges.values()),
    }
    yield json.dumps(head)
    for place, entity in _nodes(graph):
        yield json.dumps({"node": place, **_members(entity)})
    for edge in _edges(graph):
        yield json.dumps({"edge": [edge.source, edge.target], "relation": edge.relation, "weak": edge.weak})


def graphml(graph: GraphView) -> Iterator[str]:
    """GraphML (graphml.graphdrawing.org); characters that XML can't hold are written as `\\uXXXX`."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name in _NODE_KEYS:
        kind = "int" if name in _NUMBERS else "string"
        yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <key id="relation" for="edge" attr.name="relation" attr.type="string"/>'
    yield '  <key id="weak" for="edge" attr.name="weak" attr.type="boolean"/>'
    yield '  <graph edgedefault="directed">'
    for place, entity in _nodes(graph):
        data = "".join(_data(name, value) for name, value in _members(entity).items())
        yield f'    <node id="n{place}">{data}</node>'
    for edge in _edges(graph):
        data = _data("relation", edge.relation) + _data("weak", str(edge.weak).lower())
        yield f'    <edge source="n{edge.source}" target="n{edge.target}">{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def dot(graph: GraphView) -> Iterator[str]:
    """DOT of Graphviz; guessed edges are dashed."""
    yield "digraph code {"
    yield "  node [shape=box];"
    for place, entity in _nodes(graph):
        yield f"  n{place} [label={_quoted(entity.id)}, kind={_quoted(entity.kind)}];"
    for edge in _edges(graph):
        style = ", style=dashed" if edge.weak else ""
        yield f"  n{edge.source} -> n{edge.target} [label={_quoted(edge.relation)}{style}];"
    yield "}"


WRITERS: dict[str, Callable[[GraphView], Iterable[str]]] = {
    "json": json_lines,
    "graphml": graphml,
    "dot": dot,
}


def _nodes(graph: GraphView) -> Iterator[tuple[int, Entity]]:
    for place, node in enumerate(graph.nodes()):
        yield place, graph.entity(node)


def _edges(graph: GraphView) -> Iterator[_Edge]:
    places = {node: place for place, node in enumerate(graph.nodes())}
    for node, place in places.items():
        for other in graph.neighbours(node, Direction.FORWARD, weak=True):
            yield _Edge(place, places[other.node], other.relation, other.weak)


def _members(entity: Entity) -> dict[str, str | int]:
    return {name: getattr(entity, name) for name in _NODE_KEYS}


def _data(name: str, value: str | int) -> str:
    """A `<data>` element, in ASCII: it is right in whatever encoding it is written."""
    plain = _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", str(value))
    return f"<data key={quoteattr(name)}>{escape(plain).encode('ascii', 'xmlcharrefreplace').decode()}</data>"


def _quoted(text: str) -> str:
    """A quoted DOT string: a backslash is doubled, as labels read it as an escape."""
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8")
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "\\\\0")
    return f'"{escaped}"'
