"""Bringing the index up to date: stats first, then hashes, then parsing of what is new."""

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

from codeforge.localize.content import ContentRecord, analyse, content_kind, pack
from codeforge.localize.parsers.base import language_of
from codeforge.localize.read import MAX_BYTES, read_source
from codeforge.localize.roles import is_text_kind
from codeforge.localize.snapshot import ContentSize, Snapshot
from codeforge.localize.tokens import count_words

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
    words: str

    def still_true(self, status: os.stat_result) -> bool:
        """Whether the file can't have changed since. The change time catches edits that
        set the modification time back.
        """
        same = (self.size, self.mtime_ns, self.ctime_ns, self.inode) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
        )
        return same and max(self.mtime_ns, self.ctime_ns) + _RACY_NS < self.checked_ns


def refresh(connection: sqlite3.Connection, root: Path, files: Sequence[str]) -> Snapshot:
    """Make the index know the present content of `files`, and say what each holds.

    Raises:
        sqlite3.Error: the index can't be read or written.
    """
    known = _known_rows(connection)
    content_of: dict[str, int] = {}
    words_of: dict[str, str] = {}
    skipped: Counter[str] = Counter()
    stale: list[tuple[str, os.stat_result]] = []
    for path in files:
        status = _status(root, path)
        if status is None:
            continue
        if not is_text_kind(path):
            continue
        row = known.get(path)
        if row is None or not row.still_true(status):
            stale.append((path, status))
        elif row.content is not None:
            content_of[path], words_of[path] = row.content, row.words
        else:
            skipped[row.skipped] += 1
    for batch in _batches(stale, BATCH):
        for path, content, why in _look_into(connection, root, batch):
            if content is not None:
                content_of[path], words_of[path] = content, path_words(path)
            else:
                skipped[why] += 1
    if stale:
        _prune(connection, len(files))
    return Snapshot(files, content_of, words_of, _sizes(connection, set(content_of.values())), dict(skipped))


def _status(root: Path, path: str) -> os.stat_result | None:
    """The status of a regular file; links are not followed (what they lead to is listed itself)."""
    try:
        status = os.lstat(f"{root}/{path}")
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _known_rows(connection: sqlite3.Connection) -> dict[str, _Row]:
    rows = connection.execute(
        "SELECT path, size, mtime_ns, ctime_ns, inode, checked_ns, content, skipped, words FROM file"
    )
    return {os.fsdecode(row[0]): _Row._make(row[1:]) for row in rows}


def _batches(
    items: Iterable[tuple[str, os.stat_result]], size: int
) -> Iterator[list[tuple[str, os.stat_result]]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _look_into(
    connection: sqlite3.Connection, root: Path, batch: Sequence[tuple[str, os.stat_result]]
) -> list[tuple[str, int | None, str]]:
    """Hash and, where the content is new, parse these files; write all of it in one transaction."""
    rows: list[tuple[str, os.stat_result, int, str | None, str]] = []
    fresh: dict[str, ContentRecord] = {}
    for path, status in batch:
        checked = time.time_ns()
        if status.st_size > MAX_BYTES:
            rows.append((path, status, checked, None, f"larger than {MAX_BYTES // 1024} KiB"))
            continue
        raw = read_source(root, path)
        if raw is None:
            rows.append((path, status, checked, None, "unreadable"))
            continue
        key = _key(raw, path)
        if key not in fresh and not _has(connection, key):
            record = analyse(raw, path)
            if record is None:
                rows.append((path, status, checked, None, "binary"))
                continue
            fresh[key] = record
        rows.append((path, status, checked, key, ""))
    return _write(connection, rows, fresh)


def path_words(path: str) -> str:
    """The words of a path without its extension, each once, with blanks between."""
    return " ".join(sorted(count_words(os.fsencode(path.rpartition(".")[0]).decode("utf-8", "replace"))))


def _key(raw: bytes, path: str) -> str:
    """The name of a content: its bytes, its extension, and the version of the parser that read it."""
    return f"{blake2b(raw, digest_size=20).hexdigest()}{content_kind(path)}:{language_of(path)}"


def _has(connection: sqlite3.Connection, key: str) -> bool:
    return connection.execute("SELECT 1 FROM content WHERE key = ?", (key,)).fetchone() is not None


def _write(
    connection: sqlite3.Connection,
    rows: Sequence[tuple[str, os.stat_result, int, str | None, str]],
    fresh: dict[str, ContentRecord],
) -> list[tuple[str, int | None, str]]:
    results: list[tuple[str, int | None, str]] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for name, record in fresh.items():
            _insert(connection, name, record)
        for path, status, checked, key, why in rows:
            content = _content_id(connection, key) if key else None
            if key and content is None:
                continue  # another process pruned it this moment: the next run sees the file as new
            connection.execute(
                "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    os.fsencode(path),
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                    status.st_ino,
                    checked,
                    content,
                    why,
                    path_words(path),
                ),
            )
            results.append((path, content, why))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return results


def _content_id(connection: sqlite3.Connection, key: str) -> int | None:
    found = connection.execute("SELECT id FROM content WHERE key = ?", (key,)).fetchone()
    return int(found[0]) if found else None


def _insert(connection: sqlite3.Connection, key: str, record: ContentRecord) -> None:
    """Store one content, unless another process has done so."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO content (key, lines, generated, total, lengths, imports)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            key,
            record.lines,
            record.generated,
            sum(record.lengths),
            pack(list(record.lengths)),
            "\n".join(record.imports),
        ),
    )
    if cursor.rowcount != 1:
        return
    content = cursor.lastrowid
    connection.executemany(
        "INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                content,
                ordinal,
                item.kind.value,
                item.qualname,
                item.qualname.rpartition(".")[2],
                item.first,
                item.last,
                item.signature,
                "\n".join(item.calls),
                "\n".join(item.bases),
            )
            for ordinal, item in enumerate(record.entities)
        ),
    )
    connection.executemany(
        "INSERT INTO call VALUES (?, ?, ?)",
        ((name, content, ordinal) for ordinal, item in enumerate(record.entities) for name in item.calls),
    )
    connection.executemany(
        "INSERT INTO posting VALUES (?, ?, ?)",
        ((word, content, hits) for word, hits in record.postings.items()),
    )


def _sizes(connection: sqlite3.Connection, wanted: set[int]) -> dict[int, ContentSize]:
    rows = connection.execute("SELECT id, length(lengths) / 2, total, generated FROM content")
    return {row[0]: ContentSize(row[1], row[2], bool(row[3])) for row in rows if row[0] in wanted}


def _prune(connection: sqlite3.Connection, files: int) -> None:
    """Drop contents that no path holds any more, oldest first, when there are many of them."""
    count = int(connection.execute("SELECT count(*) FROM content").fetchone()[0])
    surplus = count - files - SPARE_CONTENTS
    if surplus <= 0:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS gone (id INTEGER PRIMARY KEY)")
        connection.execute("DELETE FROM gone")
        connection.execute(
            "INSERT INTO gone SELECT id FROM content WHERE id NOT IN"
            " (SELECT content FROM file WHERE content IS NOT NULL) ORDER BY id LIMIT ?",
            (surplus,),
        )
        for table, column in (
            ("posting", "content"),
            ("call", "content"),
            ("entity", "content"),
            ("content", "id"),
        ):
            connection.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM gone)")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
