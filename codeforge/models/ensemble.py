"""Several models taking turns behind one protocol: `ensemble:a,b*2` asks a once, b twice, over and over."""

import threading
from collections.abc import Sequence

from codeforge.models.protocol import ChatModel, ChatRequest, ChatStream


class EnsembleModel:
    """Round-robin over models, each as often in a round as its weight says.

    Args:
        name: how the user names it.
        members: the models and their weights (at least 1).
    """

    def __init__(self, name: str, members: Sequence[tuple[ChatModel, int]]) -> None:
        self.name = name
        self._models = [model for model, _ in members]
        self._order = [model for model, weight in members for _ in range(weight)]
        self._next = 0
        self._lock = threading.Lock()
        self.version = ",".join(model.version for model in self._models)
        self.context_window = min(model.context_window for model in self._models)
        self.supports_grammar = all(model.supports_grammar for model in self._models)
        self.local = any(model.local for model in self._models)

    def stream(self, request: ChatRequest) -> ChatStream:
        """Generate with the model whose turn it is; the result names that model."""
        with self._lock:
            model = self._order[self._next % len(self._order)]
            self._next += 1
        return (yield from model.stream(request))

    def count_tokens(self, text: str) -> int:
        """The largest count of any member."""
        return max(model.count_tokens(text) for model in self._models)

    def close(self) -> None:
        """Close every member."""
        for model in self._models:
            model.close()
