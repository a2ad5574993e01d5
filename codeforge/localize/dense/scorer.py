"""Similarity of a few candidates to a text: the dense signal for a ranker that found them cheaply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from codeforge.localize.dense.encoder import DEFAULT_ENCODER, Encoder, open_encoder
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.vectors import Progress, TextVectors

if TYPE_CHECKING:
    from codeforge.localize.dense.encoder import Vectors


class CandidateScorer(Protocol):
    """Scores candidates by meaning."""

    def score_candidates(
        self, text: str, candidates: Sequence[Passage], *, progress: Progress | None = None
    ) -> Vectors:
        """The cosine of every candidate to `text`, in their order.

        Args:
            text: what is looked for; a blank one is similar to nothing (0).
            candidates: only those that no run has seen before are encoded.
            progress: told after each batch that is encoded.

        Returns:
            float32, shape (candidates,), -1 to 1.

        Raises:
            EnvironmentUnavailableError: the encoder fails; what it encoded before is kept.
        """
        ...


class DenseScorer:
    """A `CandidateScorer` with an encoder and the vectors kept in a repository. For one thread.

    Args:
        vectors: makes and keeps the vectors; closed with this.
    """

    def __init__(self, vectors: TextVectors) -> None:
        self._vectors = vectors

    @classmethod
    def open(cls, root: Path, encoder: Encoder | str = DEFAULT_ENCODER) -> DenseScorer:
        """A scorer for the repository at `root`.

        Args:
            encoder: an open one, or what `open_encoder` takes.

        Raises:
            EnvironmentUnavailableError: the extra is missing, or the model can't be had or loaded.
        """
        opened = open_encoder(encoder) if isinstance(encoder, str) else encoder
        return cls(TextVectors.open(root, opened))

    def __enter__(self) -> DenseScorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know about how vectors are kept."""
        return self._vectors.notices

    def score_candidates(
        self, text: str, candidates: Sequence[Passage], *, progress: Progress | None = None
    ) -> Vectors:
        """See `CandidateScorer.score_candidates`."""
        import numpy as np

        if not text.strip() or not candidates:
            return np.zeros(len(candidates), np.float32)
        digests = [self._vectors.digest(passage.text) for passage in candidates]
        texts = {digest: passage.text for digest, passage in zip(digests, candidates, strict=True)}
        found = self._vectors.fetch(texts, progress=progress).vectors
        matrix = self._vectors.matrix([found[digest] for digest in digests])
        scores: Vectors = matrix @ self._vectors.query(text)
        return scores

    def prune(self) -> int:
        """Remove vectors from the disk that were not used for a month, or are too many; how many."""
        return self._vectors.prune()

    def close(self) -> None:
        """Let go of the store."""
        self._vectors.close()
