"""Rerankers: the slow, careful look at few candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codeforge.localize.dense.passage import Passage


@dataclass(frozen=True, slots=True)
class Reranked:
    """What a reranker says.

    Attributes:
        scores: one for each candidate, in their order; higher is better, the scale is the reranker's own.
        note: what a person should know about it ("the model named 3 of 20 candidates"), or "".
    """

    scores: tuple[float, ...]
    note: str = ""


class Reranker(Protocol):
    """Reads a query together with each candidate.

    Attributes:
        name: how explanations call it.
    """

    @property
    def name(self) -> str: ...

    def rerank(self, query: str, candidates: Sequence[Passage]) -> Reranked:
        """Score the candidates, which are given best first by what is known so far.

        Raises:
            EnvironmentUnavailableError: the model behind it can't answer.
        """
        ...
