"""The base: the last full build of graph and inverted index, as it lies on disk."""

import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from codeforge.localize.contents import Contents
from codeforge.localize.database import IndexDamagedError
from codeforge.localize.graph.edges import Edges, edges_of, together
from codeforge.localize.graph.linker import Linker, Namesakes
from codeforge.localize.graph.nodes import FILE, Nodes, last_part, nodes_of
from codeforge.localize.graph.resolve import Resolver
from codeforge.localize.parsers.base import ParsedFile, languages
from codeforge.localize.postings import Inverted, invert
from codeforge.localize.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BASE_VERSION = 4
"""Raise it when what is built from the same contents changes."""
_ARRAYS = {
    "first": "<i4",
    "block": "<i4",
    "kind": "u1",
    "parent": "<i4",
    "start": "<i4",
    "end": "<i4",
    "role": "u1",
    "key": "<u4",
}
_SEPARATOR = "\0"


@dataclass(frozen=True, slots=True)
class Base:
    """One build.

    Attributes:
        build: names it; another build has another name.
        nodes, linked: the graph, without the edges that `edges.completed` adds.
        contents: by path, the content that was built in.
        lengths: words by field and node, int32, shape (2, nodes).
    """

    build: str
    nodes: Nodes
    linked: Edges
    contents: Mapping[str, int]
    lengths: "NDArray[np.int32]"


def build_base(snapshot: Snapshot, contents: Contents) -> tuple[Base, Inverted]:
    """Build everything from the contents of a tree."""
    content_of = snapshot.content_of
    nodes = nodes_of(content_of, lambda path: contents.parsed(content_of[path]))
    first = file_nodes(nodes)
    linked = _linked(snapshot, contents, nodes, first)
    contents.forget_structures()
    tables = ((first[path], contents.words(number)) for path, number in content_of.items())
    inverted = invert(tables, 0, len(nodes))
    build = f"{time.time_ns()}-{os.getpid()}"
    return Base(build, nodes, linked, dict(content_of), inverted.lengths), inverted


def _linked(snapshot: Snapshot, contents: Contents, nodes: Nodes, first: Mapping[str, int]) -> Edges:
    linker = Linker(Resolver(snapshot, reader(snapshot, contents)), namesakes(nodes))
    return together(*[edges_of(linker.links(path), first.__getitem__) for path in snapshot.content_of])


def reader(snapshot: Snapshot, contents: Contents) -> Callable[[str], ParsedFile | None]:
    """By path, the structure of an indexed file."""

    def read(path: str) -> ParsedFile | None:
        number = snapshot.content_of.get(path)
        return contents.parsed(number) if number is not None else None

    return read


def file_nodes(nodes: Nodes) -> dict[str, int]:
    """By path, the node of each file that is still there."""
    import numpy as np

    found = np.flatnonzero(nodes.alive & (nodes.kind == FILE))
    blocks = nodes.block[found].tolist()
    return {nodes.paths[block]: node for node, block in zip(found.tolist(), blocks, strict=True)}


def namesakes(nodes: Nodes) -> Namesakes:
    """Who has a name."""

    @cache
    def find(name: str) -> Sequence[tuple[str, int, bool]]:
        found = []
        for node in nodes.named(name):
            qualname = nodes.names[node]
            if last_part(qualname) == name:
                block = int(nodes.block[node])
                found.append((nodes.paths[block], node - int(nodes.first[block]), "." not in qualname))
        return found

    return find


def write_base(connection: sqlite3.Connection, base: Base, inverted: Inverted) -> None:
    """Put the base in the place of the last one. The caller holds the transaction."""
    import numpy as np

    nodes, linked = base.nodes, base.linked
    numbers = [base.contents.get(path, 0) for path in nodes.paths]
    data: dict[str, bytes] = {
        "version": _version().encode(),
        "build": base.build.encode(),
        "contents": np.array(numbers, dtype="<i8").tobytes(),
        "lengths": base.lengths.astype("<i4").tobytes(),
        "source": linked.source.astype("<i4").tobytes(),
        "target": linked.target.astype("<i4").tobytes(),
        "relation": linked.relation.tobytes(),
        **{name: getattr(nodes, name).astype(kind).tobytes() for name, kind in _ARRAYS.items()},
        **{name: _encoded(getattr(nodes, name)) for name in ("paths", "names", "signatures")},
    }
    data["digest"] = _digest(data)
    connection.execute("DELETE FROM base")
    connection.execute("DELETE FROM posting")
    connection.executemany("INSERT INTO base VALUES (?, ?)", sorted(data.items()))
    connection.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", inverted.rows())


def read_base(connection: sqlite3.Connection) -> Base | None:
    """The base on disk; `None` when there is none of this version.

    Raises:
        IndexDamagedError: it is damaged.
    """
    import numpy as np

    data = {name: bytes(column) for name, column in connection.execute("SELECT name, data FROM base")}
    if data.get("version", b"") != _version().encode():
        return None
    if data.pop("digest", b"") != _digest(data):
        raise IndexDamagedError("the checksum of its graph is wrong")
    arrays: dict[str, Any] = {name: np.frombuffer(data[name], dtype=kind) for name, kind in _ARRAYS.items()}
    texts: dict[str, Any] = {name: _decoded(data[name]) for name in ("paths", "names", "signatures")}
    count = len(arrays["kind"])
    nodes = Nodes(alive=np.ones(count, dtype=np.bool_), **arrays, **texts)
    numbers = np.frombuffer(data["contents"], dtype="<i8").tolist()
    if not len(nodes.names) == len(nodes.signatures) == count or len(nodes.paths) != len(numbers):
        raise ValueError("the code index's columns have different lengths")
    linked = Edges(
        np.frombuffer(data["source"], dtype="<i4"),
        np.frombuffer(data["target"], dtype="<i4"),
        np.frombuffer(data["relation"], dtype=np.uint8),
    )
    contents = {path: number for path, number in zip(nodes.paths, numbers, strict=True) if number}
    lengths = np.frombuffer(data["lengths"], dtype="<i4").reshape(2, -1)
    return Base(bytes(data["build"]).decode(), nodes, linked, contents, lengths)


def _digest(data: Mapping[str, bytes]) -> bytes:
    """Names all of the rows, whatever their order."""
    digest = blake2b(digest_size=16)
    for name, column in sorted(data.items()):
        digest.update(f"{name} {len(column)} ".encode())
        digest.update(column)
    return digest.digest()


def build_on_disk(connection: sqlite3.Connection) -> str:
    """The name of the build that lies on disk; "" when there is none."""
    row = connection.execute("SELECT data FROM base WHERE name = 'build'").fetchone()
    return bytes(row[0]).decode() if row else ""


def _version() -> str:
    """What besides the contents decides the build."""
    tags = sorted({language.tag for language in languages().values()})
    return f"{BASE_VERSION} {' '.join(tags)}"


def _encoded(texts: Sequence[str]) -> bytes:
    return _SEPARATOR.join(texts).encode("utf-8", "surrogateescape")


def _decoded(data: bytes) -> list[str]:
    text = bytes(data).decode("utf-8", "surrogateescape")
    return text.split(_SEPARATOR)
