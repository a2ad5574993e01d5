"""The commits that HEAD reaches, in columns, for fast arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.localize.history.store import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Commits count from 0, the newest; paths and words have numbers from 1 (0: a file that HEAD lacks).

    Attributes:
        shas, subjects: by commit.
        sizes: by commit how many files it changed, shape (commits,).
        ages: by change its commit, shape (changes,), ascending.
        paths: by change the path in HEAD, shape (changes,).
        names_then: by change the path as the commit has it, shape (changes,).
        names: by number the path.
        word_ages: by word of a message its commit, shape (words,), ascending.
        words, counts: by word of a message the word and how often it occurs, shape (words,).
        vocabulary: by word its number.
    """

    shas: Sequence[str]
    subjects: Sequence[str]
    sizes: "Numbers"
    ages: "Numbers"
    paths: "Numbers"
    names_then: "Numbers"
    names: Mapping[int, str]
    word_ages: "Numbers"
    words: "Numbers"
    counts: "Numbers"
    vocabulary: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.shas)


def build(
    rows: Sequence[Row], resolved: bytes, paths: Mapping[int, str], vocabulary: Mapping[str, int]
) -> Timeline:
    """The timeline of stored commits, newest first.

    Args:
        rows: the commits.
        resolved: as in `View`.
        paths, vocabulary: as in `Timeline.names` and `Timeline.vocabulary`.

    Raises:
        ValueError: the stored columns don't fit together.
    """
    import numpy as np

    changes = np.frombuffer(b"".join([row.changes for row in rows]), np.int32).reshape(-1, 2)
    sizes = np.array([len(row.changes) // 8 for row in rows], np.int32)
    words = np.frombuffer(b"".join([row.words for row in rows]), np.int32).reshape(-1, 2)
    word_sizes = np.array([len(row.words) // 8 for row in rows], np.int32)
    now = np.frombuffer(resolved, np.int32)
    if len(now) != len(changes):
        raise ValueError("the view belongs to other commits")
    order = np.arange(len(rows), dtype=np.int32)
    return Timeline(
        [row.sha for row in rows],
        [row.subject for row in rows],
        sizes,
        np.repeat(order, sizes),
        now,
        np.ascontiguousarray(changes[:, 0]),
        paths,
        np.repeat(order, word_sizes),
        np.ascontiguousarray(words[:, 0]),
        np.ascontiguousarray(words[:, 1]),
        vocabulary,
    )


def empty() -> Timeline:
    """No commits."""
    import numpy as np

    none = np.empty(0, np.int32)
    return Timeline((), (), none, none, none, none, {}, none, none, none, {})
