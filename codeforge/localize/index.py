"""The code index of one tree: incremental, cached on disk by content hash, and able to repair itself."""

import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from codeforge.localize.base import Base, build_base, build_on_disk, read_base, write_base
from codeforge.localize.contents import Contents
from codeforge.localize.database import (
    IndexDamagedError,
    OpenedIndex,
    discard_index,
    is_damage,
    open_in_memory,
    open_index,
)
from codeforge.localize.graph.code_graph import CodeGraph
from codeforge.localize.graph.edges import completed
from codeforge.localize.patching import MOST_CHANGES, Patched, changes, patched
from codeforge.localize.postings import PostingReader
from codeforge.localize.refresh import refresh
from codeforge.localize.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TRIES = 5
DAMAGE = (IndexDamagedError, ValueError, TypeError, LookupError)
"""What reading a damaged index raises besides the errors of SQLite."""


class CodeIndex:
    """Answers questions about the tree as it was when `open` returned.

    Attributes:
        root: the repository.
        snapshot: which content each file holds.
        graph: the code graph.
        postings: the inverted index.
        lengths: words of a document by field and node, int32, shape (2, nodes).
        notices: what the user should know.
    """

    def __init__(
        self, root: Path, contents: Contents, snapshot: Snapshot, state: Patched, notices: Sequence[str]
    ) -> None:
        self.root = root
        self.snapshot = snapshot
        self.notices = tuple(notices)
        self.graph = CodeGraph(state.nodes, completed(state.nodes, state.linked))
        self.lengths: NDArray[np.int32] = state.lengths
        count = len(state.nodes) - (state.added.lengths.shape[1] if state.added else 0)
        self.postings = PostingReader(contents.connection, state.nodes.alive[:count], state.added)
        self._contents = contents

    @classmethod
    def open(cls, root: Path, files: Sequence[str]) -> "CodeIndex":
        """Open the index below `root` and bring it up to date with `files`.

        A damaged index is made anew; where none can be kept, it is built in memory.
        """
        opened = open_index(root)
        try:
            return cls._refreshed(opened, root, files)
        except (sqlite3.Error, *DAMAGE) as error:
            opened.connection.close()
            return cls._recovered(opened, root, files, error)

    @classmethod
    def in_memory(cls, root: Path, files: Sequence[str], notices: Sequence[str] = ()) -> "CodeIndex":
        """An index of `files` that ends with this object; `notices` are passed on."""
        return cls._refreshed(open_in_memory(tuple(notices)), root, files)

    @classmethod
    def _refreshed(cls, opened: OpenedIndex, root: Path, files: Sequence[str]) -> "CodeIndex":
        contents = Contents(opened.connection)
        snapshot = refresh(contents, root, files)
        state = _state(contents, snapshot)
        contents.forget_structures()
        return cls(root, contents, snapshot, state, [*opened.notices, *snapshot.notices()])

    @classmethod
    def _recovered(
        cls, opened: OpenedIndex, root: Path, files: Sequence[str], error: Exception
    ) -> "CodeIndex":
        """Go on after the database failed: anew when it is damaged, in memory when it can't be written."""
        if is_damage(error):
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
        self._contents.connection.close()

    def __enter__(self) -> "CodeIndex":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def generated(self) -> frozenset[str]:
        """The files that say that a program wrote them."""
        rows = self._contents.connection.execute("SELECT id FROM content WHERE generated")
        found = {row[0] for row in rows}
        return frozenset(path for path, number in self.snapshot.content_of.items() if number in found)

    def search(self, text: str, limit: int) -> list[tuple[int, float]]:
        """The nodes whose text fits `text` best: (node, BM25 score), best first."""
        import numpy as np

        from codeforge.localize.lexical import query_words, score_nodes

        scores = score_nodes(self, query_words(text)).total()
        best = np.argsort(-scores, kind="stable")[:limit]
        return [(int(node), float(scores[node])) for node in best if scores[node] > 0]


def _state(contents: Contents, snapshot: Snapshot) -> Patched:
    """The base patched, or a new base when too much changed. A read transaction stays open in which the
    postings on disk are those of that base."""
    connection = contents.connection
    for _ in range(_TRIES):
        connection.execute("BEGIN")
        base = read_base(connection)
        if base is not None and len(changes(base, snapshot)) <= _most_changes(snapshot):
            return patched(base, snapshot, contents)
        connection.execute("ROLLBACK")
        made = _rebuild(contents, snapshot)
        connection.execute("BEGIN")
        if made is not None and build_on_disk(connection) == made.build:
            return patched(made, snapshot, contents)
        connection.execute("ROLLBACK")  # another process was quicker: take its base
    raise sqlite3.OperationalError("other processes keep rebuilding the index")


def _most_changes(snapshot: Snapshot) -> int:
    return min(MOST_CHANGES, max(3, len(snapshot.content_of) // 4))


def _rebuild(contents: Contents, snapshot: Snapshot) -> Base | None:
    """Build a base and put it on disk; `None` when another process has just put a fitting one there."""
    connection = contents.connection
    before = build_on_disk(connection)
    base, inverted = build_base(snapshot, contents)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if build_on_disk(connection) != before:
            other = read_base(connection)
            if other is not None and not len(changes(other, snapshot)):
                connection.execute("ROLLBACK")
                return None
        write_base(connection, base, inverted)
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return base
