"""The words of one file's documents: identifiers as they stand there, in columns, and their compact form on
disk.

Identifiers are split, stemmed and counted later, for all files at once (`postings`): each distinct one is
then
split only once, and counting is one sort of integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from codeforge.localize.tokens import identifiers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WIDE = 0xFFFF


@dataclass(frozen=True, slots=True)
class Field:
    """One field (head or body) of the documents of a file.

    Attributes:
        sizes: by document, how many identifiers it has, int32, shape (documents,).
        tokens: the identifiers of the first document, then of the second …, as places in the vocabulary,
            int32, shape (sum of sizes,).
    """

    sizes: "NDArray[np.int32]"
    tokens: "NDArray[np.int32]"


@dataclass(frozen=True, slots=True)
class WordTable:
    """The words of a file's documents; document 0 is the file's text outside its entities.

    Attributes:
        vocabulary: every identifier once.
        head: names, signatures and documentation.
        body: the whole text.
    """

    vocabulary: Sequence[str]
    head: Field
    body: Field


class _Places(dict[str, int]):
    """By identifier its place; a new one gets the next. A dictionary's own look-up is the fastest way."""

    def __init__(self) -> None:
        super().__init__()
        self._next = count().__next__

    def __missing__(self, word: str) -> int:
        place = self[word] = self._next()
        return place


def table_of(heads: Sequence[str], bodies: Sequence[str]) -> WordTable:
    """The table of the documents' texts."""
    places = _Places()
    head = _field(heads, places)
    body = _field(bodies, places)
    return WordTable(list(places), head, body)


def _field(texts: Sequence[str], places: _Places) -> Field:
    import numpy as np

    sizes: list[int] = []
    tokens: list[int] = []
    place_of = places.__getitem__
    for text in texts:
        found = identifiers(text)
        sizes.append(len(found))
        tokens += map(place_of, found)
    return Field(np.array(sizes, dtype=np.int32), np.array(tokens, dtype=np.int32))


def pack(table: WordTable) -> tuple[str, bytes]:
    """The vocabulary as text, and the columns: a header of sizes, then the arrays."""
    import numpy as np

    wide = len(table.vocabulary) > _WIDE
    parts = [np.array([len(table.head.sizes), len(table.head.tokens), len(table.body.tokens), wide], "<i4")]
    for field in (table.head, table.body):
        parts += [field.sizes.astype("<i4"), field.tokens.astype("<i4" if wide else "<u2")]
    return "\n".join(table.vocabulary), b"".join(part.tobytes() for part in parts)


def unpack(vocabulary: str, data: bytes) -> WordTable:
    """The opposite of `pack`.

    Raises:
        ValueError: `data` is no such table.
    """
    import numpy as np

    documents, heads, bodies, wide = (int(number) for number in np.frombuffer(data, "<i4", 4))
    place = 16
    fields = []
    for size in (heads, bodies):
        sizes = np.frombuffer(data, "<i4", documents, place)
        place += 4 * documents
        tokens = np.frombuffer(data, "<i4" if wide else "<u2", size, place).astype(np.int32)
        place += (4 if wide else 2) * size
        fields.append(Field(sizes, tokens))
    return WordTable(vocabulary.split("\n") if vocabulary else [], *fields)
