"""What a prompt is about: the function to repair, and the text around it that the model needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from codeforge.errors import CodeforgeError
from codeforge.localize.model import Entity, EntityKind, Location
from codeforge.patch.textfile import read_text_file
from codeforge.reward.protected import protected_reason

HEADER_LINES = 20


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Whole lines of a file: `start`–`end`, 1-based and inclusive."""

    path: str
    start: int
    end: int
    text: str


def function_targets(locations: Sequence[Location], limit: int) -> list[Entity]:
    """The most likely functions and classes, best first, tests left out.

    A class is a target only when none of its methods is named.
    """
    entities = [item.entity for item in locations if protected_reason(item.entity.path) is None]
    functions = [e for e in entities if e.kind is EntityKind.FUNCTION]
    covered = {e.id.rpartition(".")[0] for e in functions}
    classes = [e for e in entities if e.kind is EntityKind.CLASS and e.id not in covered]
    chosen = [e for e in entities if e in functions or e in classes]
    outermost = [e for e in chosen if not any(_inside(e, other) for other in chosen)]
    return outermost[:limit]


def whole_file(root: Path, path: str) -> Excerpt | None:
    """A whole text file; `None` when it can't be read as text."""
    try:
        lines = read_text_file(root, path).text.splitlines()
    except CodeforgeError:
        return None  # binary, huge or gone: no context can come from it
    return Excerpt(path, 1, len(lines), "\n".join(lines))


def entity_source(root: Path, entity: Entity) -> Excerpt | None:
    """The lines of one entity."""
    whole = whole_file(root, entity.path)
    if whole is None:
        return None
    lines = whole.text.splitlines()[entity.start_line - 1 : entity.end_line]
    return Excerpt(entity.path, entity.start_line, entity.end_line, "\n".join(lines))


def header_of(source: str) -> str:
    """A function's or class's source up to the colon that ends its header, dedented; "" when none is seen.

    It begins the answer of a model that is to rewrite the function, so that nothing else can be answered; a
    docstring belongs to it, so that none is lost.
    """
    lines = dedent(source).splitlines()
    for place, line in enumerate(lines[:HEADER_LINES], start=1):
        bare = line.split("#", 1)[0].rstrip()
        if bare.endswith(":") and not line.startswith("@"):
            return "\n".join(lines[: place + _docstring_lines(lines[place:])])
    return ""


def _docstring_lines(body: Sequence[str]) -> int:
    """How many lines the docstring at the start of a body takes; 0 without one."""
    first = body[0].strip() if body else ""
    quote = next((mark for mark in ('"""', "'''") if first.lstrip("rRuU").startswith(mark)), "")
    if not quote:
        return 0
    if first.count(quote) >= 2:
        return 1
    ends = (place for place, line in enumerate(body[1:], start=2) if quote in line)
    return next(ends, 0)


def most_suspicious(lines: Mapping[int, float], start: int, end: int, most: int) -> list[int]:
    """Up to `most` lines of a span whose suspicion stands out; none when all are alike."""
    inside = {line: score for line, score in lines.items() if start <= line <= end}
    if not inside or min(inside.values()) == max(inside.values()):
        return []
    top = max(inside.values())
    return sorted(line for line, score in inside.items() if score >= 0.999 * top)[:most]


def _inside(inner: Entity, outer: Entity) -> bool:
    if inner is outer or inner.path != outer.path:
        return False
    wider = outer.start_line < inner.start_line or outer.end_line > inner.end_line
    return wider and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
