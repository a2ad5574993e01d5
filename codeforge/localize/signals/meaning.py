"""What means the same as the text in other words: cosines of dense vectors, for the best candidates only."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codeforge.localize.signals.board import Board

if TYPE_CHECKING:
    from codeforge.localize.dense.scorer import CandidateScorer

MEANING = "meaning"
CANDIDATES = 80
"""Entities that are compared; encoding one that was never seen before takes some 20 ms on a CPU."""


def score(board: Board, scorer: "CandidateScorer", nodes: Sequence[int]) -> None:
    """By node, how much more similar it is to the text than the least similar of `nodes`.

    Raises:
        EnvironmentUnavailableError: the encoder fails.
    """
    from codeforge.localize.dense.entities import node_passages

    if not nodes:
        return
    cosines = scorer.score_candidates(board.mentions.prose, node_passages(board.index, nodes)).tolist()
    least = min(cosines)
    for node, cosine in zip(nodes, cosines, strict=True):
        board.raise_to(MEANING, node, cosine - least, f"similar in meaning (cosine {cosine:.2f})")
