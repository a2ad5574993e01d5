"""Retrieval in stages: a cheap filter, fusion with the dense ranking, a reranker for the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codeforge.errors import CodeforgeError
from codeforge.localize.dense.fusion import K, reciprocal_rank_fusion
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.rerank import Reranker
from codeforge.localize.dense.scorer import CandidateScorer
from codeforge.localize.dense.vectors import Progress


@dataclass(frozen=True, slots=True)
class Stages:
    """How much each stage passes on.

    Attributes:
        filtered: candidates of the cheap ranking that are compared by meaning; the others follow.
        reranked: of the fused ranking, how many a reranker reads.
        cheap_weight, dense_weight: of the two rankings in the fusion.
        k: the constant of the fusion.
    """

    filtered: int = 200
    reranked: int = 20
    cheap_weight: float = 1.0
    dense_weight: float = 1.0
    k: float = K


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate in its new place.

    Attributes:
        key: of its passage.
        cheap_rank: its place in the cheap ranking, from 1.
        dense_rank: its place by meaning, from 1; `None` when it wasn't among the filtered.
        cosine: its similarity to the query; `None` likewise.
        rerank_score: what the reranker gave it, on the reranker's scale; `None` when it wasn't asked.
    """

    key: str
    cheap_rank: int
    dense_rank: int | None = None
    cosine: float | None = None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class HybridAnswer:
    """All candidates, best first, and what the user should know about how that came about."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...]


class HybridRetriever:
    """Brings a cheap ranking into a better order.

    Args:
        scorer: compares by meaning.
        reranker: reads the best candidates; `None` leaves the fused order.
        stages: how much each stage passes on.
    """

    def __init__(
        self, scorer: CandidateScorer, reranker: Reranker | None = None, stages: Stages | None = None
    ) -> None:
        self._scorer = scorer
        self._reranker = reranker
        self._stages = stages or Stages()

    def retrieve(
        self, text: str, candidates: Sequence[Passage], *, progress: Progress | None = None
    ) -> HybridAnswer:
        """Order candidates.

        A reranker that fails leaves the fused order, and a notice says so.

        Args:
            text: what is looked for.
            candidates: best first by the cheap ranking; of equal keys the first counts.
            progress: told while candidates are encoded.

        Raises:
            EnvironmentUnavailableError: the encoder fails.
        """
        by_key: dict[str, Passage] = {}
        for passage in candidates:
            by_key.setdefault(passage.key, passage)
        unique = list(by_key.values())
        filtered = unique[: max(0, self._stages.filtered)]
        fused = self._fused(text, filtered, progress)
        known = len(filtered)
        rest = [Hit(passage.key, rank) for rank, passage in enumerate(unique[known:], known + 1)]
        ordered, notices = self._reranked(text, fused, by_key)
        return HybridAnswer((*ordered, *rest), notices)

    def _fused(self, text: str, filtered: Sequence[Passage], progress: Progress | None) -> list[Hit]:
        cosines = self._scorer.score_candidates(text, filtered, progress=progress).tolist()
        cheap = [passage.key for passage in filtered]
        # A sort is stable: equal ones stay in the cheap order.
        by_meaning = sorted(range(len(cheap)), key=lambda place: -cosines[place])
        dense_rank = {cheap[place]: rank for rank, place in enumerate(by_meaning, 1)}
        hits = {
            key: Hit(key, rank, dense_rank[key], cosine)
            for rank, (key, cosine) in enumerate(zip(cheap, cosines, strict=True), 1)
        }
        stages = self._stages
        weights = (stages.cheap_weight, stages.dense_weight if text.strip() else 0.0)
        fusion = reciprocal_rank_fusion((cheap, list(dense_rank)), k=stages.k, weights=weights)
        return [hits[key] for key, _ in fusion]

    def _reranked(
        self, text: str, fused: Sequence[Hit], passages: dict[str, Passage]
    ) -> tuple[list[Hit], tuple[str, ...]]:
        count = min(max(0, self._stages.reranked), len(fused))
        if self._reranker is None or not count or not text.strip():
            return list(fused), ()
        head = fused[:count]
        try:
            answer = self._reranker.rerank(text, [passages[hit.key] for hit in head])
        except CodeforgeError as error:
            notice = f"{self._reranker.name} did not rerank ({error.message}); the fused order stands"
            return list(fused), (notice,)
        judged = sorted(zip(head, answer.scores, strict=True), key=lambda pair: -pair[1])
        scored = [replace(hit, rerank_score=score) for hit, score in judged]
        return [*scored, *fused[count:]], (answer.note,) if answer.note else ()
