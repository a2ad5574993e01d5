"""Finding nodes by name: exactly, by the end of a qualified name or of a path, and nearly."""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from codeforge.localize.graph.model import GraphView
from codeforge.localize.model import Entity, EntityKind

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_LEAST_LIKE = 76.0
_SAME_WORDS = 84.0


class Near(NamedTuple):
    """A name like the one asked for; `score` is 0–100."""

    node: int
    score: float


class NameIndex:
    """Nodes by name. Made once for a graph; the lists for similar names are made when first asked for."""

    def __init__(self, graph: GraphView) -> None:
        self._graph = graph

    def named(self, name: str) -> list[int]:
        """The classes and functions whose qualified name, or module and qualified name, ends with the dotted
        `name`; those that are written just so before those that differ in case."""
        parts = name.split(".")
        wanted = [part.lower() for part in parts]
        found: list[tuple[bool, int]] = []
        for node in self._graph.named(parts[-1]):
            entity = self._graph.entity(node)
            own = entity.qualname.split(".")
            if len(parts) > len(own):
                own = [*_module(entity.path), *own]
            tail = own[-len(parts) :]
            if [part.lower() for part in tail] == wanted:
                found.append((tail != parts, node))
        return [node for _, node in sorted(found, key=lambda pair: pair[0])]

    def files_ending(self, tail: str) -> list[int]:
        """The files whose path is `tail` or ends with it, at a slash."""
        base = tail.rpartition("/")[2].lower()
        return [
            node
            for path, node in self._by_base.get(base, ())
            if f"/{path}".lower().endswith(f"/{tail.lower()}")
        ]

    def modules(self, dotted: str) -> list[int]:
        """The files that a dotted module name could mean: `a.b` is `…/a/b.py` or `…/a/b/__init__.py`."""
        parts = [part.lower() for part in dotted.split(".")]
        return [node for own, node in self._by_module.get(parts[-1], ()) if own[-len(parts) :] == parts]

    def near(self, written: str, limit: int) -> list[Near]:
        """The entities whose last name part, or whose file name, is much like `written`; best first."""
        from rapidfuzz import fuzz, process

        names, squashed, spelled = self._choices
        scores: dict[int, float] = {}
        for choices, query, scorer, least in (
            (squashed, _squash(written), fuzz.ratio, _LEAST_LIKE),
            (spelled, _spell(written), fuzz.token_sort_ratio, _SAME_WORDS),
        ):
            found = process.extract(query, choices, scorer=scorer, score_cutoff=least, limit=4 * limit)
            for _, score, place in found:
                scores[place] = max(score, scores.get(place, 0.0))
        best = sorted(scores.items(), key=lambda pair: (-pair[1], names[pair[0]]))
        return [Near(node, score) for place, score in best for node in self._nodes_named(names[place])][
            :limit
        ]

    def nearest_paths(self, path: str, limit: int) -> list[int]:
        """The files and directories whose path is most like `path`, even when that is not much."""
        from rapidfuzz import fuzz, process

        wanted = path.strip("/").lower()
        base = wanted.rpartition("/")[2]
        choices = [entity.id.strip("/").lower() for entity in self._places]
        whole = process.extract(wanted, choices, scorer=fuzz.ratio, score_cutoff=50, limit=limit)
        bases = [choice.rpartition("/")[2] for choice in choices]
        last = process.extract(base, bases, scorer=fuzz.ratio, score_cutoff=_LEAST_LIKE, limit=limit)
        scores: dict[int, float] = {}
        for _, score, place in [*whole, *last]:
            scores[place] = scores.get(place, 0.0) + score
        best = sorted(scores, key=lambda place: (-scores[place], place))[:limit]
        nodes = (self._graph.find(self._places[place].id) for place in best)
        return [node for node in nodes if node is not None]

    def _nodes_named(self, name: str) -> Sequence[int]:
        exact = self._graph.names().get(name)
        return exact if exact is not None else [node for _, node in self._by_base.get(name.lower(), ())]

    @cached_property
    def _places(self) -> list[Entity]:
        kinds = (EntityKind.FILE, EntityKind.DIRECTORY)
        return [self._graph.entity(node) for node in self._graph.nodes() if self._graph.kind(node) in kinds]

    @cached_property
    def _by_base(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for node in self._graph.nodes():
            if self._graph.kind(node) is EntityKind.FILE:
                path = self._graph.entity(node).path
                found.setdefault(path.rpartition("/")[2].lower(), []).append((path, node))
        return found

    @cached_property
    def _by_module(self) -> dict[str, list[tuple[list[str], int]]]:
        found: dict[str, list[tuple[list[str], int]]] = {}
        for files in self._by_base.values():
            for path, node in files:
                parts = [part.lower() for part in _module(path)]
                if parts:
                    found.setdefault(parts[-1], []).append((parts, node))
        return found

    @cached_property
    def _choices(self) -> tuple[list[str], list[str], list[str]]:
        names = [*self._graph.names(), *self._by_base]
        return names, [_squash(name) for name in names], [_spell(name) for name in names]


def _module(path: str) -> list[str]:
    """The parts of a file's module name; a package's `__init__` is the package."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def _squash(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name).lower()


def _spell(name: str) -> str:
    return " ".join(_WORDS.findall(name)).lower()
