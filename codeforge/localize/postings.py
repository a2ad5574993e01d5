"""The inverted index: for every word the documents that have it, by field. A document is a node of the
graph."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.database import IndexDamagedError, checksum
from codeforge.localize.tokens import parts_of
from codeforge.localize.wordtable import Field, WordTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

_MOST_TIMES = 255
HEAD, BODY = 0, 1


@dataclass(frozen=True, slots=True)
class Postings:
    """Documents with how often they have a word; in ascending order.

    Attributes:
        nodes: int32, shape (n,).
        times: float32, shape (n,); more than 255 count as 255.
    """

    nodes: "Ints"
    times: "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class Inverted:
    """The inverted index of some documents.

    Attributes:
        words: in ascending order.
        starts: by word where its entries begin, one more at the end; int64.
        heads: by word how many of its entries are of the head field; these come first.
        entries: records (node int32, times uint8), ascending by node within a word and field.
        lengths: how many words each document has, by field: int32, shape (2, nodes); nodes count from
        `offset`.
        offset: the first node.
    """

    words: Sequence[str]
    starts: "NDArray[np.int64]"
    heads: "Ints"
    entries: "NDArray[np.void]"
    lengths: "Ints"
    offset: int

    def rows(self) -> Iterable[tuple[str, int, bytes, int]]:
        """By word, its row on disk: (word, how many head entries, all entries, checksum)."""
        data = self.entries.tobytes()
        size = self.entries.itemsize
        starts, heads = self.starts.tolist(), self.heads.tolist()
        for place, word in enumerate(self.words):
            entries = data[starts[place] * size : starts[place + 1] * size]
            yield word, heads[place], entries, checksum(word, heads[place], entries)


class _Places(dict[str, int]):
    def __missing__(self, word: str) -> int:
        place = self[word] = len(self)
        return place


def invert(tables: Iterable[tuple[int, WordTable]], offset: int, nodes: int) -> Inverted:
    """Invert the documents of files.

    Args:
        tables: by file, its first node and its words.
        offset, nodes: the first node of all, and how many there are.
    """
    import numpy as np

    identifiers = _Places()
    columns: tuple[list[tuple[Ints, Ints]], ...] = ([], [])
    for first, table in tables:
        places = np.array([identifiers[word] for word in table.vocabulary], dtype=np.int32)
        for field, column in zip((table.head, table.body), columns, strict=True):
            column.append((_documents(first - offset, field), places[field.tokens]))
    words = _Places()
    counts, starts, flat = _split(identifiers, words)
    keys, lengths = [], []
    nothing = np.zeros(0, np.int32)
    for number, column in enumerate(columns):
        documents = np.concatenate([nothing, *(pair[0] for pair in column)])
        tokens = np.concatenate([nothing, *(pair[1] for pair in column)])
        column.clear()
        documents, found = _expanded(documents, tokens, counts, starts, flat)
        lengths.append(np.bincount(documents, minlength=nodes).astype(np.int32))
        keys.append((found.astype(np.int64) * 2 + number) * max(nodes, 1) + documents)
    return _counted(words, np.concatenate(keys), np.stack(lengths), offset, max(nodes, 1))


def _documents(first: int, field: Field) -> "Ints":
    import numpy as np

    return np.repeat(np.arange(first, first + len(field.sizes), dtype=np.int32), field.sizes)


def _split(identifiers: Iterable[str], words: _Places) -> "tuple[Ints, Ints, Ints]":
    """By identifier: how many words it has, where they begin, and all of them."""
    import numpy as np

    counts: list[int] = []
    flat: list[int] = []
    for identifier in identifiers:
        parts = parts_of(identifier)
        counts.append(len(parts))
        flat += [words[part] for part in parts]
    sizes = np.array(counts, dtype=np.int32)
    return sizes, (np.cumsum(sizes) - sizes).astype(np.int32), np.array(flat, dtype=np.int32)


def _expanded(
    documents: "Ints", tokens: "Ints", counts: "Ints", starts: "Ints", flat: "Ints"
) -> "tuple[Ints, Ints]":
    """One row for each word of each token: (document, word)."""
    import numpy as np

    sizes = counts[tokens]
    total = int(sizes.sum())
    begins = np.cumsum(sizes) - sizes
    within = np.arange(total, dtype=np.int32) - np.repeat(begins, sizes).astype(np.int32)
    return np.repeat(documents, sizes), flat[np.repeat(starts[tokens], sizes) + within]


def _counted(words: _Places, keys: "NDArray[np.int64]", lengths: "Ints", offset: int, nodes: int) -> Inverted:
    import numpy as np

    keys.sort()
    edges = (
        np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        if len(keys)
        else np.zeros(0, np.int64)
    )
    times = np.diff(np.append(edges, len(keys)))
    keys = keys[edges]
    fields = keys // nodes
    entries = np.empty(len(keys), dtype=[("node", "<i4"), ("times", "u1")])
    entries["node"] = keys % nodes + offset
    entries["times"] = np.minimum(times, _MOST_TIMES)
    sizes = np.bincount(fields, minlength=2 * len(words)).reshape(-1, 2)
    names = list(words)
    order = sorted(range(len(names)), key=names.__getitem__)
    starts = np.concatenate(([0], np.cumsum(sizes.sum(axis=1))))
    entries = _reordered(entries, starts, order)
    sizes = sizes[order]
    starts = np.concatenate(([0], np.cumsum(sizes.sum(axis=1)))).astype(np.int64)
    return Inverted(
        [names[place] for place in order], starts, sizes[:, HEAD].astype(np.int32), entries, lengths, offset
    )


def _reordered(
    entries: "NDArray[np.void]", starts: "NDArray[np.int64]", order: list[int]
) -> "NDArray[np.void]":
    """The entries with their words in another order."""
    import numpy as np

    places = np.array(order, dtype=np.int64)
    sizes = np.diff(starts)[places] if len(places) else np.zeros(0, np.int64)
    begins = np.cumsum(sizes) - sizes
    within = np.arange(int(sizes.sum())) - np.repeat(begins, sizes)
    found: NDArray[np.void] = entries[np.repeat(starts[:-1][places], sizes) + within]
    return found


class PostingReader:
    """Looks words up: in the base on disk, without the documents that are gone, and among the new documents.

    Args:
        connection: of the index; the base's rows are read when a word is asked for.
        alive: by node of the base, whether it is still there.
        added: the documents that came after the base; `None` when there are none.
    """

    def __init__(
        self, connection: sqlite3.Connection, alive: "NDArray[np.bool_]", added: Inverted | None
    ) -> None:
        self._connection = connection
        self._alive = alive
        self._whole = bool(alive.all())
        self._added = added
        self._place = {word: place for place, word in enumerate(added.words)} if added else {}

    def find(self, word: str) -> tuple[Postings, Postings]:
        """The documents whose head, and those whose body has `word`.

        Raises:
            IndexDamagedError: what lies on disk is not what was written.
        """
        import numpy as np

        fields: list[list[NDArray[np.void]]] = [[], []]
        columns = "SELECT heads, data, checksum FROM posting WHERE word = ?"
        row = self._connection.execute(columns, (word,)).fetchone()
        if row is not None:
            if checksum(word, *row[:2]) != row[2]:
                raise IndexDamagedError(f"the checksum of the word {word} is wrong")
            entries = np.frombuffer(row[1], dtype=[("node", "<i4"), ("times", "u1")])
            for field, part in zip(fields, (entries[: row[0]], entries[row[0] :]), strict=True):
                field.append(part if self._whole else part[self._alive[part["node"]]])
        place = self._place.get(word)
        if self._added is not None and place is not None:
            start, end = (int(number) for number in self._added.starts[place : place + 2])
            middle = start + int(self._added.heads[place])
            fields[HEAD].append(self._added.entries[start:middle])
            fields[BODY].append(self._added.entries[middle:end])
        return _postings(fields[HEAD]), _postings(fields[BODY])


def _postings(parts: "list[NDArray[np.void]]") -> Postings:
    import numpy as np

    if not parts:
        return Postings(np.zeros(0, np.int32), np.zeros(0, np.float32))
    entries = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return Postings(entries["node"].astype(np.int32), entries["times"].astype(np.float32))
