"""The dense index: vectors of passages, encoded once, searched by meaning.

Bi-encoder retrieval (Reimers & Gurevych 2019, "Sentence-BERT", arXiv:1908.10084): query and passages are
encoded apart from each other, and the dot product of their unit vectors is their similarity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from codeforge.localize.dense.encoder import Encoder
from codeforge.localize.dense.flat import FlatIndex, flat_index
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.vectors import Progress, TextVectors


class DenseBuild(NamedTuple):
    """What a build did, in distinct texts.

    Attributes:
        encoded: were encoded now.
        kept: had a vector already.
        left: have none yet, because of `most_new`; they can't be found.
    """

    encoded: int
    kept: int
    left: int


class DenseIndex:
    """Finds passages by meaning. For one thread.

    Args:
        vectors: makes and keeps the vectors; closed with the index.
    """

    def __init__(self, vectors: TextVectors) -> None:
        self._vectors = vectors
        self._digests: dict[str, bytes] = {}
        self._found: Mapping[bytes, bytes] = {}
        self._groups: list[list[str]] = []
        self._flat: FlatIndex | None = None

    @classmethod
    def open(cls, root: Path, encoder: Encoder) -> DenseIndex:
        """An empty index of the repository at `root`; `build` finds the vectors that earlier runs left."""
        return cls(TextVectors.open(root, encoder))

    def __enter__(self) -> DenseIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know about how vectors are kept."""
        return self._vectors.notices

    def __len__(self) -> int:
        """Passages that can be found."""
        return sum(digest in self._found for digest in self._digests.values())

    def build(
        self,
        passages: Iterable[Passage],
        *,
        first: Sequence[str] = (),
        most_new: int | None = None,
        progress: Progress | None = None,
    ) -> DenseBuild:
        """Make these passages, and no others, the ones that can be found. Only new texts are encoded.

        Args:
            passages: all of the repository, or only some of it.
            first: keys of the passages to encode first.
            most_new: encode no more than this many texts; the rest is left for the next build.
            progress: told after each batch. What is encoded stays stored, even if this raises.

        Raises:
            EnvironmentUnavailableError: the encoder fails; what it encoded before is kept, and the index is
                as it was.
        """
        texts: dict[str, str] = {}
        for passage in passages:
            texts.setdefault(passage.key, passage.text)
        digests = {key: self._vectors.digest(text) for key, text in texts.items()}
        ordered = {digests[key]: texts[key] for key in [*first, *texts] if key in texts}
        fetched = self._vectors.fetch(ordered, known=self._found, most_new=most_new, progress=progress)
        self._digests, self._found, self._flat = digests, fetched.vectors, None
        return DenseBuild(fetched.encoded, fetched.kept, fetched.left)

    def search(self, query_text: str, limit: int) -> Sequence[tuple[str, float]]:
        """The passages most similar to the query, best first, with their similarity (-1 to 1).

        Passages of equal similarity stand in the order of `build`. A blank query finds nothing.
        """
        if not query_text.strip() or limit < 1 or not len(self):
            return ()
        if self._flat is None:
            self._flat = self._built()
        rows, scores = self._flat.search(self._vectors.query(query_text), limit)
        found = [
            (key, float(score))
            for row, score in zip(rows, scores, strict=True)
            for key in self._groups[int(row)]
        ]
        return tuple(found[:limit])

    def prune(self) -> int:
        """Remove vectors from the disk that were not used for a month, or are too many; how many."""
        return self._vectors.prune()

    def close(self) -> None:
        """Let go of the store."""
        self._vectors.close()

    def _built(self) -> FlatIndex:
        """Equal vectors share a row: identical texts, and texts whose difference the encoder doesn't read."""
        groups: dict[bytes, list[str]] = {}
        for key, digest in self._digests.items():
            if digest in self._found:
                groups.setdefault(self._found[digest], []).append(key)
        self._groups = list(groups.values())
        return flat_index(self._vectors.matrix(list(groups)))
