"""An encoder of words by feature hashing (Weinberger et al. 2009): deterministic, and nothing but numpy."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from codeforge.localize.dense.encoder import TextRole
from codeforge.localize.tokens import count_words

DIMENSION = 64


class HashingEncoder:
    """Similar texts share words. `encoded` lists the documents that it was given."""

    max_tokens = 512
    dimension = DIMENSION

    def __init__(self, name: str = "hashing", version: str = "1") -> None:
        self.name = name
        self.version = version
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], role: TextRole = TextRole.DOCUMENT) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        if role is TextRole.DOCUMENT:
            self.encoded += texts
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 0.1
            for word, count in count_words(text).items():
                row[1 + crc32(word.encode("utf-8", "replace")) % (DIMENSION - 1)] += count
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
