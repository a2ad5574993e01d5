"""The nouns of the context compiler."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One piece that a prompt may hold.

    Attributes:
        kind: "target", "file", "test", "neighbour", "failure", …
        title: names it in reports.
        text: the piece in full, titled and fenced as the model shall see it.
        priority: higher is kept first; among equals the earlier.
        folds: shorter forms, longest first, for when the full one does not fit.
    """

    kind: str
    title: str
    text: str
    priority: float
    folds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece that is not there in full, and why."""

    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompiledContext:
    """The context.

    Attributes:
        text: the chosen pieces in the order they were given, with a blank line between.
        tokens: its tokens; never more than the budget.
        included: the titles of what it holds.
        cut: what it lacks, in whole or in part.
    """

    text: str
    tokens: int
    included: tuple[str, ...]
    cut: tuple[Cut, ...]
