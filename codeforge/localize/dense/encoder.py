"""Encoders: texts to vectors, behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

DEFAULT_ENCODER = "minilm"


class TextRole(StrEnum):
    """What a text is for; many models were trained with a different instruction before each."""

    QUERY = "query"
    DOCUMENT = "document"


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is their similarity.

    Attributes:
        name: how the user names it.
        version: what exactly encodes; vectors of different versions are never compared.
        dimension: numbers in a vector.
        max_tokens: of a text; what is beyond them is not read.
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...

    def encode(self, texts: Sequence[str], role: TextRole = TextRole.DOCUMENT) -> Vectors:
        """One row for each text: float32, shape (n, dimension), every row of length 1."""
        ...


def open_encoder(name: str = DEFAULT_ENCODER, *, trust_remote_code: bool = False) -> Encoder:
    """Load an encoder.

    Args:
        name: "minilm" (installed with the extra, works offline), a local folder, or a model of the hub.
        trust_remote_code: let a model of the hub run the Python code that it brings.

    Raises:
        EnvironmentUnavailableError: the extra is missing, or the model can't be had or loaded.
    """
    from codeforge.localize.dense.sentence import SentenceEncoder

    return SentenceEncoder.load(name, trust_remote_code=trust_remote_code)
