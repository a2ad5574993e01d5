"""Bringing the table of contents up to date: stats first, then hashes, then parsing of what is new."""

import os
import sqlite3
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from codeforge.localize.content import Content, analyse, content_kind, pack_structure
from codeforge.localize.contents import Contents
from codeforge.localize.database import checksum
from codeforge.localize.read import MAX_BYTES, read_source
from codeforge.localize.roles import is_text_kind
from codeforge.localize.snapshot import Snapshot
from codeforge.localize.wordtable import pack

BATCH = 250
"""Files a transaction: what was parsed before a kill stays."""
SPARE_CONTENTS = 5_000
"""Contents of other branches that are kept; beyond it the oldest go."""
_RACY_NS = 20_000_000
"""A file changed this shortly before it was looked at may change again without a new time stamp."""


class _Row(NamedTuple):
    """A line of the table `file`: what a path held when it was last looked at."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checked_ns: int
    content: int | None
    skipped: str

    def still_true(self, status: os.stat_result) -> bool:
        """Whether the file can't have changed since. The change time catches edits that
        set the modification time back.
        """
        return (
            self.ctime_ns == status.st_ctime_ns
            and self.mtime_ns == status.st_mtime_ns
            and self.size == status.st_size
            and self.inode == status.st_ino
            and max(self.mtime_ns, self.ctime_ns) + _RACY_NS < self.checked_ns
        )


def refresh(contents: Contents, root: Path, files: Sequence[str]) -> Snapshot:
    """Make the index know the present content of `files`, and say what each holds.

    Raises:
        sqlite3.Error: the index can't be read or written.
    """
    connection = contents.connection
    known = _known_rows(connection)
    content_of: dict[str, int] = {}
    skipped: Counter[str] = Counter()
    stale: list[tuple[str, os.stat_result]] = []
    prefix = f"{root}/"
    listed = sorted(files)
    for path in listed:
        row = known.get(path)
        if row is None and not is_text_kind(path):
            continue
        status = _status(prefix, path)
        if status is None:
            continue
        if row is None or not row.still_true(status):
            stale.append((path, status))
        elif row.content is not None:
            content_of[path] = row.content
        else:
            skipped[row.skipped] += 1
    for batch in _batches(stale, BATCH):
        for path, content, why in _look_into(contents, root, batch):
            if content is not None:
                content_of[path] = content
            else:
                skipped[why] += 1
    if stale:
        _prune(connection, len(files))
    if stale:
        content_of = dict(sorted(content_of.items()))
    return Snapshot(listed, content_of, dict(skipped))


def _status(prefix: str, path: str) -> os.stat_result | None:
    """The status of a regular file; links are not followed (what they lead to is listed itself)."""
    try:
        status = os.lstat(prefix + path)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _known_rows(connection: sqlite3.Connection) -> dict[str, _Row]:
    """By path what was there at the last look; a row that is damaged counts as not there."""
    rows = connection.execute(
        "SELECT path, size, mtime_ns, ctime_ns, inode, checked_ns, content, skipped, checksum FROM file"
    )
    return {os.fsdecode(row[0]): _Row._make(row[1:-1]) for row in rows if checksum(row[:-1]) == row[-1]}


def _batches(
    items: Iterable[tuple[str, os.stat_result]], size: int
) -> Iterator[list[tuple[str, os.stat_result]]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


_Looked = tuple[str, os.stat_result, int, str | None, str]
"""(path, its status, when it was looked at, the key of its content, why it has none)."""


def _look_into(
    contents: Contents, root: Path, batch: Sequence[tuple[str, os.stat_result]]
) -> list[tuple[str, int | None, str]]:
    """Hash and, where the content is new, parse these files; write all of it in one transaction."""
    rows: list[_Looked] = []
    fresh: dict[str, Content] = {}
    for path, status in batch:
        checked = time.time_ns()
        if status.st_size > MAX_BYTES:
            rows.append((path, status, checked, None, f"larger than {MAX_BYTES // 1024} KiB"))
            continue
        raw = read_source(root, path)
        if raw is None:
            rows.append((path, status, checked, None, "unreadable"))
            continue
        name = _key(raw, path)
        if name not in fresh and contents.id_of(name) is None:
            content = analyse(raw, path)
            if content is None:
                rows.append((path, status, checked, None, "binary"))
                continue
            fresh[name] = content
        rows.append((path, status, checked, name, ""))
    return _write(contents, rows, fresh)


def _key(raw: bytes, path: str) -> str:
    """The name of a content: its bytes, its extension, and the version of the parser that read it."""
    return f"{blake2b(raw, digest_size=20).hexdigest()}{content_kind(path)}"


def _write(
    contents: Contents, rows: Sequence[_Looked], fresh: dict[str, Content]
) -> list[tuple[str, int | None, str]]:
    connection = contents.connection
    results: list[tuple[str, int | None, str]] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for name, content in fresh.items():
            _insert(connection, name, content)
        for path, status, checked, key, why in rows:
            number = contents.id_of(key) if key else None
            if key and number is None:
                continue  # another process pruned it this moment: the next run sees the file as new
            if key in fresh and number is not None:
                contents.remember(number, fresh[key])
            row = (
                os.fsencode(path),
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
                status.st_ino,
                checked,
                number,
                why,
            )
            command = "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            connection.execute(command, (*row, checksum(row)))
            results.append((path, number, why))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return results


def _insert(connection: sqlite3.Connection, key: str, content: Content) -> None:
    """Store one content, unless another process has done so."""
    kept = (pack_structure(content.parsed), *pack(content.words))
    connection.execute(
        "INSERT OR IGNORE INTO content (key, generated, lines, structure, vocabulary, words, checksum)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (key, content.generated, content.parsed.lines, *kept, checksum(*kept)),
    )


def _prune(connection: sqlite3.Connection, files: int) -> None:
    """Drop contents that no path holds any more, oldest first, when there are many of them."""
    count = int(connection.execute("SELECT count(*) FROM content").fetchone()[0])
    surplus = count - files - SPARE_CONTENTS
    if surplus > 0:
        connection.execute(
            "DELETE FROM content WHERE id IN (SELECT id FROM content WHERE id NOT IN"
            " (SELECT content FROM file WHERE content IS NOT NULL) ORDER BY id LIMIT ?)",
            (surplus,),
        )
