"""From what a model wrote to a node, or to a text that tells it what to write instead."""

from dataclasses import dataclass
from pathlib import Path

from codeforge.localize.graph.model import Direction, GraphView, RelationKind
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.names import NameIndex
from codeforge.localize.tools.written import Written, read_written

_MOST_NEAR = 5


@dataclass(frozen=True, slots=True)
class Resolved:
    """An entity was meant.

    Attributes:
        node: it.
        written: as it was asked for.
        first, last: the lines that were asked for; 0 when all of it was.
        note: how what was written was understood, when it was not an id; else "".
    """

    node: int
    written: str
    first: int = 0
    last: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """No entity, or not exactly one, was meant.

    Attributes:
        written: as it was asked for.
        error: what is wrong and what to write instead, one line.
        nearest: ids that may have been meant.
    """

    written: str
    error: str
    nearest: tuple[str, ...] = ()


class Resolver:
    """Turns written ids into nodes of one graph.

    Attributes:
        names: the names of that graph.
    """

    def __init__(self, graph: GraphView, root: Path) -> None:
        self._graph = graph
        self._root = root
        self.names = NameIndex(graph)

    def read(self, text: str) -> Written:
        """Take apart what was written."""
        return read_written(text, self._root)

    def exact(self, text: str) -> int | None:
        """The node whose id this is, give or take quotes, `./`, `::` and a missing slash; no guess."""
        found = self._graph.find(text)
        if found is not None:
            return found
        written = self.read(text)
        if written.first:
            return None
        if written.name and written.path and written.path != written.name:
            found = self._graph.find(f"{written.path}:{written.name}")
            if found is not None:
                return found
            if ":" in written.text:
                return None
        return self.place(written.path)

    def place(self, path: str) -> int | None:
        """The file or directory at exactly this path."""
        if not path:
            return None
        found = self._graph.find(path)
        return found if found is not None else self._graph.find(f"{path.rstrip('/')}/")

    def at_line(self, path: str, line: int) -> int | None:
        """The innermost entity that holds a line; the file itself when only it does; `None` without one."""
        node = self._graph.find(path)
        if node is None or self._graph.kind(node) is not EntityKind.FILE:
            return None
        if not 1 <= line <= max(1, self._graph.entity(node).end_line):
            return None
        while True:
            inner = None
            for child in self._graph.neighbours(node, Direction.FORWARD, (RelationKind.CONTAINS,)):
                entity = self._graph.entity(child.node)
                if entity.start_line <= line <= entity.end_line:
                    inner = child.node
            if inner is None:
                return node
            node = inner

    def resolve(self, text: str) -> Resolved | Unresolved:
        """The node that `text` means: by id, by place, or by a name that only one entity has."""
        found = self.exact(text)
        if found is not None:
            return Resolved(found, text)
        written = self.read(text)
        if written.first:
            return self._at_lines(text, written)
        candidates = self._candidates(written)
        if len(candidates) == 1:
            meant = self._graph.entity(candidates[0]).id
            return Resolved(candidates[0], text, note=f"`{text}` was taken as `{meant}`")
        if candidates:
            ids = self._ids(candidates[:_MOST_NEAR])
            return Unresolved(
                text,
                f"`{text}` could be any of {len(candidates)} entities: write one id, such as {_listed(ids)}.",
                ids,
            )
        return self._unknown(text, written)

    def _candidates(self, written: Written) -> list[int]:
        """The entities of this name, or the files with this end of a path."""
        if written.name and written.path not in ("", written.name) and ":" in written.text:
            files = self.names.files_ending(written.path)
            paths = {self._graph.entity(node).path for node in files}
            named = self.names.named(written.name)
            return [node for node in named if self._graph.entity(node).path in paths]
        files = self.names.files_ending(written.path) if written.path else []
        if files:
            return files
        if not written.name:
            return []
        named = self.names.named(written.name)
        same = [node for node in named if self._graph.entity(node).qualname.endswith(written.name)]
        return same or named or self.names.modules(written.name)

    def _at_lines(self, text: str, written: Written) -> Resolved | Unresolved:
        files = [written.path] if self._graph.find(written.path) is not None else []
        files = files or [self._graph.entity(node).path for node in self.names.files_ending(written.path)]
        if len(files) != 1:
            return self._unknown(text, written)
        node = self.at_line(files[0], written.first)
        if node is None:
            whole = self._graph.find(files[0])
            lines = self._graph.entity(whole).end_line if whole is not None else 0
            return Unresolved(
                text, f"`{files[0]}` has {lines} lines: there is no line {written.first}.", (files[0],)
            )
        return Resolved(node, text, written.first, written.last)

    def _unknown(self, text: str, written: Written) -> Unresolved:
        ids = self._ids(self.nearest(written))
        hint = f"Nearest: {_listed(ids)}." if ids else "Find ids with search_entity."
        return Unresolved(text, f"There is no entity `{text}` in the code graph. {hint}", ids)

    def nearest(self, written: Written, limit: int = _MOST_NEAR) -> list[int]:
        """The nodes that may have been meant: in the same file first, then of a similar name or path."""
        found: dict[int, None] = {}
        names = self.names
        if written.name:
            last = written.name.rpartition(".")[2]
            home = self.place(written.path) if ":" in written.text else None
            near = names.near(last, 4 * limit)
            if home is not None:
                path = self._graph.entity(home).path
                found.update((node, None) for node, _ in near if self._graph.entity(node).path == path)
                found[home] = None
            found.update((node, None) for node in self._graph.named(last)[:limit])
            found.update((node, None) for node, _ in near)
            if home is not None:
                return list(found)[:limit]
        if written.path and (":" in written.text or not written.name or "." in written.path):
            found.update((node, None) for node in names.nearest_paths(written.path, limit))
        return list(found)[:limit]

    def _ids(self, nodes: list[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._graph.entity(node).id for node in nodes))


def _listed(ids: tuple[str, ...]) -> str:
    return ", ".join(f"`{identity}`" for identity in ids)
