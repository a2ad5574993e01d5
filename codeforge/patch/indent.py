"""Uniform differences of indentation between a search text and the file, and how to carry them over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

_UNITS = (4, 2, 8, 3)


def leading(line: str) -> str:
    """The white space a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


class Reindent(Protocol):
    """How lines of the answer become lines of the file."""

    @property
    def note(self) -> str:
        """What it does, for people; empty for "nothing"."""
        ...

    def apply(self, line: str, index: int) -> str | None:
        """The line as the file would have it; `None` when it can't. `index` counts the answer's lines."""
        ...


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Indentation agrees."""

    note: str = ""

    def apply(self, line: str, index: int) -> str | None:  # noqa: ARG002
        return line


@dataclass(frozen=True, slots=True)
class Add:
    """The answer lacks a common prefix."""

    prefix: str

    @property
    def note(self) -> str:
        return f"indentation {len(self.prefix)} deeper"

    def apply(self, line: str, index: int) -> str | None:  # noqa: ARG002
        return self.prefix + line if line.strip() else line


@dataclass(frozen=True, slots=True)
class Remove:
    """The answer has a common prefix too much."""

    prefix: str

    @property
    def note(self) -> str:
        return f"indentation {len(self.prefix)} shallower"

    def apply(self, line: str, index: int) -> str | None:  # noqa: ARG002
        if not line.strip():
            return line
        return line[len(self.prefix) :] if line.startswith(self.prefix) else None


@dataclass(frozen=True, slots=True)
class FirstLine:
    """Only the answer's first line lost its indentation (it followed a marker or a fence)."""

    prefix: str
    note: str = "the first line's indentation was missing"

    def apply(self, line: str, index: int) -> str | None:
        return self.prefix + line.lstrip(" \t") if index == 0 and line.strip() else line


@dataclass(frozen=True, slots=True)
class ToTabs:
    """The answer has spaces where the file has tabs."""

    unit: int
    note: str = "spaces in the answer, tabs in the file"

    def apply(self, line: str, index: int) -> str | None:  # noqa: ARG002
        white = leading(line)
        if "\t" in white:
            return None
        tabs, rest = divmod(len(white), self.unit)
        return "\t" * tabs + " " * rest + line[len(white) :]


@dataclass(frozen=True, slots=True)
class ToSpaces:
    """The answer has tabs where the file has spaces."""

    unit: int
    note: str = "tabs in the answer, spaces in the file"

    def apply(self, line: str, index: int) -> str | None:  # noqa: ARG002
        white = leading(line)
        return white.replace("\t", " " * self.unit) + line[len(white) :]


def _candidates(first_answer: str, first_file: str) -> Iterator[Reindent]:
    answer, file = leading(first_answer), leading(first_file)
    yield Unchanged()
    if len(file) > len(answer) and file.endswith(answer):
        yield Add(file[: len(file) - len(answer)])
        yield FirstLine(file)
    if len(answer) > len(file) and answer.endswith(file):
        yield Remove(answer[: len(answer) - len(file)])
    for unit in _UNITS:
        yield ToTabs(unit)
        yield ToSpaces(unit)


def find_reindent(answer: Sequence[str], file: Sequence[str]) -> Reindent | None:
    """The uniform change that makes the non-blank lines `answer` equal `file`, trailing white space aside.

    Both hold the same number of lines, none of them blank.
    """
    for candidate in _candidates(answer[0], file[0]):
        shifted = (candidate.apply(line, index) for index, line in enumerate(answer))
        if all(
            new is not None and new.rstrip() == old.rstrip() for new, old in zip(shifted, file, strict=True)
        ):
            return candidate
    return None
