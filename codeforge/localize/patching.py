"""Bringing the base up to date in memory: the files that changed are struck out, listed and resolved anew."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.base import Base, file_nodes, namesakes, reader
from codeforge.localize.contents import Contents
from codeforge.localize.graph.edges import Edges, edges_of, together
from codeforge.localize.graph.linker import Linker
from codeforge.localize.graph.nodes import CLASS, DIRECTORY, Nodes, joined, nodes_of
from codeforge.localize.graph.resolve import Resolver
from codeforge.localize.parsers.base import ParsedFile, ReferenceKind
from codeforge.localize.postings import Inverted, invert
from codeforge.localize.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CHANGES = 40
"""With more changed files than this the base is built anew: that costs less than many patches."""
_MOST_MENTIONS = 60
"""A name that more files mention is too common: only the files that use the changed file are looked at
again."""


@dataclass(frozen=True, slots=True)
class Patched:
    """The base with the changes.

    Attributes:
        nodes, linked: the graph; numbers of the base's nodes stay.
        lengths: words by field and node.
        added: the inverted index of the new nodes; `None` when nothing changed.
    """

    nodes: Nodes
    linked: Edges
    lengths: "NDArray[np.int32]"
    added: Inverted | None


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths: `gone` are those whose nodes in the base are no longer true, `new` those to list."""

    gone: tuple[str, ...]
    new: tuple[str, ...]

    def __len__(self) -> int:
        return len({*self.gone, *self.new})


def changes(base: Base, snapshot: Snapshot) -> Changes:
    """What differs between the base and the tree."""
    old, present = base.contents, snapshot.content_of
    gone = tuple(path for path, number in old.items() if present.get(path) != number)
    new = tuple(path for path, number in present.items() if old.get(path) != number)
    return Changes(gone, new)


def patched(base: Base, snapshot: Snapshot, contents: Contents) -> Patched:
    """The base brought up to date with the tree; its cost grows with the number of changed files."""
    import numpy as np

    difference = changes(base, snapshot)
    if not len(difference):
        return Patched(base.nodes, base.linked, base.lengths, None)
    nodes = _nodes(base, difference, snapshot, contents)
    first = file_nodes(nodes)
    target, lost = _moved(base, nodes, difference, first)
    again = _affected(base, difference, snapshot, contents)
    again.update(base.nodes.paths[base.nodes.block[node]] for node in lost.tolist())
    again &= snapshot.content_of.keys()
    stale = _block_mask(nodes, (*difference.gone, *again))
    kept_rows = ~stale[base.linked.source] & (target >= 0)
    kept = Edges(base.linked.source[kept_rows], target[kept_rows], base.linked.relation[kept_rows])
    linker = Linker(Resolver(snapshot, reader(snapshot, contents)), namesakes(nodes))
    fresh = [edges_of(linker.links(path), first.__getitem__) for path in sorted(again)]
    tables = ((first[path], contents.words(snapshot.content_of[path])) for path in difference.new)
    count = len(base.nodes)
    added = invert(tables, count, len(nodes) - count)
    lengths = np.concatenate((base.lengths, added.lengths), axis=1)
    return Patched(nodes, together(kept, *fresh), lengths, added)


def _nodes(base: Base, difference: Changes, snapshot: Snapshot, contents: Contents) -> Nodes:
    old = base.nodes
    alive = ~_block_mask(old, difference.gone)
    directories = {
        path: int(node)
        for path, node in zip(old.paths, old.first.tolist(), strict=True)
        if old.kind[node] == DIRECTORY
    }
    listed = nodes_of(
        difference.new,
        lambda path: contents.parsed(snapshot.content_of[path]),
        offset=(len(old), len(old.paths)),
        directories=directories,
    )
    nodes = joined(old, listed, alive)
    _strike_empty(nodes)
    return nodes


def _strike_empty(nodes: Nodes) -> None:
    """Strike out the directories that hold nothing any more, deepest first."""
    import numpy as np

    held = np.zeros(len(nodes), dtype=np.bool_)
    inner = np.flatnonzero(nodes.alive & (nodes.kind != DIRECTORY))
    parents = nodes.parent[inner]
    while len(parents := np.unique(parents[parents >= 0])):
        fresh = parents[~held[parents]]
        held[fresh] = True
        parents = nodes.parent[fresh]
    nodes.alive[(nodes.kind == DIRECTORY) & ~held & (nodes.parent >= 0)] = False


def _block_mask(nodes: Nodes, paths: Iterable[str]) -> "NDArray[np.bool_]":
    """Which nodes belong to these files (in all their blocks)."""
    import numpy as np

    wanted = set(paths)
    blocks = np.array([path in wanted for path in nodes.paths], dtype=np.bool_)
    found: NDArray[np.bool_] = blocks[nodes.block] & (nodes.kind != DIRECTORY)
    return found


def _moved(
    base: Base, nodes: Nodes, difference: Changes, first: Mapping[str, int]
) -> "tuple[NDArray[np.int32], NDArray[np.int32]]":
    """By edge of the base, its target's present node (-1: gone); and the sources of edges that lost
    theirs."""
    import numpy as np

    moved = np.arange(len(base.nodes), dtype=np.int32)
    gone = _block_mask(base.nodes, difference.gone)
    moved[gone] = -1
    present = {(path, ""): first[path] for path in difference.new}
    for node in range(len(base.nodes), len(nodes)):
        if nodes.kind[node] >= CLASS:
            present[nodes.paths[nodes.block[node]], nodes.names[node]] = node
    for node in np.flatnonzero(gone).tolist():
        path = base.nodes.paths[base.nodes.block[node]]
        name = base.nodes.names[node] if base.nodes.kind[node] >= CLASS else ""
        moved[node] = present.get((path, name), -1)
    target = moved[base.linked.target]
    return target, base.linked.source[target < 0]


def _affected(base: Base, difference: Changes, snapshot: Snapshot, contents: Contents) -> set[str]:
    """The files whose names may mean something else now: the new ones, and those that mention a name which
    came, went or changed its kind."""
    affected = set(difference.new)
    names: set[str] = set()
    for path in {*difference.gone, *difference.new}:
        before, after = base.contents.get(path), snapshot.content_of.get(path)
        if before is None or after is None:
            names.add(_module_name(path))
        if before != after:
            names |= _interface(contents, before) ^ _interface(contents, after)
    words = {name.rpartition(".")[2] for name in (item.split("\0")[0] for item in names) if name}
    present = set(snapshot.content_of.values())
    mentioned: set[int] = set()
    for word in words:
        found = contents.mention(present, {word})
        mentioned |= found if len(found) <= _MOST_MENTIONS else set()
    affected |= {path for path, number in snapshot.content_of.items() if number in mentioned}
    return affected


def _module_name(path: str) -> str:
    """What an import of this file is likely to say."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return path.rpartition("/")[0].rpartition("/")[2] if stem in ("__init__", "index", "mod") else stem


def _interface(contents: Contents, number: int | None) -> set[str]:
    """What other files can see of a content."""
    if number is None:
        return set()
    try:
        parsed = contents.parsed(number)
    except LookupError:
        return set()  # pruned meanwhile: nothing can be compared, everything counts as new
    return set(_visible(parsed))


def _visible(parsed: ParsedFile) -> Iterable[str]:
    for entity in parsed.entities:
        yield f"{entity.qualname}\0{entity.kind}{entity.returns}"
    for item in parsed.imports:
        yield f"{item.alias}\0{item.module}.{item.name}"
    for owner, kind, chain in parsed.references:
        if kind == ReferenceKind.BASE:
            yield f"{parsed.entities[owner - 1].qualname}\0<{chain}"
