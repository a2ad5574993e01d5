"""Unified diffs, as tools write them and as models do (wrong counts, missing numbers, lost spaces)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codeforge.patch.answer import joined
from codeforge.patch.model import EditBlock, EditKind

_HUNK = re.compile(r"^@@(?:\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s*@@.*|.*)$")
_GIT = re.compile(r'^diff --git (?:"?a/(?P<old>.+?)"?) (?:"?b/(?P<new>.+?)"?)$')
_MARKS = (" ", "+", "-", "\\")
_DEV_NULL = "/dev/null"


@dataclass(slots=True)
class Hunk:
    """One hunk: where it starts in the old file (1-based, `None` when not said), its marked lines."""

    start: int | None = None
    marked: list[tuple[str, str]] = field(default_factory=list)
    ended: bool = True  # the new file's last line has a newline

    def side(self, mark: str) -> list[str]:
        """The lines of the old (`-`) or the new (`+`) side."""
        return [text for kind, text in self.marked if kind in (" ", mark)]


@dataclass(slots=True)
class FileDiff:
    """One file of a diff. `old` / `new` are `None` for a file that does not exist on that side."""

    line: int
    old: str | None = ""
    new: str | None = ""
    rename: bool = False
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    def edits(self) -> tuple[list[EditBlock], list[str]]:
        """The edits, and what can't be made into one."""
        if self.binary:
            return [], ["binary changes can't be applied"]
        if self.new is None:
            return ([EditBlock(self.old, EditKind.DELETE)], []) if self.old else ([], ["deletes no file"])
        if not self.new:
            return [], ["the diff doesn't say which file it is for"]
        if self.old is None:
            lines = [text for hunk in self.hunks for text in hunk.side("+")]
            ended = not self.hunks or self.hunks[-1].ended
            body = joined(lines) if ended else "\n".join(lines)
            return [EditBlock(self.new, EditKind.CREATE, replace=body)], []
        edits: list[EditBlock] = []
        if self.rename and self.old != self.new:
            edits.append(EditBlock(self.old, EditKind.RENAME, new_path=self.new))
        problems = []
        for hunk in self.hunks:
            edit = _hunk_edit(self.new, hunk)
            if isinstance(edit, EditBlock):
                edits.append(edit)
            elif edit:
                problems.append(edit)
        return edits, problems


def _hunk_edit(path: str, hunk: Hunk) -> EditBlock | str:
    old, new = hunk.side("-"), hunk.side("+")
    if old == new:
        return ""
    if old:
        return EditBlock(path, search=joined(old), replace=joined(new), hint_line=hunk.start)
    if hunk.start is None:
        return "a hunk of added lines alone doesn't say where they go"
    return EditBlock(path, replace=joined(new), near_line=hunk.start + 1)


def starts_diff(lines: Sequence[str], index: int) -> bool:
    """Whether a raw diff starts at this line."""
    if _GIT.match(lines[index]):
        return True
    return _is_header(lines, index) and any(line.startswith("@@") for line in lines[index + 2 : index + 4])


def _is_header(lines: Sequence[str], index: int) -> bool:
    return lines[index].startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ ")


def parse_diff(
    lines: Sequence[str], *, first_line: int = 0, path: str | None = None, fenced: bool = True
) -> tuple[list[FileDiff], int]:
    """Read a diff from the start of `lines`.

    Args:
        lines: the text.
        first_line: the number of `lines[0]` in the answer.
        path: the file, for hunks without a header.
        fenced: the diff ends where `lines` end; else prose may follow it.

    Returns:
        the files, and how many lines belong to the diff.
    """
    if fenced:
        strict = _strict(lines, first_line)
        if strict is not None:
            return strict, len(lines)
    reader = _Reader(lines, first_line, path, fenced)
    return reader.read(), reader.at


def _strict(lines: Sequence[str], first_line: int) -> list[FileDiff] | None:
    """By unidiff, when it reads every changed line; it passes over what it doesn't understand."""
    from unidiff import PatchSet
    from unidiff.errors import UnidiffParseError

    try:
        parsed = PatchSet("".join(line + "\n" for line in lines))
    except UnidiffParseError:
        return None
    hunk_lines = sum(len(hunk) for file in parsed for hunk in file)
    headers = sum(1 for index in range(len(lines)) if _is_header(lines, index))
    body_like = sum(1 for line in lines if line[:1] in _MARKS)
    if not hunk_lines or body_like != hunk_lines + 2 * headers or len(parsed) != headers:
        return None
    files = []
    for file in parsed:
        found = FileDiff(first_line, _side(file.source_file, "a/"), _side(file.target_file, "b/"))
        found.rename = bool(file.is_rename)
        for source in file:
            hunk = Hunk(source.source_start)
            for line in source:
                if line.line_type == "\\":
                    hunk.ended = not (hunk.marked and hunk.marked[-1][0] != "-") and hunk.ended
                else:
                    hunk.marked.append((line.line_type or " ", line.value.removesuffix("\n")))
            found.hunks.append(hunk)
        files.append(found)
    return files


def _side(name: str, prefix: str) -> str | None:
    """A header's path: without a time after it, quotes, or git's `a/`, `b/`."""
    name = name.split("\t")[0].strip()
    if name == _DEV_NULL:
        return None
    name = name.strip('"')
    return name.removeprefix(prefix).removeprefix("./")


class _Reader:
    """The tolerant reader: takes hunk counts as a hint, never as the truth."""

    def __init__(self, lines: Sequence[str], first_line: int, path: str | None, fenced: bool) -> None:
        self._lines = lines
        self._first = first_line
        self._path = path
        self._fenced = fenced
        self._files: list[FileDiff] = []
        self.at = 0

    def read(self) -> list[FileDiff]:
        while self.at < len(self._lines):
            if not self._step(self._lines[self.at]):
                if not self._fenced:
                    break
                self.at += 1
        return self._files

    def _step(self, line: str) -> bool:
        """Read what starts here; whether it belongs to a diff."""
        git = _GIT.match(line)
        if git:
            self._files.append(FileDiff(self._first + self.at, git["old"], git["new"]))
            self.at += 1
            return True
        if _is_header(self._lines, self.at):
            self._header()
            return True
        if line.startswith("@@") or (self._headless(line) and self._path is not None):
            self._hunk()
            return True
        return bool(self._files) and not self._files[-1].hunks and self._extended(line)

    def _headless(self, line: str) -> bool:
        """Marked lines in a fence without any header or hunk line before them."""
        return self._fenced and not self._files and line[:1] in ("+", "-", " ")

    def _header(self) -> None:
        old = _side(self._lines[self.at][4:], "a/")
        new = _side(self._lines[self.at + 1][4:], "b/")
        current = self._files[-1] if self._files else None
        if current is None or current.hunks or current.line == -1:
            current = FileDiff(self._first + self.at)
            self._files.append(current)
        if not (current.rename and old and new):
            current.old, current.new = old, new
        self.at += 2

    def _extended(self, line: str) -> bool:
        file = self._files[-1]
        word, _, rest = line.partition(" ")
        if line.startswith("new file mode"):
            file.old = None
        elif line.startswith("deleted file mode"):
            file.new = None
        elif line.startswith(("rename from ", "rename to ")):
            file.rename = True
            name = rest.partition(" ")[2].strip().strip('"')
            file.old, file.new = (name, file.new) if rest.startswith("from") else (file.old, name)
        elif line.startswith(("Binary files", "GIT binary patch")):
            file.binary = True
        elif word not in ("index", "similarity", "old", "new", "dissimilarity"):
            return False
        self.at += 1
        return True

    def _hunk(self) -> None:
        header = _HUNK.match(self._lines[self.at])
        hunk = Hunk()
        wanted = None
        if header is not None:
            self.at += 1
            if header[1] is not None:
                hunk.start = int(header[1])
                wanted = (int(header[2] or 1), int(header[4] or 1))
        if not self._files:
            self._files.append(
                FileDiff(self._first + max(0, self.at - 1), self._path or "", self._path or "")
            )
        for mark, text in self._body(wanted):
            if mark == "\\":
                hunk.ended = not (hunk.marked and hunk.marked[-1][0] != "-") and hunk.ended
            else:
                hunk.marked.append((mark, text))
        while hunk.marked and hunk.marked[-1] == (" ", ""):
            hunk.marked.pop()  # blank lines behind a hunk are layout more often than context
        self._files[-1].hunks.append(hunk)

    def _body(self, wanted: tuple[int, int] | None) -> Iterator[tuple[str, str]]:
        old = new = 0
        while self.at < len(self._lines):
            line = self._lines[self.at]
            complete = wanted is not None and old >= wanted[0] and new >= wanted[1]
            if self._ends(line, complete, wanted is not None):
                return
            mark, text = (line[0], line[1:]) if line[:1] in _MARKS else (" ", line)
            old += mark in " -"
            new += mark in " +"
            self.at += 1
            yield mark, text

    def _ends(self, line: str, complete: bool, counted: bool) -> bool:
        if line.startswith("@@") or _GIT.match(line) or line.startswith("*** "):
            return True
        if _is_header(self._lines, self.at) and (complete or not counted):
            return True
        if line[:1] in _MARKS:
            return False
        if self._fenced and line:
            return False  # context that lost its leading space
        after = range(self.at, len(self._lines))
        following = next((self._lines[index] for index in after if self._lines[index]), "")
        return complete or bool(line) or following[:1] not in _MARKS


def edits_of(files: Sequence[FileDiff]) -> Iterator[tuple[int, list[EditBlock], list[str]]]:
    """For each file: its line in the answer, its edits, its problems."""
    for file in files:
        edits, problems = file.edits()
        yield file.line, edits, problems
