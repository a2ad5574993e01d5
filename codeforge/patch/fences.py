"""Fenced blocks of an answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeforge.patch.pathline import FENCE


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block. Line numbers are 0-based; the content is `lines[start + 1:end]`.

    Attributes:
        start: the opening line.
        end: the closing line, or the end of the answer (or the next opening line) when `closed` is false.
        info: the info string.
    """

    start: int
    end: int
    info: str
    closed: bool

    @property
    def language(self) -> str:
        """The info string's first word, lower case."""
        return re.split(r"[\s:,{]", self.info.strip().lower() or " ")[0]

    @property
    def after(self) -> int:
        """The line after the block."""
        return self.end + 1 if self.closed else self.end

    def content(self, lines: Sequence[str]) -> list[str]:
        """The block's lines, without the opening line's own indentation."""
        opening = lines[self.start]
        indent = opening[: len(opening) - len(opening.lstrip())]
        body = list(lines[self.start + 1 : self.end])
        if indent and all(line.startswith(indent) or not line.strip() for line in body):
            return [line[len(indent) :] for line in body]
        return body


def fence_at(lines: Sequence[str], taken: Sequence[bool], index: int) -> Fence | None:
    """The fenced block that opens at line `index`, if one does; fence marks in `taken` lines are content."""
    opening = FENCE.match(lines[index]) if index < len(lines) and not taken[index] else None
    if opening is None:
        return None
    end, closed = _end(lines, taken, index, opening[1], opening[2])
    return Fence(index, end, opening[2].strip(), closed)


def find_fences(lines: Sequence[str], taken: Sequence[bool]) -> list[Fence]:
    """Every fenced block of the answer."""
    found = []
    index = 0
    while index < len(lines):
        fence = fence_at(lines, taken, index)
        if fence is not None:
            found.append(fence)
        index = index + 1 if fence is None else fence.after
    return found


def _end(lines: Sequence[str], taken: Sequence[bool], start: int, mark: str, info: str) -> tuple[int, bool]:
    """The closing line of the fence opened at `start`, and whether there is one."""
    holds_fences = info.strip().lower().split(" ")[0] in ("md", "markdown", "rst", "mdx")
    depth = 0
    for index in range(start + 1, len(lines)):
        found = None if taken[index] else FENCE.match(lines[index])
        if found is None or found[1][0] != mark[0] or len(found[1]) < len(mark):
            continue
        if found[2].strip():
            if holds_fences:
                depth += 1
            elif len(found[1]) == len(mark):
                return index, False  # the model forgot to close the block before opening the next
        elif depth:
            depth -= 1
        else:
            return index, True
    return len(lines), False
