"""The code index of one tree: incremental, cached on disk by content hash, and able to repair itself."""

import sqlite3
from array import array
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from codeforge.localize.content import unpack
from codeforge.localize.database import OpenedIndex, discard_index, open_in_memory, open_index
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.refresh import refresh
from codeforge.localize.snapshot import Snapshot

_CHUNK = 400
_COLUMNS = "content, ordinal, kind, qualname, first, last, signature, calls, bases"

_KINDS = {kind.value: kind for kind in EntityKind}


class Document(NamedTuple):
    """An entity of a content, wherever that content lies.

    Attributes:
        content, ordinal: its key; ordinal 0 is the file itself.
        kind: its kind.
        qualname: its qualified name, "" for a file.
        first, last: 1-based lines, inclusive.
        signature: its header.
        calls: the names it calls.
        bases: the names a class inherits from.
    """

    content: int
    ordinal: int
    kind: EntityKind
    qualname: str
    first: int
    last: int
    signature: str
    calls: tuple[str, ...]
    bases: tuple[str, ...]

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    def at(self, path: str) -> Entity:
        """The entity of the code graph that this is in the file `path`."""
        identity = f"{path}:{self.qualname}" if self.qualname else path
        return Entity(identity, self.kind, path, self.qualname, self.first, self.last, self.signature)


class CodeIndex:
    """Answers questions about the tree as it was when `open` returned.

    Attributes:
        snapshot: which content each file holds.
        notices: what the user should know.
    """

    def __init__(self, connection: sqlite3.Connection, snapshot: Snapshot, notices: Sequence[str]) -> None:
        self._connection = connection
        self.snapshot = snapshot
        self.notices = tuple(notices)

    @classmethod
    def open(cls, root: Path, files: Sequence[str]) -> "CodeIndex":
        """Open the index below `root` and bring it up to date with `files`.

        A damaged index is made anew; where none can be kept, it is built in memory.
        """
        opened = open_index(root)
        try:
            return cls._refreshed(opened, root, files)
        except sqlite3.Error as error:
            opened.connection.close()
            return cls._recovered(opened, root, files, error)

    @classmethod
    def in_memory(cls, root: Path, files: Sequence[str], notices: Sequence[str] = ()) -> "CodeIndex":
        """An index of `files` that ends with this object; `notices` are passed on."""
        return cls._refreshed(open_in_memory(tuple(notices)), root, files)

    @classmethod
    def _refreshed(cls, opened: OpenedIndex, root: Path, files: Sequence[str]) -> "CodeIndex":
        snapshot = refresh(opened.connection, root, files)
        return cls(opened.connection, snapshot, [*opened.notices, *snapshot.notices()])

    @classmethod
    def _recovered(
        cls, opened: OpenedIndex, root: Path, files: Sequence[str], error: sqlite3.Error
    ) -> "CodeIndex":
        """Go on after the database failed: anew when it is damaged, in memory when it can't be written."""
        if not isinstance(error, sqlite3.OperationalError):
            discard_index(root)
            again = open_index(root)
            notice = f"the code index was damaged ({error}) and is made anew"
            try:
                made = cls._refreshed(again, root, files)
            except sqlite3.Error as second:
                again.connection.close()
                error = second
            else:
                made.notices = (notice, *made.notices)
                return made
        notice = f"the code index can't be kept on disk ({error}); it is built in memory each time"
        return cls.in_memory(root, files, (*opened.notices, notice))

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> "CodeIndex":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def postings(self, word: str) -> list[tuple[int, bytes]]:
        """The contents of the tree that hold `word`, each with its packed (ordinal, weighted count) pairs."""
        rows = self._connection.execute("SELECT content, hits FROM posting WHERE word = ?", (word,))
        present = self.snapshot.paths_of
        return [row for row in rows if row[0] in present]

    def lengths(self, contents: Collection[int]) -> "dict[int, array[int]]":
        """By content, the length of each of its documents in weighted words."""
        rows = self._select("SELECT id, lengths FROM content WHERE id IN ({})", contents)
        return {content: unpack(lengths) for content, lengths in rows}

    def named(self, names: Collection[str]) -> list[Document]:
        """The entities whose last name part is among `names`."""
        return self._documents("name IN ({})", names)

    def inside(self, contents: Collection[int]) -> list[Document]:
        """All entities of these contents, the files themselves included."""
        return self._documents("content IN ({})", contents)

    def callers(self, names: Collection[str]) -> Iterator[tuple[str, int, int]]:
        """Who calls these names: (name, content, ordinal)."""
        rows = self._select("SELECT name, content, ordinal FROM call WHERE name IN ({})", names)
        present = self.snapshot.paths_of
        return ((name, content, ordinal) for name, content, ordinal in rows if content in present)

    def imports(self, path: str) -> list[str]:
        """The dotted names that a file imports."""
        content = self.snapshot.content_of.get(path)
        rows = self._connection.execute("SELECT imports FROM content WHERE id = ?", (content,)).fetchall()
        return rows[0][0].split("\n") if rows and rows[0][0] else []

    def _documents(self, condition: str, values: Collection[str] | Collection[int]) -> list[Document]:
        rows = self._select(f"SELECT {_COLUMNS} FROM entity WHERE {condition}", values)
        present = self.snapshot.paths_of
        return [_document(row) for row in rows if row[0] in present]

    def _select(self, statement: str, values: Collection[str] | Collection[int]) -> Iterator[tuple]:  # type: ignore[type-arg]
        listed: list[str | int] = sorted(values)
        for start in range(0, len(listed), _CHUNK):
            chunk = listed[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            yield from self._connection.execute(statement.format(marks), chunk)


def _document(row: tuple[int, int, str, str, int, int, str, str, str]) -> Document:
    content, ordinal, kind, qualname, first, last, signature, calls, bases = row
    return Document(
        content, ordinal, _KINDS[kind], qualname, first, last, signature, _listed(calls), _listed(bases)
    )


def _listed(joined: str) -> tuple[str, ...]:
    return tuple(joined.split("\n")) if joined else ()
