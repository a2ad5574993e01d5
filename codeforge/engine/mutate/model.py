"""The nouns of the mutations: `Mutation`, `MutationHints`, `Proposal`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codeforge.patch.model import EditBlock
from codeforge.sandbox.probe.model import FailureDetail, ObservedTypes, ProbeReport


@dataclass(frozen=True, slots=True)
class Mutation:
    """One small edit that might repair the program.

    Attributes:
        edit: whole lines, with `near_line`; every other byte of the file stays.
        operator: the name of the operator that proposed it.
        line: the first line it changes (1-based).
        prior: how promising it is against the other mutations of the same call; not a probability.
        description: for people and prompts, such as "compare with <= instead of <".
    """

    edit: EditBlock
    operator: str
    line: int
    prior: float
    description: str


@dataclass(frozen=True, slots=True)
class MutationHints:
    """What is known of the failures.

    Attributes:
        exc_types: types of the exceptions of the failing tests ("AssertionError" included).
        messages: their messages.
        hung: some test did not finish.
        types: observed types of locals; see `ProbeReport.types`.
        comparisons: (expected, actual) of failed comparisons, as Python literals where they are.
    """

    exc_types: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    hung: bool = False
    comparisons: tuple[tuple[str, str], ...] = ()
    types: ObservedTypes = field(default_factory=dict)

    @classmethod
    def from_report(cls, report: ProbeReport) -> "MutationHints":
        """The hints that a run under the probe gives."""
        return cls.from_failures(report.failures, report.types)

    @classmethod
    def from_failures(
        cls, failures: Sequence[FailureDetail], types: ObservedTypes | None = None
    ) -> "MutationHints":
        """The hints that failures give, and what was seen of the types of locals."""
        return cls(
            exc_types=tuple(failure.exc_type for failure in failures),
            messages=tuple(failure.message for failure in failures),
            hung=any(failure.hung for failure in failures),
            comparisons=tuple(
                (failure.expected, failure.actual)
                for failure in failures
                if failure.expected and failure.actual
            ),
            types=types or {},
        )


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an operator proposes: put `text` in place of the characters `start` to `end` of the source.

    Attributes:
        operator: the operator's name.
        prior: its weight before suspicion and hints.
        description: one line.
        line: the line whose suspicion counts.
        tags: what kinds of failure it speaks to; see `hints`.
    """

    start: int
    end: int
    text: str
    operator: str
    prior: float
    description: str
    line: int
    tags: frozenset[str] = frozenset()
