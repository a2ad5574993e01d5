"""Encoders that sentence-transformers runs: the installed MiniLM, a local folder, a model of the hub."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codeforge.localize.dense.encoder import TextRole
from codeforge.localize.dense.extras import check_installed, require
from codeforge.localize.dense.model_files import ModelSource, find_model, load_model, readable

if TYPE_CHECKING:
    from codeforge.localize.dense.encoder import Vectors

BATCH = 32
MOST_TOKENS = 512
"""Long-context models are held to this: attention grows with the square, and a passage's head says most."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before a query and before a document."""

    query: str = ""
    document: str = ""


def prompts_for(name: str, own: Mapping[str, str] | None = None) -> Prompts:
    """The prompts of the model `name`: its own non-empty ones, else those of `prompts.toml`, else none."""
    own = own or {}
    query = own.get("query") or ""
    document = own.get("document") or own.get("passage") or ""
    if query or document:
        return Prompts(query, document)
    table = tomllib.loads((Path(__file__).parent / "prompts.toml").read_text(encoding="utf-8"))
    for entry in table["prompt"]:
        if any(fnmatchcase(name.lower(), pattern) for pattern in entry["models"]):
            return Prompts(entry.get("query", ""), entry.get("document", ""))
    return Prompts()


class SentenceEncoder:
    """An `Encoder` over a loaded `SentenceTransformer`."""

    def __init__(self, source: ModelSource, model: Any) -> None:
        self._model = model
        self._prompts = prompts_for(source.name, model.prompts)
        self.name = source.name
        limit = model.max_seq_length or MOST_TOKENS
        self.max_tokens = min(int(limit), MOST_TOKENS)
        model.max_seq_length = self.max_tokens
        self.dimension = int(model.get_embedding_dimension())
        self.version = f"{source.version(model)}/{self.max_tokens}/{self._prompts.document}"

    @classmethod
    def load(cls, name: str, *, trust_remote_code: bool = False) -> SentenceEncoder:
        """See `open_encoder`."""
        check_installed()
        source = find_model(name)
        library = require("sentence_transformers")

        def load(local_only: bool) -> Any:
            return library.SentenceTransformer(
                source.where, local_files_only=local_only, trust_remote_code=trust_remote_code
            )

        return cls(source, load_model(source, load))

    def encode(self, texts: Sequence[str], role: TextRole = TextRole.DOCUMENT) -> Vectors:
        """See `Encoder.encode`."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        prompt = self._prompts.query if role is TextRole.QUERY else self._prompts.document
        found = self._model.encode(
            [prompt + readable(text) for text in texts],
            # The model's default prompt would come on top of ours.
            prompt="",
            batch_size=BATCH,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.ascontiguousarray(found, dtype=np.float32)
