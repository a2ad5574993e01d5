"""The dense index: vectors of passages, encoded once, searched by meaning.

Bi-encoder retrieval (Reimers & Gurevych 2019, "Sentence-BERT", arXiv:1908.10084): query and passages are encoded
apart from each other, and the dot product of their unit vectors is their similarity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.encoder import Encoder, TextRole
from codeforge.localize.dense.flat import FlatIndex, flat_index
from codeforge.localize.dense.passage import Passage, text_digest
from codeforge.localize.dense.store import VectorStore

if TYPE_CHECKING:
    from codeforge.localize.dense.encoder import Vectors

ENCODE_AT_ONCE = 128
"""Texts given to the encoder together; after each such batch the vectors are stored and progress is told."""
_NORM_TOLERANCE = 0.01

Progress = Callable[[int, int], None]
"""Told how many texts are encoded, and how many are to be encoded."""


@dataclass(frozen=True, slots=True)
class DenseUpdate:
    """What an update did, in distinct texts.

    Attributes:
        encoded: were encoded now.
        kept: had a vector already.
        left: have none yet, because of `most_texts`; they can't be found.
    """

    encoded: int
    kept: int
    left: int


class DenseIndex:
    """Finds passages by meaning. For one thread.

    Args:
        encoder: makes the vectors.
        store: keeps them; closed with the index.
    """

    def __init__(self, encoder: Encoder, store: VectorStore) -> None:
        self._encoder = encoder
        self._store = store
        self._digests: dict[str, bytes] = {}
        self._vectors: dict[bytes, bytes] = {}
        self._groups: list[list[str]] = []
        self._flat: FlatIndex | None = None
        self._query: tuple[str, Vectors] | None = None

    @classmethod
    def open(cls, root: Path, encoder: Encoder) -> DenseIndex:
        """The index of the repository at `root`, with the vectors that earlier runs left there."""
        return cls(encoder, VectorStore.at(root, encoder.name))

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know about how vectors are kept."""
        return tuple(self._store.notices)

    def __len__(self) -> int:
        """Passages that can be found."""
        return sum(digest in self._vectors for digest in self._digests.values())

    def update(
        self,
        passages: Iterable[Passage],
        *,
        first: Sequence[str] = (),
        most_texts: int | None = None,
        progress: Progress | None = None,
    ) -> DenseUpdate:
        """Make these passages, and no others, the ones that can be found. Only new texts are encoded.

        Args:
            passages: all of the repository, or only the candidates of a cheaper search.
            first: keys of the passages to encode first.
            most_texts: encode no more than this many; the rest is left for the next update.
            progress: told after each batch. What is encoded stays stored, even if this raises.

        Raises:
            EnvironmentUnavailableError: the encoder fails; what it encoded before is kept.
        """
        texts: dict[str, str] = {}
        for passage in passages:
            texts.setdefault(passage.key, passage.text)
        version = self._encoder.version
        self._digests = {key: text_digest(version, text) for key, text in texts.items()}
        self._flat = None
        by_digest = {self._digests[key]: texts[key] for key in [*first, *texts] if key in texts}
        self._vectors = {d: self._vectors[d] for d in by_digest if d in self._vectors}
        unknown = [digest for digest in by_digest if digest not in self._vectors]
        self._vectors |= self._usable(self._store.get(unknown))
        missing = [digest for digest in unknown if digest not in self._vectors]
        chosen = missing if most_texts is None else missing[: max(0, most_texts)]
        self._encode([(digest, by_digest[digest]) for digest in chosen], progress)
        return DenseUpdate(len(chosen), len(by_digest) - len(missing), len(missing) - len(chosen))

    def search(self, query_text: str, limit: int) -> Sequence[tuple[str, float]]:
        """The passages most similar to the query, best first, with their similarity (-1 to 1).

        Passages of equal similarity stand in the order of `update`. A blank query finds nothing.
        """
        if not query_text.strip() or limit < 1:
            return ()
        if self._flat is None:
            self._flat = self._build()
        rows, scores = self._flat.search(self._query_vector(query_text), limit)
        found = [
            (key, float(score))
            for row, score in zip(rows, scores, strict=True)
            for key in self._groups[int(row)]
        ]
        return tuple(found[:limit])

    def scores(self, query_text: str, keys: Iterable[str]) -> Mapping[str, float]:
        """The similarity of each of these passages to the query; those without a vector are left out."""
        chosen = {key: self._digests.get(key, b"") for key in keys}
        known = [(key, digest) for key, digest in chosen.items() if digest in self._vectors]
        if not query_text.strip() or not known:
            return {}
        found = self._matrix([self._vectors[digest] for _, digest in known]) @ self._query_vector(query_text)
        return {key: float(score) for (key, _), score in zip(known, found, strict=True)}

    def prune(self) -> int:
        """Remove vectors from the disk that were not used for a month, or are too many; how many."""
        return self._store.prune()

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _encode(self, texts: Sequence[tuple[bytes, str]], progress: Progress | None) -> None:
        for start in range(0, len(texts), ENCODE_AT_ONCE):
            batch = texts[start : start + ENCODE_AT_ONCE]
            blobs = self._blobs(self._encoder.encode([text for _, text in batch], TextRole.DOCUMENT), len(batch))
            vectors = {digest: blob for (digest, _), blob in zip(batch, blobs, strict=True)}
            self._store.put(vectors)
            self._vectors |= vectors
            if progress is not None:
                progress(start + len(batch), len(texts))

    def _blobs(self, vectors: Vectors, count: int) -> list[bytes]:
        """Rows as float16, checked, so that nothing unusable is ever stored."""
        import numpy as np

        blobs = [row.tobytes() for row in vectors.astype("<f2")]
        # The comparison is false for NaN, too.
        lengths = np.abs(np.linalg.norm(vectors, axis=1) - 1) < _NORM_TOLERANCE
        if vectors.shape != (count, self._encoder.dimension) or not lengths.all():
            raise EnvironmentUnavailableError(
                f"The encoder {self._encoder.name} gave no usable vectors.",
                kept="the vectors encoded before are kept",
                hint="choose another encoder",
            )
        return blobs

    def _usable(self, stored: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """Those of the stored vectors that are whole; the others are encoded anew."""
        import numpy as np

        size = 2 * self._encoder.dimension
        right = {digest: blob for digest, blob in stored.items() if len(blob) == size}
        with np.errstate(all="ignore"):
            lengths = np.linalg.norm(self._matrix(list(right.values())), axis=1)
            good = np.abs(lengths - 1) < _NORM_TOLERANCE
        return {digest: blob for (digest, blob), is_good in zip(right.items(), good, strict=True) if is_good}

    def _build(self) -> FlatIndex:
        """Equal vectors share a row: identical texts, and texts whose difference the encoder doesn't read."""
        groups: dict[bytes, list[str]] = {}
        for key, digest in self._digests.items():
            if digest in self._vectors:
                groups.setdefault(self._vectors[digest], []).append(key)
        self._groups = list(groups.values())
        return flat_index(self._matrix(list(groups)))

    def _matrix(self, blobs: Sequence[bytes]) -> Vectors:
        import numpy as np

        flat = np.frombuffer(b"".join(blobs), dtype="<f2").astype(np.float32)
        return flat.reshape(len(blobs), self._encoder.dimension)

    def _query_vector(self, text: str) -> Vectors:
        if self._query is None or self._query[0] != text:
            self._query = (text, self._encoder.encode([text], TextRole.QUERY)[0])
        return self._query[1]
