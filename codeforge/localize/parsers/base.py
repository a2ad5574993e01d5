"""The seam for languages: `LanguageParser`, what it answers, and the registry by file extension."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import Protocol

from codeforge.localize.model import EntityKind


@dataclass(frozen=True, slots=True)
class ParsedEntity:
    """A class or function of a file.

    Attributes:
        kind: `CLASS` or `FUNCTION`.
        qualname: `name`, `Class.method`, `outer.inner`.
        start_line, end_line: 1-based, inclusive, decorators included.
        signature: its header up to the body, one line of text.
        docstring: its documentation, or "".
        text: its own source: a function whole, a class without its methods.
        calls: names it calls (last part only), each once, in order.
        bases: for a class, the names it inherits from.
    """

    kind: EntityKind
    qualname: str
    start_line: int
    end_line: int
    signature: str
    docstring: str
    text: str
    calls: tuple[str, ...]
    bases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One file.

    Attributes:
        entities: in source order.
        imports: imported modules and names, dotted (`os.path`, `pkg.mod.name`, `.sibling.name`).
        text: the source outside every entity: constants, the docstring, `if __name__` blocks.
        calls: names called there.
        lines: how many lines the file has.
        has_errors: some of it is not valid source; the rest was parsed all the same.
    """

    entities: tuple[ParsedEntity, ...]
    imports: tuple[str, ...]
    text: str
    calls: tuple[str, ...]
    lines: int
    has_errors: bool


class LanguageParser(Protocol):
    """Takes source text of one language apart."""

    def parse(self, text: str) -> ParsedFile:
        """Parse `text` (line endings `\\n`). Never raises on bad source: what parses is answered."""
        ...


# Extension → module with `create() -> LanguageParser`. A language is a module (or folder) of its own
# and a line here. The number is the parser's version: raise it and cached results are made anew.
_LANGUAGES: dict[str, tuple[str, str, int]] = {
    ".py": ("python", "codeforge.localize.parsers.python", 1),
    ".pyi": ("python", "codeforge.localize.parsers.python", 1),
    ".pyw": ("python", "codeforge.localize.parsers.python", 1),
}


def language_of(path: str) -> str:
    """A tag naming the parser of `path` and its version, such as `python/1`; "" when there is none."""
    found = _LANGUAGES.get(PurePosixPath(path).suffix.lower())
    return f"{found[0]}/{found[2]}" if found else ""


def parser_for(path: str) -> LanguageParser | None:
    """The parser for `path` by its extension; `None` when its language has none."""
    found = _LANGUAGES.get(PurePosixPath(path).suffix.lower())
    return _create(found[1]) if found else None


@cache
def _create(module: str) -> LanguageParser:
    create: Callable[[], LanguageParser] = import_module(module).create
    return create()
