"""From the bytes of one file to what the index keeps of it."""

import json
from dataclasses import dataclass
from pathlib import PurePosixPath

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import (
    Import,
    ParsedEntity,
    ParsedFile,
    Reference,
    TypeHint,
    language_of,
)
from codeforge.localize.read import decode_source
from codeforge.localize.roles import looks_generated
from codeforge.localize.wordtable import WordTable, table_of

MOST_ENTITIES = 20_000
"""A file with more is data written as code; the rest of it isn't indexed."""
_LONGEST_PLAIN = 200_000


@dataclass(frozen=True, slots=True)
class Content:
    """What is kept of one content (whatever files hold it).

    Attributes:
        parsed: its structure; of a file without a parser only the number of lines.
        generated: it says that a program wrote it.
        words: document n is entity n, document 0 what stands outside of them.
    """

    parsed: ParsedFile
    generated: bool
    words: WordTable


def analyse(raw: bytes, path: str) -> Content | None:
    """Take one file apart; `None` when it is binary. Only the name's extension matters of `path`."""
    source = _normal(raw, path)
    if source is None:
        return None
    generated = looks_generated(source[:1000].decode("utf-8", "replace"))
    language = language_of(path)
    if language is None:
        text = source.decode("utf-8", "replace")
        parsed = ParsedFile((), (), (), (), text.count("\n") + 1, False)
        # Long prose and long templates say little per word: their beginning is enough.
        return Content(parsed, generated, table_of([""], [text[:_LONGEST_PLAIN]]))
    parsed = _bounded(language.parser.parse(source))
    return Content(parsed, generated, _words(parsed, source))


def _normal(raw: bytes, path: str) -> bytes | None:
    """The text as UTF-8 with `\\n` line endings; most files are that already."""
    if b"\r" not in raw and b"\0" not in raw and not raw.startswith(b"\xef\xbb\xbf"):
        if raw.isascii() and b"coding" not in raw[:200]:
            return raw
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            return raw
    text = decode_source(raw, path)
    return None if text is None else text.encode("utf-8", "replace")


def _bounded(parsed: ParsedFile) -> ParsedFile:
    if len(parsed.entities) <= MOST_ENTITIES:
        return parsed
    return ParsedFile(
        parsed.entities[:MOST_ENTITIES],
        parsed.imports,
        [reference for reference in parsed.references if reference.owner <= MOST_ENTITIES],
        [hint for hint in parsed.hints if hint.owner <= MOST_ENTITIES],
        parsed.lines,
        parsed.has_errors,
    )


def _words(parsed: ParsedFile, source: bytes) -> WordTable:
    """The documents of a file: what stands outside its entities, then every entity; a class without what it
    contains, a function whole."""
    text = _Text(source)
    inside: list[list[ParsedEntity]] = [[] for _ in range(len(parsed.entities) + 1)]
    for entity in parsed.entities:
        inside[entity.parent].append(entity)
    heads, bodies = [""], [text.without(0, len(source), inside[0])]
    for ordinal, entity in enumerate(parsed.entities, 1):
        if entity.kind is EntityKind.CLASS:
            bodies.append(text.without(entity.start, entity.end, inside[ordinal]))
        else:
            bodies.append(text.between(entity.start, entity.end))
        heads.append(f"{entity.qualname} {entity.signature}\n{entity.docstring}")
    return table_of(heads, bodies)


class _Text:
    """Source text by byte offsets. In pure ASCII bytes and characters are the same."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._ascii = source.decode("ascii") if source.isascii() else None

    def between(self, start: int, end: int) -> str:
        """The text from `start` to `end`."""
        if self._ascii is not None:
            return self._ascii[start:end]
        return self._source[start:end].decode("utf-8", "replace")

    def without(self, start: int, end: int, holes: list[ParsedEntity]) -> str:
        """The text from `start` to `end` without what lies in `holes`."""
        parts = []
        for hole in holes:
            parts.append(self.between(start, hole.start))
            start = max(start, hole.end)
        parts.append(self.between(start, end))
        return "\n".join(parts)


def pack_structure(parsed: ParsedFile) -> str:
    """The structure of a file as JSON. Docstrings and byte offsets are left out: they are in the source."""
    return json.dumps(
        [
            parsed.lines,
            int(parsed.has_errors),
            [
                [
                    int(e.kind is EntityKind.CLASS),
                    e.qualname,
                    e.parent,
                    e.start_line,
                    e.end_line,
                    e.signature,
                    e.returns,
                ]
                for e in parsed.entities
            ],
            parsed.imports,
            parsed.references,
            parsed.hints,
        ],
        separators=(",", ":"),
        ensure_ascii=False,
    )


def unpack_structure(packed: str) -> ParsedFile:
    """The opposite of `pack_structure`.

    Raises:
        ValueError, TypeError: it is no such thing.
    """
    lines, errors, entities, imports, references, hints = json.loads(packed)
    kinds = (EntityKind.FUNCTION, EntityKind.CLASS)
    return ParsedFile(
        [
            ParsedEntity(kinds[kind], qualname, parent, first, last, signature, "", 0, 0, returns)
            for kind, qualname, parent, first, last, signature, returns in entities
        ],
        [Import._make(item) for item in imports],
        [Reference._make(item) for item in references],
        [TypeHint._make(item) for item in hints],
        lines,
        bool(errors),
    )


def content_kind(path: str) -> str:
    """What besides the bytes decides the analysis: the extension and the version of its parser."""
    language = language_of(path)
    return f"{PurePosixPath(path).suffix.lower()}:{language.tag if language else ''}"
