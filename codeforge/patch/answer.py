"""What parsing an answer gives, and the lines of an answer with the parts already taken."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from codeforge.patch.model import EditBlock


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """A part of an answer that looks like an edit and can't be one. `line` is 1-based in the answer."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"answer line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The edits of an answer in its order, what could not be read, and what a person should know."""

    edits: tuple[EditBlock, ...] = ()
    problems: tuple[ParseProblem, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Draft:
    """An answer while it is being taken apart. Line numbers are 0-based here.

    Attributes:
        lines: the answer's lines.
        known_paths: paths that the caller knows to exist.
        taken: for each line, whether some part already owns it.
    """

    lines: list[str]
    known_paths: frozenset[str]
    taken: list[bool] = field(default_factory=list)
    _edits: list[tuple[int, EditBlock]] = field(default_factory=list)
    _problems: list[ParseProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.taken = [False] * len(self.lines)

    @property
    def has_edits(self) -> bool:
        return bool(self._edits)

    @property
    def edits(self) -> list[EditBlock]:
        """The edits so far, in the order they were found."""
        return [edit for _, edit in self._edits]

    @property
    def has_problems(self) -> bool:
        return bool(self._problems)

    def take(self, start: int, end: int) -> None:
        """Mark the lines `start` to `end` (exclusive) as owned."""
        self.taken[start:end] = [True] * (end - start)

    def free(self, start: int, end: int) -> bool:
        """Whether nobody owns any of these lines."""
        return not any(self.taken[start:end])

    def add(self, line: int, edits: Iterable[EditBlock]) -> None:
        """Add edits found at `line`."""
        self._edits += [(line, edit) for edit in edits]

    def problem(self, line: int, reason: str) -> None:
        """Record that the part at `line` can't be used."""
        self._problems.append(ParseProblem(line + 1, reason))

    def last_path_before(self, line: int) -> str | None:
        """The path of the last edit found before `line`."""
        before = [(at, edit) for at, edit in self._edits if at < line]
        if not before:
            return None
        edit = max(before, key=lambda item: item[0])[1]
        return edit.new_path or edit.path

    def finish(self) -> ParsedAnswer:
        """Everything found, in the answer's order."""
        edits = tuple(edit for _, edit in sorted(self._edits, key=lambda item: item[0]))
        problems = tuple(sorted(self._problems, key=lambda item: item.line))
        return ParsedAnswer(edits, problems, tuple(self.notes))


def joined(lines: list[str]) -> str:
    """Lines as an edit's text: each ended by a newline."""
    return "".join(line + "\n" for line in lines)
