"""From the bytes of one file to what the index keeps of it."""

import sys
from array import array
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import ParsedEntity, parser_for
from codeforge.localize.read import decode_source
from codeforge.localize.roles import looks_generated
from codeforge.localize.tokens import count_words

NAME_WEIGHT = 5
PAIR_BYTES = 4
"""Of one (ordinal, count) pair in a packed posting."""
MOST_ENTITIES = 20_000
"""A file with more is data written as code; the rest of it isn't indexed."""
_LONGEST_PLAIN = 200_000
_MOST_HITS = 0xFFFF


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """One document of the index. Ordinal 0 of a file is the file itself."""

    kind: EntityKind
    qualname: str
    first: int
    last: int
    signature: str
    calls: tuple[str, ...]
    bases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContentRecord:
    """What is kept of one content (whatever files hold it).

    Attributes:
        lines: its lines.
        generated: it says that a program wrote it.
        imports: dotted names.
        entities: the documents; their places are their ordinals.
        lengths: of each document, in weighted words.
        postings: by word: pairs (ordinal, weighted count), flat, as 16-bit numbers.
    """

    lines: int
    generated: bool
    imports: tuple[str, ...]
    entities: tuple[EntityRecord, ...]
    lengths: tuple[int, ...]
    postings: dict[str, bytes]


def pack(numbers: list[int]) -> bytes:
    """16-bit numbers, little-endian."""
    packed = array("H", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack(blob: bytes) -> "array[int]":
    """The opposite of `pack`."""
    numbers = array("H")
    numbers.frombytes(blob)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def analyse(raw: bytes, path: str) -> ContentRecord | None:
    """Take one file apart; `None` when it is binary. Only the name's extension matters of `path`."""
    text = decode_source(raw, path)
    if text is None:
        return None
    generated = looks_generated(text)
    parser = parser_for(path)
    if parser is None:
        lines = text.count("\n") + 1
        record = EntityRecord(EntityKind.FILE, "", 1, lines, "", (), ())
        # Long prose and long templates say little per word: their beginning is enough.
        return _assemble(lines, generated, (), [record], [count_words(text[:_LONGEST_PLAIN])])
    parsed = parser.parse(text)
    lines = max(parsed.lines, 1)
    records = [EntityRecord(EntityKind.FILE, "", 1, lines, "", parsed.calls, ())]
    documents = [count_words(parsed.text)]
    for entity in parsed.entities[:MOST_ENTITIES]:
        records.append(_record(entity))
        documents.append(_words(entity))
    return _assemble(lines, generated, parsed.imports, records, documents)


def _record(entity: ParsedEntity) -> EntityRecord:
    return EntityRecord(
        entity.kind,
        entity.qualname,
        entity.start_line,
        entity.end_line,
        entity.signature,
        entity.calls,
        entity.bases,
    )


def _words(entity: ParsedEntity) -> dict[str, int]:
    """The words of an entity: its name counts most, then (twice) its header and documentation."""
    # The text holds the header and the documentation once already.
    return count_words(
        "\n".join((entity.text, entity.signature, entity.docstring, *[entity.qualname] * NAME_WEIGHT))
    )


def _assemble(
    lines: int,
    generated: bool,
    imports: tuple[str, ...],
    records: list[EntityRecord],
    documents: list[dict[str, int]],
) -> ContentRecord:
    flat: dict[str, list[int]] = defaultdict(list)
    for ordinal, document in enumerate(documents):
        for word, times in document.items():
            flat[word] += (ordinal, times if times < _MOST_HITS else _MOST_HITS)
    return ContentRecord(
        lines=lines,
        generated=generated,
        imports=imports,
        entities=tuple(records),
        lengths=tuple(min(sum(document.values()), _MOST_HITS) for document in documents),
        postings={word: pack(numbers) for word, numbers in flat.items()},
    )


def content_kind(path: str) -> str:
    """What besides the bytes decides the analysis: the extension."""
    return PurePosixPath(path).suffix.lower()
