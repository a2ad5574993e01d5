"""Reading what is kept of contents; what this process has just made is not read again."""

import sqlite3

from codeforge.localize.content import Content, unpack_structure
from codeforge.localize.database import IndexDamagedError, checksum
from codeforge.localize.parsers.base import ParsedFile
from codeforge.localize.wordtable import WordTable, unpack


class Contents:
    """The contents in the database, by id.

    A damaged row raises `IndexDamagedError` when it is read.

    Args:
        connection: of the index.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._parsed: dict[int, ParsedFile] = {}
        self._words: dict[int, WordTable] = {}

    def id_of(self, key: str) -> int | None:
        """The id of the content with this key, if there is one."""
        found = self.connection.execute("SELECT id FROM content WHERE key = ?", (key,)).fetchone()
        return int(found[0]) if found else None

    def remember(self, number: int, content: Content) -> None:
        """Keep a content that was just made."""
        self._parsed[number] = content.parsed
        self._words[number] = content.words

    def parsed(self, number: int) -> ParsedFile:
        """The structure of a content."""
        found = self._parsed.get(number)
        if found is None:
            found = self._parsed[number] = unpack_structure(self._row(number)[0])
        return found

    def words(self, number: int) -> WordTable:
        """The words of a content."""
        found = self._words.get(number)
        return found if found is not None else unpack(*self._row(number)[1:])

    def mention(self, numbers: set[int], names: set[str]) -> set[int]:
        """Those of the contents whose structure mentions one of the names."""
        found: set[int] = set()
        for name in sorted(names):
            rows = self.connection.execute("SELECT id FROM content WHERE instr(structure, ?)", (name,))
            found.update(row[0] for row in rows)
        return found & numbers

    def forget_structures(self) -> None:
        """Let go of the structures kept in memory: those of a large tree take as much as all the rest."""
        self._parsed.clear()

    def _row(self, number: int) -> tuple[str, str, bytes]:
        """Structure, vocabulary and words of a content."""
        columns = "SELECT structure, vocabulary, words, checksum FROM content WHERE id = ?"
        row = self.connection.execute(columns, (number,)).fetchone()
        if row is None:
            raise IndexDamagedError(f"content {number} is missing")
        structure, vocabulary, words, known = row
        if checksum(structure, vocabulary, words) != known:
            raise IndexDamagedError(f"the checksum of content {number} is wrong")
        return structure, vocabulary, words
