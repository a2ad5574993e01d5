"""SEARCH/REPLACE blocks as models really write them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeforge.patch.answer import Draft, joined
from codeforge.patch.entities import EntitySource
from codeforge.patch.model import EditBlock, EditKind
from codeforge.patch.pathline import FENCE, path_above, path_of_line

_OPEN = re.compile(r"^\s*(<{5,9})\s*(?:SEARCH|ORIGINAL)\b:?\s*(.*)$", re.IGNORECASE)
_END = re.compile(r"^\s*(>{5,9})\s*(?:REPLACE|UPDATED)\b", re.IGNORECASE)
_BARE_END = re.compile(r"^\s*>{5,9}\s*$")
_DIVIDER = re.compile(r"^\s*(={5,9})\s*$")
_CONFLICT_OPEN = re.compile(r"^\s*<{5,9}(?:\s|$)")
_CONFLICT_END = re.compile(r"^\s*>{5,9}(?:\s|$)")


@dataclass(frozen=True, slots=True)
class _Span:
    """A block's lines: the opening marker, the end marker, the line after."""

    start: int
    end: int
    after: int


def take_blocks(draft: Draft, entities: EntitySource | None) -> None:
    """Take every SEARCH/REPLACE block of the answer."""
    index = floor = 0
    spans = _spans(draft.lines)
    while index < len(draft.lines):
        opening = _OPEN.match(draft.lines[index])
        if opening is None or draft.taken[index]:
            index += 1
            continue
        span = _span(draft.lines, index, spans[index])
        if isinstance(span, str):
            draft.problem(index, span)
            draft.take(index, index + 1)
            index += 1
            continue
        _take(draft, span, opening, floor, entities)
        draft.take(span.start, span.after)
        index = floor = span.after


def _take(
    draft: Draft, span: _Span, opening: re.Match[str], floor: int, entities: EntitySource | None
) -> None:
    path = _path(draft, span.start, opening[2], floor)
    if path is None:
        draft.problem(span.start, "the block doesn't say which file it is for")
        return
    body = _dedented(draft.lines[span.start], draft.lines[span.start + 1 : span.end])
    divider = _divider(body, len(opening[1]), lambda: None if entities is None else entities.source(path))
    if isinstance(divider, str):
        draft.problem(span.start, divider)
        return
    search, replace = body[:divider], body[divider + 1 :]
    if not path.endswith((".md", ".markdown", ".rst", ".mdx")):
        search, replace = _unfenced(search, replace)
    kind = EditKind.REPLACE if any(line.strip() for line in search) else EditKind.CREATE
    text = "" if kind is EditKind.CREATE else joined(search)
    draft.add(span.start, [EditBlock(path, kind, text, joined(replace))])


def _spans(lines: Sequence[str]) -> dict[int, tuple[int | None, int]]:
    """For each opening marker: its end marker, and the next opening marker (or the end of the answer).

    Blocks nest like brackets: an end marker belongs to the nearest open block of its own width.
    """
    spans: dict[int, tuple[int | None, int]] = {}
    unmatched: dict[int, list[int]] = {}
    latest: dict[int, int] = {}
    for index, line in enumerate(lines):
        opening, end = _OPEN.match(line), _END.match(line)
        if opening:
            width = len(opening[1])
            if width in latest:
                spans[latest[width]] = (spans[latest[width]][0], index)
            spans[index] = (None, len(lines))
            latest[width] = index
            unmatched.setdefault(width, []).append(index)
        elif end and unmatched.get(len(end[1])):
            start = unmatched[len(end[1])].pop()
            spans[start] = (index, spans[start][1])
    return spans


def _span(lines: Sequence[str], start: int, found: tuple[int | None, int]) -> _Span | str:
    """The block opened at `start`, or why it has no end."""
    end, next_opening = found
    return _Span(start, end, end + 1) if end is not None else _loose_span(lines, start, next_opening)


def _loose_span(lines: Sequence[str], start: int, limit: int) -> _Span | str:
    """A block whose end marker has another width, has lost its word, or is only the fence's end."""
    divider = next((i for i in range(start + 1, limit) if _DIVIDER.match(lines[i])), None)
    if divider is None:
        return "the block has no '=======' line"
    for pattern in (_END, _BARE_END):
        for index in range(divider + 1, limit):
            if pattern.match(lines[index]):
                return _Span(start, index, index + 1)
    fenced = start > 0 and FENCE.match(lines[start - 1])
    for index in range(divider + 1, limit):
        fence = FENCE.match(lines[index])
        if fenced and fence and not fence[2].strip():
            return _Span(start, index, index)
    return "the block has no '>>>>>>> REPLACE' line (the answer may have been cut off)"


def _divider(body: Sequence[str], width: int, source: Callable[[], str | None]) -> int | str:
    """The line between search and replacement, or why that isn't clear."""
    everywhere = [(i, len(m[1])) for i, line in enumerate(body) if (m := _DIVIDER.match(line))]
    outer = [(i, size) for i, size in everywhere if i in _outside_conflicts(body)]
    for candidates in (outer, everywhere):
        same_width = [i for i, size in candidates if size == width]
        chosen = same_width or [i for i, _ in candidates]
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            return _by_source(body, chosen, source())
    return "the block has no '=======' line"


def _by_source(body: Sequence[str], dividers: list[int], source: str | None) -> int | str:
    """Where several lines could be the divider, the one before which the text stands in the file."""
    text = "\n" + (source or "") + "\n"
    fitting = [i for i in dividers if i and "\n" + "\n".join(body[:i]) + "\n" in text]
    # A text that stands in the file holds each shorter one: the longest says most.
    if source is not None and fitting:
        return max(fitting)
    return "several '=======' lines: which one divides the block isn't clear; use longer markers"


def _outside_conflicts(body: Sequence[str]) -> set[int]:
    """The lines that are not within a merge conflict or a nested block."""
    outside, depth = set(), 0
    for index, line in enumerate(body):
        if _CONFLICT_OPEN.match(line):
            depth += 1
        elif _CONFLICT_END.match(line):
            depth = max(0, depth - 1)
        elif depth == 0:
            outside.add(index)
    return outside


def _path(draft: Draft, start: int, tail: str, floor: int) -> str | None:
    path = path_of_line(tail, draft.known_paths) if tail.strip() else None
    path = path or path_above(draft.lines, start, floor, draft.known_paths)
    if path is None:
        path = draft.last_path_before(start)
    if path is None and len(draft.known_paths) == 1:
        (path,) = draft.known_paths
    return path


def _dedented(marker: str, body: list[str]) -> list[str]:
    """Without the indentation that the marker line has, when every line has it (a block in a list)."""
    indent = marker[: len(marker) - len(marker.lstrip())]
    if indent and all(line.startswith(indent) or not line.strip() for line in body):
        return [line[len(indent) :] for line in body]
    return body


def _unfenced(search: list[str], replace: list[str]) -> tuple[list[str], list[str]]:
    """Without the fences that some models put around each half. Only when each written half has them."""
    halves = [half for half in (search, replace) if any(line.strip() for line in half)]
    if halves and all(_is_fenced(half) for half in halves):
        return _inside(search), _inside(replace)
    return search, replace


def _written(half: list[str]) -> list[int]:
    return [index for index, line in enumerate(half) if line.strip()]


def _is_fenced(half: list[str]) -> bool:
    written = _written(half)
    first, last = FENCE.match(half[written[0]]), FENCE.match(half[written[-1]])
    return len(written) > 1 and first is not None and last is not None and not last[2].strip()


def _inside(half: list[str]) -> list[str]:
    written = _written(half)
    return half[written[0] + 1 : written[-1]] if written else half
