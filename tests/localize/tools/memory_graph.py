"""A second implementation of `GraphView`, from a plain description: files with their source, and edges.

Entities come from Python's own `ast`; an edge is written `a.py:f invokes b.py:g`, a guess with `invokes?`.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from textwrap import dedent

from codeforge.localize.graph.model import Direction, GraphStats, Neighbour, RelationKind
from codeforge.localize.model import Entity, EntityKind

_WORD = re.compile(r"[a-z]+")


class MemoryGraph:
    """Implements `GraphView` with lists. Node numbers have gaps and no order, as the protocol allows."""

    def __init__(self, entities: Sequence[Entity], edges: Sequence[str]) -> None:
        ordered = sorted(
            entities,
            key=lambda entity: (entity.id if not entity.qualname else entity.path, entity.start_line),
        )
        count = 2 * len(ordered) + 1
        self._order = [count - 1 - 2 * place for place in range(len(ordered))]
        self._entities = dict(zip(self._order, ordered, strict=True))
        self._ids = {entity.id: node for node, entity in reversed(self._entities.items())}
        self._edges = [self._edge(edge) for edge in dict.fromkeys([*self._containing(), *edges])]
        self._places = {node: place for place, node in enumerate(self._order)}

    def __len__(self) -> int:
        return max(self._order, default=-1) + 1

    def entity(self, node: int) -> Entity:
        return self._entities[node]

    def kind(self, node: int) -> EntityKind:
        return self._entities[node].kind

    def find(self, entity_id: str) -> int | None:
        return self._ids.get(entity_id)

    def named(self, name: str) -> Sequence[int]:
        found = {last: nodes for last, nodes in self.names().items() if last.lower() == name.lower()}
        return sorted((node for nodes in found.values() for node in nodes), key=self._places.__getitem__)

    def names(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for node in self._order:
            qualname = self._entities[node].qualname
            if qualname:
                found.setdefault(qualname.rpartition(".")[2], []).append(node)
        return found

    def nodes(self) -> Sequence[int]:
        return self._order

    def neighbours(
        self,
        node: int,
        direction: Direction = Direction.BOTH,
        relations: Collection[RelationKind] | None = None,
        *,
        weak: bool = False,
    ) -> Sequence[Neighbour]:
        found = []
        for source, relation, target, guessed in self._edges:
            if (guessed and not weak) or (relations is not None and relation not in relations):
                continue
            if source == node and direction is not Direction.BACKWARD:
                found.append(Neighbour(target, relation, True, guessed))
            if target == node and direction is not Direction.FORWARD:
                found.append(Neighbour(source, relation, False, guessed))
        return sorted(found, key=lambda n: (not n.forward, self._places[n.node], n.relation, n.weak))

    def stats(self) -> GraphStats:
        return GraphStats(
            Counter(entity.kind for entity in self._entities.values()),
            Counter(edge[1] for edge in self._edges),
            sum(edge[3] for edge in self._edges),
        )

    def _edge(self, written: str) -> tuple[int, RelationKind, int, bool]:
        source, relation, target = written.split(" ")
        kind = RelationKind(relation.rstrip("?"))
        return self._ids[source], kind, self._ids[target], relation.endswith("?")

    def _containing(self) -> Iterator[str]:
        for entity in self._entities.values():
            if entity.id == "/":
                continue
            if "." in entity.qualname:
                around = f"{entity.path}:{entity.qualname.rpartition('.')[0]}"
            elif entity.qualname:
                around = entity.path
            else:
                around = entity.id.rstrip("/").rpartition("/")[0] + "/"
            yield f"{around} contains {entity.id}"


class MemoryIndex:
    """Implements `GraphIndex`: a `MemoryGraph`, and a search that counts shared words."""

    def __init__(self, root: Path, files: Mapping[str, str], edges: Sequence[str] = ()) -> None:
        self.notices: Sequence[str] = ()
        self.graph = MemoryGraph(list(_entities(files)), edges)
        self._words = {}
        for node in self.graph.nodes():
            entity = self.graph.entity(node)
            lines = files.get(entity.path, "").split("\n")
            text = "\n".join(lines[entity.start_line - 1 : entity.end_line]) if entity.path in files else ""
            self._words[node] = Counter(_WORD.findall(text.lower()))

    def search(self, text: str, limit: int) -> list[tuple[int, float]]:
        asked = set(_WORD.findall(text.lower()))
        scored = []
        for place, node in enumerate(self.graph.nodes()):
            words = self._words[node]
            score = sum(min(words[word], 3) for word in asked) / (1 + words.total() / 50)
            if score > 0:
                scored.append((-score, place, node))
        return [(node, -score) for score, _, node in sorted(scored)[:limit]]

    def opened(self) -> AbstractContextManager["MemoryIndex"]:
        return nullcontext(self)


def write_tree(root: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Write files below `root`, dedented; the texts as written."""
    texts = {path: dedent(text).lstrip("\n") for path, text in files.items()}
    for path, text in texts.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return texts


def _entities(files: Mapping[str, str]) -> Iterator[Entity]:
    folders = {"/": None}
    for path, text in files.items():
        parts = path.split("/")[:-1]
        folders.update({"/".join(parts[: depth + 1]) + "/": None for depth in range(len(parts))})
        lines = text.removesuffix("\n").count("\n") + 1
        yield Entity(path, EntityKind.FILE, path, "", 1, lines)
        if path.endswith(".py"):
            yield from _inside(ast.parse(text), path, "", text.split("\n"))
    for folder in folders:
        yield Entity(folder, EntityKind.DIRECTORY, folder.rstrip("/"), "", 0, 0)


def _inside(tree: ast.AST, path: str, prefix: str, lines: Sequence[str]) -> Iterator[Entity]:
    for item in ast.iter_child_nodes(tree):
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + item.name
            kind = EntityKind.CLASS if isinstance(item, ast.ClassDef) else EntityKind.FUNCTION
            first = min([item.lineno, *(decorator.lineno for decorator in item.decorator_list)])
            signature = lines[item.lineno - 1].strip()
            yield Entity(f"{path}:{name}", kind, path, name, first, item.end_lineno or first, signature)
            yield from _inside(item, path, f"{name}.", lines)
        else:
            yield from _inside(item, path, prefix, lines)
