"""The `finish` tool: how a search ends, and what its ids mean in the graph."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codeforge.localize.agent.outcome import Named
from codeforge.localize.graph.model import GraphView
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.agent import ToolSpec
from codeforge.localize.tools.agent.arguments import BadArgumentsError, read_arguments
from codeforge.localize.tools.resolve import Resolved, Resolver, Unresolved

FINISH = "finish"
_ALIKE = 70.0
"""How like (0–100) the nearest id must be to what was written, unless it is in the same file."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """A place as the model wrote it."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """What was meant, each entity once, in order; and what was taken otherwise than written, or dropped."""

    named: tuple[Named, ...]
    notes: tuple[str, ...]


@cache
def finish_spec() -> ToolSpec:
    """What the model is told of the tool."""
    folder = Path(__file__).parent
    data = json.loads((folder / "finish.json").read_text(encoding="utf-8"))
    description = (folder / "finish.md").read_text(encoding="utf-8").strip()
    return ToolSpec(FINISH, data["version"], description, data["parameters"])


def read_finish(arguments: str) -> tuple[Suggested, ...]:
    """The places in a call of `finish`.

    Raises:
        BadArgumentsError: the arguments are wrong; the text says how they should be.
    """
    read = read_arguments(finish_spec(), arguments)
    for number, item in enumerate(read["locations"]):
        missing = [name for name in ("id", "reason") if name not in item]
        if missing:
            raise BadArgumentsError(
                f"finish: `locations[{number}]`: `{'`, `'.join(missing)}` is missing. "
                'Each location is {"id": "path/to/file.py:Class.method", "reason": "one sentence"}.'
            )
    return tuple(Suggested(item["id"], item["reason"]) for item in read["locations"])


def resolve_places(graph: GraphView, root: Path, places: Sequence[Suggested]) -> NamedPlaces:
    """The entities that `places` mean: by id, place or unique name; else the nearest, if it is near."""
    resolver = Resolver(graph, root)
    named: dict[str, Named] = {}
    notes: list[str] = []
    for place in places:
        node = _meant(graph, resolver, place.id, notes)
        if node is None:
            continue
        entity = graph.entity(node)
        file = graph.find(entity.path)
        if entity.kind is EntityKind.DIRECTORY or file is None:
            notes.append(f"`{entity.id}` is a directory and was dropped: name a file or what is in it.")
            continue
        named.setdefault(entity.id, Named(entity, graph.entity(file), place.reason))
    return NamedPlaces(tuple(named.values()), tuple(notes))


def _meant(graph: GraphView, resolver: Resolver, written: str, notes: list[str]) -> int | None:
    item = resolver.resolve(written)
    if isinstance(item, Resolved):
        if item.note:
            notes.append(f"{item.note}.")
        return item.node
    near = _nearest(item, resolver)
    if near is None:
        notes.append(f"{item.error} It was dropped.")
        return None
    notes.append(f"There is no entity `{written}`; the nearest, `{near}`, was taken.")
    return graph.find(near)


def _nearest(item: Unresolved, resolver: Resolver) -> str | None:
    """The id nearest to what was written. A wrong name in a file that exists is that file, at the least."""
    from rapidfuzz import fuzz

    if not item.nearest:
        return None
    written = resolver.read(item.written)
    home = resolver.place(written.path) if ":" in written.text else None
    if home is not None:
        return item.nearest[0]
    best = max(item.nearest, key=lambda identity: fuzz.ratio(written.text, identity))
    return best if fuzz.ratio(written.text, best) >= _ALIKE else None
