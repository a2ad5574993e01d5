"""A traversal as a tree of lines, summarised where it is too wide or too deep for the budget."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    """How much of a tree is shown.

    Attributes:
        depth: levels below the starts.
        width: so many first children of each node are shown with what is below them.
        lines: so many, those included, are shown at all.
    """

    depth: int
    width: int
    lines: int


class _Waiting(NamedTuple):
    """An entry to be written: its line, the steps below it, what their lines begin with, and its depth."""

    text: str
    children: Sequence[Step]
    indent: str
    depth: int


class _TooLongError(Exception):
    """The lines so far are over the budget already."""


def show_traversal(traversal: Traversal, graph: GraphView, budget: Budget, notes: Sequence[str] = ()) -> str:
    """The trees, within the budget.

    When all of it does not fit, each node shows its first children only and one line for the rest of them,
    as many as fit; when three for each are too many, the deepest levels go first. Room that is left then
    shows further children without what is below them. What is not there is said.
    """
    tree = _Tree(traversal, graph, budget, notes)
    deepest = max((step.depth for step in traversal.steps), default=0)
    widest = max((len(step.children) for step in traversal.steps), default=0)
    whole = tree.text(_Shape(deepest, widest, widest))
    if whole is not None:
        return whole
    for depth in range(deepest, 0, -1):
        least = _LEAST_WIDTH if depth > 1 else 0
        width = _largest(least, widest, partial(tree.fits, depth))
        if width is not None:
            lines = _largest(width, widest, partial(tree.fits, depth, width)) or width
            return tree.text(_Shape(depth, width, lines)) or ""
    return tree.text(_Shape(0, 0, 0)) or budget.clip(tree.bare())


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int | None:
    """The largest number from `low` to `high` that fits, where more is longer; `None` when `low` doesn't."""
    if not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


class _Tree:
    """Renders one traversal in different shapes."""

    def __init__(self, traversal: Traversal, graph: GraphView, budget: Budget, notes: Sequence[str]) -> None:
        self._traversal = traversal
        self._graph = graph
        self._budget = budget
        self._notes = notes
        self._collapsed = False
        # A token has a byte at least in any tokenizer, and seldom more than sixteen.
        self._most = budget.max_tokens * 16

    def fits(self, depth: int, width: int, lines: int = 0) -> bool:
        """Whether the trees in this shape are within the budget."""
        return self.text(_Shape(depth, width, max(width, lines))) is not None

    def text(self, shape: _Shape) -> str | None:
        """The trees in this shape; `None` when they are over the budget."""
        lines: list[str] = []
        self._collapsed = False
        try:
            for start in self._traversal.starts:
                self._add(lines, start, shape)
        except _TooLongError:
            return None
        text = "\n".join([*lines, *self._footer()])
        return text if self._budget.fits(text) else None

    def bare(self) -> str:
        """The starts, and how much is missing: what is left when nothing fits."""
        starts = [self._line(step, collapsed=True) for step in self._traversal.starts]
        return "\n".join([*self._footer(), *starts])

    def _add(self, lines: list[str], start: Step, shape: _Shape) -> None:
        """The lines of a start and of what is below it; without recursion, as chains may be long."""
        waiting = [_Waiting(self._line(start, collapsed=shape.depth == 0), start.children, "", 0)]
        size = 0
        while waiting:
            entry = waiting.pop()
            lines.append(entry.text)
            size += len(entry.text)
            if size > self._most:
                raise _TooLongError
            if entry.depth < shape.depth:
                waiting.extend(reversed(list(self._below(entry, shape))))

    def _below(self, entry: "_Waiting", shape: _Shape) -> "Iterator[_Waiting]":
        """The entries below one: children, and a line for those that are left out."""
        shown, hidden = _divided(entry.children, shape)
        depth = entry.depth + 1
        for place, child in enumerate(shown):
            last = not hidden and place == len(shown) - 1
            collapsed = depth == shape.depth or place >= shape.width
            text = f"{entry.indent}{'└─ ' if last else '├─ '}{self._line(child, collapsed=collapsed)}"
            below = () if collapsed else child.children
            yield _Waiting(text, below, f"{entry.indent}{'   ' if last else '│  '}", depth)
        if hidden:
            yield _Waiting(f"{entry.indent}└─ {self._summary(hidden)}", (), "", depth)

    def _line(self, step: Step, *, collapsed: bool) -> str:
        links = ", ".join(_words(link) for link in step.links)
        text = f"{links}: {self._label(step)}" if links else self._label(step)
        if step.first is not None:
            return f"{text} (expanded elsewhere)" if step.first.children else text
        if not collapsed or not step.below:
            return text
        self._collapsed = True
        return f"{text} [+{step.below}]"

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

    def _footer(self) -> list[str]:
        lines = list(self._notes)
        traversal = self._traversal
        if self._collapsed:
            lines.append(f"[+n]: n entries below, left out to fit {self._budget.max_tokens} tokens")
        if traversal.other_kinds:
            lines.append(f"{traversal.other_kinds} neighbours of other kinds were not followed")
        if traversal.cut:
            lines.append(f"stopped after {MOST_NODES} entries: limit the hops, kinds or relations")
        return lines


def _divided(children: Sequence[Step], shape: _Shape) -> tuple[Sequence[Step], Sequence[Step]]:
    """The children that are shown and those that are summarised; one costs as much as its summary."""
    if len(children) <= shape.lines + 1:
        return children, ()
    return children[: shape.lines], children[shape.lines :]


def _plural(number: int, kind: EntityKind) -> str:
    return f"{number} more {kind if number == 1 else _PLURALS[kind]}"


def _words(link: Link) -> str:
    words = str(link.relation) if link.forward else _BACKWARD[link.relation]
    return f"{words} (weak)" if link.weak else words
