"""The source behind entities: its lines, documentation and import statements, read for one call."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codeforge.localize.model import Entity
from codeforge.localize.parsers.base import Language, ParsedFile, language_of, query_of
from codeforge.localize.read import decode_source, read_source

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

_LONGEST_LINE = 400
_WORD = re.compile(r"[^\W\d]\w*")
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}


class Imports(NamedTuple):
    """Import statements of a file.

    Attributes:
        lines: the 1-based lines of those that matter.
        others: how many statements do not.
    """

    lines: tuple[int, ...]
    others: int


class SourceFile:
    """One file as it is now.

    Attributes:
        lines: its text, without line breaks; a break at the end makes no line.
    """

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self.lines = text.removesuffix("\n").split("\n") if text else []

    @cached_property
    def parsed(self) -> ParsedFile | None:
        """What the parser of its language finds; `None` without one."""
        language = language_of(self._path)
        return language.parser.parse(self._bytes) if language else None

    @cached_property
    def _bytes(self) -> bytes:
        return self._text.encode("utf-8", "replace")

    def docstring(self, entity: Entity) -> str:
        """The first line of an entity's documentation, or ""."""
        if self.parsed is None:
            return ""
        if not entity.qualname:
            return self._file_docstring()
        for found in self.parsed.entities:
            if found.qualname == entity.qualname and found.start_line == entity.start_line:
                return found.docstring.strip().partition("\n")[0].strip()
        return ""

    def _file_docstring(self) -> str:
        opening = re.match(r'\s*[rR]?("""|\'\'\')\s*(?P<line>[^\n]*)', self._text)
        return opening["line"].partition(opening[1])[0].strip() if opening else ""

    def imports(self, first: int, last: int) -> Imports:
        """The import statements outside of lines `first`–`last` that bind a name used on them."""
        language = language_of(self._path)
        if language is None:
            return Imports((), 0)
        used = set(_WORD.findall("\n".join(self.lines[first - 1 : last])))
        kept: set[int] = set()
        others = 0
        for start, end, statement in _import_statements(language, self._bytes):
            if first <= start <= last:
                continue
            bound = language.rules.imports(statement)
            if any(name.name == "*" or name.alias.partition(".")[0] in used for name in bound):
                kept.update(range(start, end + 1))
            else:
                others += 1
        return Imports(tuple(sorted(kept)), others)

    def containing(
        self, words: Iterable[str], first: int, last: int, limit: int, *, besides: str = ""
    ) -> list[int]:
        """The first lines among `first`–`last` that contain any of `words`, ignoring case; those with most
        of them are preferred. Lines that are part of the text `besides` don't count."""
        wanted = [word.lower() for word in words]
        counted = [
            (-sum(word in line.lower() for word in wanted), number)
            for number, line in enumerate(self.lines[first - 1 : last], start=first)
            if line.strip(" \t\"'") not in besides
        ]
        best = sorted(pair for pair in counted if pair[0])[:limit]
        return sorted(number for _, number in best)

    def numbered(self, numbers: Sequence[int]) -> str:
        """These lines with their numbers; a gap between them is said with its length."""
        width = len(str(numbers[-1])) if numbers else 0
        shown: list[str] = []
        before = numbers[0] - 1 if numbers else 0
        for number in numbers:
            if number > before + 1:
                shown.append(f"{' ' * width}  … {counted(number - before - 1, 'line')}")
            shown.append(f"{number:>{width}}| {printable(_short(self.lines[number - 1]))}")
            before = number
        return "\n".join(shown)


class Sources:
    """The files below a root, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, SourceFile | None] = {}

    def of(self, path: str) -> SourceFile | None:
        """The file as it is now; `None` when it is gone, binary or too large."""
        if path not in self._files:
            raw = read_source(self._root, path)
            text = None if raw is None else decode_source(raw, path)
            self._files[path] = None if text is None else SourceFile(path, text)
        return self._files[path]


def printable(text: str) -> str:
    """`text` with control characters and half surrogates as escapes, so that any terminal takes it."""
    return text.translate(_CONTROLS).encode("utf-8", "backslashreplace").decode("utf-8")


def counted(number: int, one: str, many: str = "") -> str:
    """`1 line`, `2 lines`."""
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"


def _short(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]} … {len(line) - _LONGEST_LINE} more characters"


def _import_statements(language: Language, source: bytes) -> list[tuple[int, int, str]]:
    """The import statements of a file: first and last line, and text."""
    from tree_sitter import QueryCursor

    parser, query = _import_query(language)
    captured = QueryCursor(query).captures(parser.parse(source).root_node).get("import", ())
    found = [
        (
            node.start_point[0] + 1,
            node.end_point[0] + (node.end_point[1] > 0),
            source[node.start_byte : node.end_byte].decode("utf-8", "replace"),
        )
        for node in captured
    ]
    return sorted(found)


@cache
def _import_query(language: Language) -> "tuple[Parser, Query]":
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

    grammar = Grammar(getattr(import_module(language.grammar), language.function)())
    return Parser(grammar), Query(grammar, query_of(language))
