"""Vectors of texts: from the store where they are there, else encoded and stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.encoder import Encoder, TextRole
from codeforge.localize.dense.passage import text_digest
from codeforge.localize.dense.store import VectorStore

if TYPE_CHECKING:
    from codeforge.localize.dense.encoder import Vectors

ENCODE_AT_ONCE = 128
"""Texts given to the encoder together; after each such batch the vectors are stored and progress is told."""
_NORM_TOLERANCE = 0.01

Progress = Callable[[int, int], None]
"""Told how many texts are encoded, and how many are to be encoded."""


class Fetched(NamedTuple):
    """Vectors, and where they came from.

    Attributes:
        vectors: by digest; those of the texts that were left have none.
        encoded: texts that were encoded now.
        kept: texts that had a vector already.
        left: texts that have none yet, because of `most_new`.
    """

    vectors: Mapping[bytes, bytes]
    encoded: int
    kept: int
    left: int


class TextVectors:
    """Makes and keeps the vectors of one encoder as float16. For one thread.

    Args:
        encoder: makes the vectors.
        store: keeps them; closed with this.
    """

    def __init__(self, encoder: Encoder, store: VectorStore) -> None:
        self._encoder = encoder
        self._store = store
        self._query: tuple[str, Vectors] | None = None

    @classmethod
    def open(cls, root: Path, encoder: Encoder) -> TextVectors:
        """With the vectors that earlier runs left in the repository at `root`.

        Every encoder has a file of its own, and every version of it its own vectors in there: after a change
        of the model the vectors of both are kept, until those of one go unused for a month (`prune`).
        """
        return cls(encoder, VectorStore.at(root, encoder.name))

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know about how vectors are kept."""
        return tuple(self._store.notices)

    def digest(self, text: str) -> bytes:
        """What names the vector of `text`."""
        return text_digest(self._encoder.version, text)

    def fetch(
        self,
        texts: Mapping[bytes, str],
        *,
        known: Mapping[bytes, bytes] | None = None,
        most_new: int | None = None,
        progress: Progress | None = None,
    ) -> Fetched:
        """The vectors of texts, which are given by digest.

        Args:
            texts: encoded in this order.
            known: vectors that the caller has already.
            most_new: encode no more than this many.
            progress: told after each batch. What is encoded stays stored, even if this raises.

        Raises:
            EnvironmentUnavailableError: the encoder fails; what it encoded before is kept.
        """
        found = {digest: data for digest, data in (known or {}).items() if digest in texts}
        size = 2 * self._encoder.dimension
        stored = self._store.get([digest for digest in texts if digest not in found])
        found |= {digest: data for digest, data in stored.items() if len(data) == size}
        missing = [digest for digest in texts if digest not in found]
        chosen = missing if most_new is None else missing[: max(0, most_new)]
        for start in range(0, len(chosen), ENCODE_AT_ONCE):
            batch = chosen[start : start + ENCODE_AT_ONCE]
            found |= self._encode(batch, [texts[digest] for digest in batch])
            if progress is not None:
                progress(start + len(batch), len(chosen))
        return Fetched(found, len(chosen), len(texts) - len(missing), len(missing) - len(chosen))

    def matrix(self, vectors: Sequence[bytes]) -> Vectors:
        """Vectors as float32, shape (vectors, dimension)."""
        import numpy as np

        flat = np.frombuffer(b"".join(vectors), dtype="<f2").astype(np.float32)
        return flat.reshape(len(vectors), self._encoder.dimension)

    def query(self, text: str) -> Vectors:
        """The vector of a query, float32, shape (dimension,); that of the last one is remembered."""
        if self._query is None or self._query[0] != text:
            self._query = (text, self._encoder.encode([text], TextRole.QUERY)[0])
        return self._query[1]

    def prune(self) -> int:
        """Remove vectors from the disk that were not used for a month, or are too many; how many."""
        return self._store.prune()

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _encode(self, digests: Sequence[bytes], texts: Sequence[str]) -> dict[bytes, bytes]:
        vectors = self._encoder.encode(texts, TextRole.DOCUMENT)
        self._check(vectors, len(texts))
        rows = (row.tobytes() for row in vectors.astype("<f2"))
        made = dict(zip(digests, rows, strict=True))
        self._store.put(made)
        return made

    def _check(self, vectors: Vectors, count: int) -> None:
        """Nothing unusable is ever stored."""
        import numpy as np

        if vectors.shape == (count, self._encoder.dimension):
            # The comparison is false for NaN, too.
            lengths = np.abs(np.linalg.norm(vectors, axis=1) - 1) < _NORM_TOLERANCE
            if lengths.all():
                return
        raise EnvironmentUnavailableError(
            f"The encoder {self._encoder.name} gave no usable vectors.",
            kept="the vectors encoded before are kept",
            hint="choose another encoder",
        )
