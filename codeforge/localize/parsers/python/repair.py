"""Broken Python: what can't be parsed is blanked, so that the rest of the file can.

A tree-sitter parser that meets one missing bracket or quote may lose the definitions around it, or all that
follow. Here the file is cut where lines begin a definition or leave one; each piece is parsed by itself. Of a
broken piece only the header of its definition stays. All bytes keep their place.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codeforge.localize.parsers.base import Repair

Parses = Callable[[bytes], bool]
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_HEADER = re.compile(
    rb"(?P<verb>(?:async[ \t]+)?def|class)[ \t]+(?P<name>(?:[^\W\d]|[\x80-\xff])(?:\w|[\x80-\xff])*)"
)
_COLON = re.compile(rb":[ \t]*(?:#[^\n]*)?\n?\Z")
_TRIPLE = re.compile(rb'"""|\'\'\'')
_BEFORE = {
    b"else": b"if 1:pass\n",
    b"elif": b"if 1:pass\n",
    b"except": b"try:pass\n",
    b"finally": b"try:pass\n",
}
_WORD = re.compile(rb"\w*")
_MOST_MERGED = 20
_MOST_HEADER_LINES = 60


@dataclass(slots=True)
class _Piece:
    """Lines that belong together.

    Attributes:
        start, end: its bytes.
        indent: of its first line, in bytes.
        header: where its `def` or `class` stands, -1 when it has none.
        body: it begins a definition (perhaps with a decorator): deeper lines belong to it.
    """

    start: int
    end: int
    indent: int
    header: int
    body: bool


def repaired(source: bytes, parses: Parses) -> Repair | None:
    """Blank what is broken in `source`; `None` when no piece is broken.

    Args:
        source: the file.
        parses: whether some source parses without an error.
    """
    pieces = list(_pieces(source))
    repair = _Repair(source, parses)
    place = 0
    while place < len(pieces):
        intact = _intact(source, pieces, place, parses)
        if not intact:
            after = pieces[place + 1] if place + 1 < len(pieces) else None
            repair.blank(pieces[place], nested=after is not None and after.indent > pieces[place].indent)
        place += intact or 1
    return Repair(bytes(repair.data), repair.blanked) if repair.blanked else None


def _pieces(source: bytes) -> Iterator[_Piece]:
    """Cut where a definition begins, and where a line stands no deeper than the one before it."""
    piece = _Piece(0, 0, 0, -1, False)
    for found in _LINE.finditer(source):
        line = found[0]
        text = line.lstrip(b" \t\f")
        indent = len(line) - len(text)
        start, header = found.start(), _HEADER.match(text)
        if text[:1] in (b"", b"\n", b"\r", b"#"):
            pass
        elif header and piece.body and piece.header < 0 and indent == piece.indent:
            piece.header = start + indent  # after its decorators
        elif header or (
            text[:1] == b"@" and not (piece.body and piece.header < 0 and indent == piece.indent)
        ):
            if piece.end > piece.start:
                yield piece
            piece = _Piece(start, start, indent, start + indent if header else -1, True)
        elif piece.body and indent <= piece.indent and text[:1] not in (b")", b"]", b"}", b"@"):
            yield piece
            piece = _Piece(start, start, indent, -1, False)
        elif piece.end == piece.start:
            piece.indent = indent
        piece.end = found.end()
    if piece.end > piece.start:
        yield piece


def _intact(source: bytes, pieces: Sequence[_Piece], place: int, parses: Parses) -> int:
    """How many pieces from here on parse as one; 0 when this one is broken. A string with code in it is cut
    into
    several pieces, of which only all together parse."""
    start, indent = pieces[place].start, pieces[place].indent
    quotes = 0
    for count, piece in enumerate(pieces[place : place + _MOST_MERGED], start=1):
        quotes += len(_TRIPLE.findall(source, piece.start, piece.end))
        if quotes % 2 == 0 or count == 1:
            if parses(_alone(source[start : piece.end], indent)):
                return count
            if quotes % 2 == 0:
                return 0
    return 0


def _alone(text: bytes, indent: int) -> bytes:
    """A piece as source of its own."""
    if not text.strip():
        return b""
    word = _WORD.match(text, indent)
    before = (b"if 1:\n" if indent else b"") + text[:indent]
    opening = _BEFORE.get(word[0], b"") if word else b""
    if opening:
        before += opening + text[:indent]
    lines = [line for line in text.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#")]
    last = lines[-1] if lines else b""
    after = b""
    if _COLON.search(last):
        after = b"\n" + b" " * (len(last) - len(last.lstrip()) + 1) + b"pass"
    return before + text[indent:] + after + b"\n"


class _Repair:
    """A source being repaired.

    Attributes:
        data: the repaired source.
        blanked: the bytes that were blanked, as (start, end).
    """

    def __init__(self, source: bytes, parses: Parses) -> None:
        self.data = bytearray(source)
        self.blanked: list[tuple[int, int]] = []
        self._source = source
        self._parses = parses

    def blank(self, piece: _Piece, *, nested: bool) -> None:
        """Blank a broken piece up to the header of its definition. `nested`: another definition inside
        follows."""
        if piece.header < 0:
            self._clear(piece.start, piece.end)
            return
        end = self._header_end(piece)
        if self._keeps(piece.start, piece.indent, end):
            kept = end
        else:
            self._clear(piece.start, piece.header)
            kept = end if self._keeps(piece.header, 0, end) else 0
        self._clear(kept or piece.header, piece.end)
        behind = kept or self._line_end(piece.header, piece.end)
        body = None if nested else self._body(piece, behind)
        if not kept:
            behind = self._write_header(piece, inline=body is None and not nested)
        if body is not None and behind:
            self._fill(max(body[0], behind), body[1])

    def _keeps(self, start: int, indent: int, end: int) -> bool:
        """Whether a header (with decorators) that ends at `end` can stay."""
        return end > 0 and self._parses(_alone(self._source[start:end], indent))

    def _header_end(self, piece: _Piece) -> int:
        """Behind the colon of the header, 0 when there is none that fits."""
        end = piece.header
        for _ in range(_MOST_HEADER_LINES):
            line = _LINE.match(self._source, end, piece.end)
            if line is None:
                break
            end = line.end()
            if _COLON.search(line[0]) and self._keeps(piece.header, 0, end):
                return end
        return 0

    def _clear(self, start: int, end: int) -> None:
        if not self._source[start:end].strip():
            return
        self.blanked.append((start, end))
        self.data[start:end] = re.sub(rb"[^\n]", b" ", self._source[start:end])

    def _body(self, piece: _Piece, behind: int) -> tuple[int, int] | None:
        """The bytes of the body below a header that ends at `behind`; `None` when there is none."""
        start = end = 0
        for found in _LINE.finditer(self._source, self._line_end(behind - 1, piece.end) + 1, piece.end):
            line = found[0].rstrip()
            indent = len(line) - len(line.lstrip())
            if line and not end and indent > piece.indent:
                start = found.start() + indent
            if line and start:
                end = found.start() + len(line)
        return (start, end) if end else None

    def _fill(self, start: int, end: int) -> None:
        """One expression, on as many lines as the body of the source has."""
        if end - start > 1:
            self.data[start : start + 1] = b"("
            self.data[end - 1 : end] = b")"
        elif end > start:
            self.data[start:end] = b"0"

    def _write_header(self, piece: _Piece, *, inline: bool) -> int:
        """The shortest header with the same name, in the place of the broken one; what doesn't fit into its
        line goes to the next one. Answers the byte behind it, 0 when there is no room.

        Args:
            piece: the definition.
            inline: no body follows: one has to stand in the same line.
        """
        found = _HEADER.match(self._source, piece.header)
        if found is None:
            return 0
        end = self._line_end(piece.header, piece.end)
        opening = b":" if found["verb"] == b"class" else b"():"
        behind = found.end() + len(opening)
        if behind + inline <= end:
            self.data[found.start() : behind] = found[0] + opening
            if inline:
                self.data[end - 1] = ord("0")
            return behind
        below = self._room(end + 1, piece.end, 3)
        if opening == b":" or inline or found.end() >= end or below < 0:
            return 0
        self.data[found.start() : found.end() + 1] = found[0] + b"("
        self.data[below : below + 2] = b"):"
        return below + 2

    def _room(self, start: int, end: int, length: int) -> int:
        """Where the first line of at least so many bytes begins; -1 when there is none."""
        lines = _LINE.finditer(self._source, start, end)
        return next((line.start() for line in lines if len(line[0].rstrip(b"\n")) >= length), -1)

    def _line_end(self, start: int, end: int) -> int:
        """Where the line ends that holds a byte, without its newline."""
        found = self._source.find(b"\n", start, end)
        return found if found >= 0 else end
