"""What localization is asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailureSignal:
    """A failing test: its id, its frames inside the repository ((path, 1-based line, function), outermost
    first), and the exception in one line."""

    test_id: str
    frames: tuple[tuple[str, int, str], ...]
    message: str


@dataclass(frozen=True, slots=True)
class LocateQuery:
    """What is asked.

    Attributes:
        text: the issue.
        failures: failing tests, if they are known.
        limit: how many locations, and how many files are wanted.
        tests: whether files that hold tests may be answered.
    """

    text: str
    failures: tuple[FailureSignal, ...] = ()
    limit: int = 10
    tests: bool = True
