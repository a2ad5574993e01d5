"""A traversal as a tree of lines, summarised where it is too wide or too deep for the budget."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from codeforge.localize.graph.model import GraphView, RelationKind
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.sources import printable
from codeforge.localize.tools.traverse import MOST_NODES, Link, Step, Traversal
from codeforge.localize.tools.views import lines_of

_LEAST_WIDTH = 3
_BACKWARD = {
    RelationKind.CONTAINS: "contained in",
    RelationKind.IMPORTS: "imported by",
    RelationKind.INVOKES: "invoked by",
    RelationKind.INHERITS: "inherited by",
    RelationKind.TESTS: "tested by",
}
_PLURALS = {
    EntityKind.DIRECTORY: "directories",
    EntityKind.FILE: "files",
    EntityKind.CLASS: "classes",
    EntityKind.FUNCTION: "functions",
}


class _Shape(NamedTuple):
    """How much of a tree is shown: levels below the starts, and children of each node."""

    depth: int
    width: int


class _TooLongError(Exception):
    """The lines so far are over the budget already."""


def show_traversal(traversal: Traversal, graph: GraphView, budget: Budget, notes: Sequence[str] = ()) -> str:
    """The trees, within the budget.

    When all of it does not fit, each node shows its first children only and one line for the rest of them,
    as many as fit; when three for each are too many, the deepest levels go first. What is not there is said.
    """
    tree = _Tree(traversal, graph, budget, notes)
    deepest = max((step.depth for step in traversal.steps), default=0)
    widest = max((len(step.children) for step in traversal.steps), default=0)
    whole = tree.text(_Shape(deepest, widest))
    if whole is not None:
        return whole
    for depth in range(deepest, 0, -1):
        least = _LEAST_WIDTH if depth > 1 else 0
        fitting = _largest(least, widest, partial(tree.text_of, depth))
        if fitting is not None:
            return fitting
    return tree.text(_Shape(0, 0)) or budget.clip(tree.bare())


def _largest(low: int, high: int, make: Callable[[int], str | None]) -> str | None:
    """The text of the largest width from `low` to `high` that has one (wider is longer)."""
    best = make(low)
    if best is None:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        text = make(middle)
        if text is None:
            high = middle - 1
        else:
            low, best = middle, text
    return best


class _Tree:
    """Renders one traversal in different shapes."""

    def __init__(self, traversal: Traversal, graph: GraphView, budget: Budget, notes: Sequence[str]) -> None:
        self._traversal = traversal
        self._graph = graph
        self._budget = budget
        self._notes = notes
        # A token has a byte at least in any tokenizer, and seldom more than sixteen.
        self._most = budget.max_tokens * 16

    def text_of(self, depth: int, width: int) -> str | None:
        """See `text`."""
        return self.text(_Shape(depth, width))

    def text(self, shape: _Shape) -> str | None:
        """The trees in this shape; `None` when they are over the budget."""
        lines: list[str] = []
        try:
            for start in self._traversal.starts:
                self._add(lines, start, "", "", shape)
        except _TooLongError:
            return None
        text = "\n".join([*lines, *self._footer(shape)])
        return text if self._budget.fits(text) else None

    def bare(self) -> str:
        """The starts, and how much is missing: what is left when nothing fits."""
        starts = [f"{self._label(step)} [+{step.below}]" for step in self._traversal.starts]
        return "\n".join([*self._footer(_Shape(0, 0)), *starts])

    def _add(self, lines: list[str], step: Step, connector: str, indent: str, shape: _Shape) -> None:
        """The lines of a step and of what is below it; without recursion, as chains may be long."""
        waiting: list[tuple[Step | None, str, str, str]] = [(step, connector, indent, "")]
        size = 0
        while waiting:
            current, before, below, summary = waiting.pop()
            line = before + (summary if current is None else self._line(current, shape))
            lines.append(line)
            size += len(line)
            if size > self._most:
                raise _TooLongError
            if current is None or current.depth >= shape.depth:
                continue
            shown, hidden = _divided(current.children, shape.width)
            entries: list[tuple[Step | None, str]] = [(child, "") for child in shown]
            if hidden:
                entries.append((None, self._summary(hidden)))
            for place in range(len(entries) - 1, -1, -1):
                last = place == len(entries) - 1
                child, text = entries[place]
                waiting.append(
                    (child, f"{below}{'└─ ' if last else '├─ '}", f"{below}{'   ' if last else '│  '}", text)
                )

    def _line(self, step: Step, shape: _Shape) -> str:
        links = ", ".join(_words(link) for link in step.links)
        text = f"{links}: {self._label(step)}" if links else self._label(step)
        if step.first is not None:
            return f"{text} (expanded elsewhere)" if step.first.children else text
        hidden = step.below if step.depth >= shape.depth else 0
        return f"{text} [+{hidden}]" if hidden else text

    def _label(self, step: Step) -> str:
        entity = self._graph.entity(step.node)
        if not entity.qualname:
            return printable(entity.id)
        return f"{printable(entity.id)} ({entity.kind}, {lines_of(entity)})"

    def _summary(self, hidden: Sequence[Step]) -> str:
        behind = sum(step.below for step in hidden)
        more = f", {behind} more behind them" if behind else ""
        return f"… {self._counted(hidden)}{more}"

    def _counted(self, steps: Iterable[Step]) -> str:
        """`37 more functions and 2 more classes in 5 files`."""
        kinds: dict[EntityKind, int] = {}
        files: set[str] = set()
        for step in steps:
            kind = self._graph.kind(step.node)
            kinds[kind] = kinds.get(kind, 0) + 1
            if kind in (EntityKind.CLASS, EntityKind.FUNCTION):
                files.add(self._graph.entity(step.node).path)
        parts = [_plural(kinds[kind], kind) for kind in EntityKind if kind in kinds]
        where = f" in {len(files)} file{'s' if len(files) > 1 else ''}" if files else ""
        return f"{' and '.join(parts)}{where}"

    def _footer(self, shape: _Shape) -> list[str]:
        lines = list(self._notes)
        traversal = self._traversal
        if any(step.depth == shape.depth and step.below for step in traversal.steps):
            lines.append(f"[+n]: n entries below, left out to fit {self._budget.max_tokens} tokens")
        if traversal.other_kinds:
            lines.append(f"{traversal.other_kinds} neighbours of other kinds were not followed")
        if traversal.cut:
            lines.append(f"stopped after {MOST_NODES} entries: limit the hops, kinds or relations")
        return lines


def _divided(children: Sequence[Step], width: int) -> tuple[Sequence[Step], Sequence[Step]]:
    """The children that are shown and those that are summarised; one leaf costs as much as its summary."""
    if len(children) <= width or (len(children) == width + 1 and not children[-1].below):
        return children, ()
    return children[:width], children[width:]


def _plural(number: int, kind: EntityKind) -> str:
    return f"{number} more {kind if number == 1 else _PLURALS[kind]}"


def _words(link: Link) -> str:
    words = str(link.relation) if link.forward else _BACKWARD[link.relation]
    return f"{words} (weak)" if link.weak else words
