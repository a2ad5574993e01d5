"""From HEAD to a timeline: what is stored is reused, only new commits are read from git."""

import hashlib
import sqlite3
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import merge
from pathlib import Path

from codeforge.git import GitError
from codeforge.localize.history.commits import BATCH, Commits
from codeforge.localize.history.renames import resolve
from codeforge.localize.history.store import (
    Row,
    Store,
    StoreDamagedError,
    View,
    database_path,
    discard,
    is_damage,
)
from codeforge.localize.history.timeline import Timeline, build


@dataclass(frozen=True, slots=True)
class Span:
    """Which commits are wanted: the newest `most` that `head` reaches.

    Attributes:
        boundary: the commits at which a shallow clone was cut; they are left out.
    """

    head: str
    most: int
    boundary: frozenset[str]

    @property
    def bounds(self) -> str:
        """All but the head."""
        cut = hashlib.sha256(" ".join(sorted(self.boundary)).encode()).hexdigest() if self.boundary else ""
        return f"{self.most} {cut}"


def read_timeline(root: Path, commits: Commits, span: Span) -> tuple[Timeline, tuple[str, ...]]:
    """The timeline of `span`, and what the user should know about the database.

    Raises:
        GitError: git can't tell the commits.
    """
    notices: list[str] = []
    try:
        path = database_path(root)
        try:
            return _from_disk(path, commits, span), ()
        except StoreDamagedError:
            notices.append("the index of git history was damaged and is made anew")
            discard(path)
            return _from_disk(path, commits, span), tuple(notices)
    except (OSError, sqlite3.Error, StoreDamagedError) as error:
        notices.append(
            f"the index of git history can't be kept on disk ({error}); it is built in memory each time"
        )
        return _timeline(Store.in_memory(), commits, span), tuple(notices)


def _from_disk(path: Path, commits: Commits, span: Span) -> Timeline:
    store = Store.on_disk(path)
    try:
        return _timeline(store, commits, span)
    except (KeyError, ValueError) as error:
        raise StoreDamagedError("damaged") from error
    except sqlite3.Error as error:
        if is_damage(error):
            raise StoreDamagedError("damaged") from error
        raise
    finally:
        store.close()


def _timeline(store: Store, commits: Commits, span: Span) -> Timeline:
    view = store.view(span.head, span.bounds)
    if view is not None:
        return build(store.rows(view.commits), view.resolved, store.paths(), store.words())
    rows = _next_rows(store, commits, span)
    if rows is None:
        reachable = commits.reachable(span.head, span.most)
        rows = _stored(store, commits, [sha for sha in reachable if sha not in span.boundary])
    paths = store.paths()
    resolved = _resolved(rows, paths, commits.files(span.head))
    store.remember(View(span.head, span.bounds, [row.id for row in rows], resolved))
    return build(rows, resolved, paths, store.words())


def _next_rows(store: Store, commits: Commits, span: Span) -> list[Row] | None:
    """The rows worked out from those of the HEAD before: a walk through all of history costs git more.

    `None` when they can't be: nothing is stored, git lost that HEAD, or older commits would have to fill up.
    """
    before = store.latest_view(span.bounds)
    if before is None:
        return None
    gone: frozenset[str] = frozenset()
    new: list[str] | None = None
    with suppress(GitError):  # rewritten history: the commit may have been collected
        gone, new = commits.difference(before.head, span.head)
    if new is None or (gone and len(before.commits) == span.most):
        return None
    kept = [row for row in store.rows(before.commits) if row.sha not in gone]
    # New ones come first where dates are equal: none of them is an ancestor of an old one.
    return list(merge(_stored(store, commits, new[: span.most]), kept, key=_newest_first))[: span.most]


def _newest_first(row: Row) -> int:
    return -row.time


def _stored(store: Store, commits: Commits, shas: Sequence[str]) -> list[Row]:
    """The rows of commits, read from git where they aren't stored yet."""
    known = store.known(shas)
    missing = [sha for sha in shas if sha not in known]
    for start in range(0, len(missing), BATCH):
        store.add(list(commits.read(missing[start : start + BATCH])))
    known.update(store.known(missing))
    return store.rows([known[sha] for sha in shas])


def _resolved(rows: Sequence[Row], paths: dict[int, str], files: frozenset[str]) -> bytes:
    alive = {number for number, path in paths.items() if path in files}
    flat = [array("i", row.changes) for row in rows]
    return array("i", resolve([list(zip(one[::2], one[1::2], strict=True)) for one in flat], alive)).tobytes()
