"""Comments: documentation that stands above a definition, and how to read past them."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from codeforge.localize.parsers.source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

_MARKS = re.compile(r"^[ \t]*(?:///?!?|/\*[*!]?|\*/|\*(?!/)|#+)[ \t]?|\s*\*/\s*$", re.MULTILINE)
_LONGEST = 4000
_STRING = r"""(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_FORMS = {"#": r"#[^\n]*", "//": r"//[^\n]*", "/*": r"/\*.*?(?:\*/|\Z)"}


class Comments:
    """The comments of a file that fill whole lines.

    Args:
        source: the file.
        nodes: its comments.
    """

    def __init__(self, source: Source, nodes: "Sequence[Node]") -> None:
        self._source = source
        self._ending: dict[int, tuple[int, int, int]] = {}
        data = source.data
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            if data[data.rfind(b"\n", 0, start) + 1 : start].strip():
                continue  # it says something of the code before it
            first, last = node.start_point[0], node.end_point[0]
            self._ending[last - data.startswith(b"\n", end - 1)] = (first, start, end)

    def above(self, start: int, line: int) -> str:
        """The text of the comments directly above a definition that starts at a byte of a line (1-based)."""
        row = line - 2
        texts: list[str] = []
        length = 0
        while row in self._ending and length < _LONGEST:
            first, begin, end = self._ending[row]
            if end > start:
                break
            texts.append(self._source.between(begin, end))
            length += end - begin
            row = min(first, row) - 1
        if not texts:
            return ""
        return _MARKS.sub("", "\n".join(reversed(texts)))[:_LONGEST].replace("\0", "").strip()


@cache
def comment_remover(marks: tuple[str, ...]) -> Callable[[str], str]:
    """What takes the comments out of a few lines of code.

    Args:
        marks: with which comments begin: `#`, `//` (up to the end of the line) or `/*`.

    Raises:
        KeyError: another mark.
    """
    pattern = re.compile("|".join([_STRING, *(_FORMS[mark] for mark in marks)]), re.DOTALL)

    def remove(code: str) -> str:
        if not any(mark in code for mark in marks):
            return code
        return pattern.sub(lambda found: found["string"] or " ", code)

    return remove
