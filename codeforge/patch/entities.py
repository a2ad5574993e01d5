"""The seam between the patch parser and the code index: what a whole-function answer redefines.

Small models often answer with a fenced function instead of a SEARCH/REPLACE block. The parser turns
that into an edit of the one entity it redefines; what is known about the repository comes through
`EntitySource`, which `codeforge.localize` implements.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A function, method or class as it stands in a file.

    Attributes:
        path: the file, relative to the repository root, with forward slashes.
        qualname: `name`, `Class.method`, `Outer.Inner.method`.
        start_line, end_line: 1-based, inclusive, decorators included.
        text: those whole lines (first line's indentation included) joined by `\\n`, with no newline at
            the end, decoded as `EntitySource.source` decodes the file.
    """

    path: str
    qualname: str
    start_line: int
    end_line: int
    text: str


class EntitySource(Protocol):
    """What is known about the repository's entities."""

    def lookup(self, path_hint: str | None, code: str) -> list[EntitySpan]:
        """Every known entity that `code` may redefine.

        `code` is a piece of source text (one fenced block). For each function or class that it
        defines, at any depth, the answer holds **all** entities whose last name part is that name:
        two files that both define `area` give two spans, and the parser decides whether that is
        ambiguous. With `path_hint` (a path relative to the root) only entities of that file count.
        Order: by path, then start line. Unknown names, unknown files and unparsable code give an
        empty list; nothing is raised.
        """
        ...

    def source(self, path: str) -> str | None:
        """The whole text of a known file with `\\n` line endings and no BOM; `None` when unknown.

        Line numbers of spans count lines of this text.
        """
        ...
