"""A cross-encoder as reranker: query and passage are read together.

Nogueira & Cho 2019, "Passage Re-ranking with BERT", arXiv:1901.04085.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.extras import check_installed, require
from codeforge.localize.dense.model_files import ModelSource, find_model, load_model, readable
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.rerank import Reranked

MOST_TOKENS = 512
"""Of query and passage together."""
BATCH = 16


class CrossEncoderReranker:
    """A `Reranker` over a loaded `CrossEncoder` of sentence-transformers."""

    def __init__(self, source: ModelSource, model: Any) -> None:
        self._model = model
        self.name = f"cross-encoder {source.name}"
        self.version = source.version(model)

    @classmethod
    def load(cls, name: str, *, trust_remote_code: bool = False) -> CrossEncoderReranker:
        """Load a model.

        Args:
            name: a local folder, or a model of the hub (`cross-encoder/ms-marco-MiniLM-L6-v2`).
            trust_remote_code: let a model of the hub run the Python code that it brings.

        Raises:
            EnvironmentUnavailableError: the extra is missing, the model can't be had or loaded, or it
                gives more than one number for a pair.
        """
        check_installed()
        source = find_model(name, hub_owner="cross-encoder")
        library = require("sentence_transformers")

        def load(local_only: bool) -> Any:
            return library.CrossEncoder(
                source.where, local_files_only=local_only, trust_remote_code=trust_remote_code
            )

        model = load_model(source, load)
        if model.num_labels != 1:
            raise EnvironmentUnavailableError(
                f"The model {name} is no reranker: it gives {model.num_labels} numbers for a pair of texts.",
                hint="choose a cross-encoder with one output",
            )
        model.max_length = min(int(model.max_length or MOST_TOKENS), MOST_TOKENS)
        return cls(source, model)

    def rerank(self, query: str, candidates: Sequence[Passage]) -> Reranked:
        """See `Reranker.rerank`; the model's tokenizer cuts what is beyond 512 tokens of query and passage,
        from
        the longer of the two."""
        if not candidates:
            return Reranked(())
        pairs = [(readable(query), readable(passage.text)) for passage in candidates]
        found = self._model.predict(pairs, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return Reranked(tuple(float(score) for score in found))
