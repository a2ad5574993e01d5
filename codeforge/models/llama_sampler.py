"""Drawing the tokens of one sequence: top-k, top-p, temperature, seed, and a grammar if there is one."""

import ctypes
import math
from typing import Any

from codeforge.errors import UsageError
from codeforge.models.sampling import SampleSpec

_TOP_K = 40
# The largest 32-bit number means "random" to llama.cpp, so a seed never becomes it.
_SEEDS = 0xFFFFFFFF


class TokenSampler:
    """Draws one sequence's tokens from a llama.cpp context.

    With a grammar a token is drawn without it first and then checked: to check the whole vocabulary takes
    about as long as the model takes for a token, and most tokens are right anyway.

    Raises:
        UsageError: the grammar is not valid GBNF (llama.cpp would crash on it later).
    """

    def __init__(self, lib: Any, vocab: Any, spec: SampleSpec, top_p: float, grammar: str | None) -> None:
        self._lib = lib
        self._vocab = vocab
        self._grammar = None
        if grammar is not None:
            self._grammar = lib.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
            if not self._grammar:
                raise UsageError("The grammar is not valid GBNF.", kept="nothing was generated")
        self._chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        for part in _parts(lib, spec, top_p):
            lib.llama_sampler_chain_add(self._chain, part)

    def draw(self, context: Any, row: int) -> int:
        """The next token, drawn from the logits in `row` of the last batch."""
        token: int = self._lib.llama_sampler_sample(self._chain, context, row)
        if self._grammar is None:
            return token
        if not self._allows(token):
            token = self._draw_allowed(context, row)
        if not self._lib.llama_vocab_is_eog(self._vocab, token):
            self._lib.llama_sampler_accept(self._grammar, token)
        return token

    def close(self) -> None:
        """Free it."""
        for part in (self._chain, self._grammar):
            if part:
                self._lib.llama_sampler_free(part)
        self._chain = self._grammar = None

    def _allows(self, token: int) -> bool:
        one = self._lib.llama_token_data(token, 1.0, 0.0)
        array = self._lib.llama_token_data_array(ctypes.pointer(one), 1, -1, False)
        self._lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        return math.isfinite(one.logit)

    def _draw_allowed(self, context: Any, row: int) -> int:
        import numpy as np

        scores = logits(self._lib, self._vocab, context, row)
        table = np.zeros(scores.size, dtype=[("id", "i4"), ("logit", "f4"), ("p", "f4")])
        table["id"] = np.arange(scores.size)
        table["logit"] = scores
        pointer = table.ctypes.data_as(ctypes.POINTER(self._lib.llama_token_data))
        array = self._lib.llama_token_data_array(pointer, scores.size, -1, False)
        self._lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        self._lib.llama_sampler_apply(self._chain, ctypes.byref(array))
        token: int = array.data[array.selected].id
        return token


def logits(lib: Any, vocab: Any, context: Any, row: int) -> Any:
    """The logits in `row` of the last batch, one per token of the vocabulary; valid until the next batch."""
    import numpy as np

    pointer = lib.llama_get_logits_ith(context, row)
    return np.ctypeslib.as_array(pointer, shape=(lib.llama_vocab_n_tokens(vocab),))


def log_probability(scores: Any, token: int) -> float:
    """Natural-log probability of `token` as the model gave it, before temperature, top-p and grammar."""
    import numpy as np

    top = float(scores.max())
    total = float(np.exp(scores - top, dtype=np.float64).sum())
    return min(0.0, float(scores[token]) - top - math.log(total))


def _parts(lib: Any, spec: SampleSpec, top_p: float) -> list[Any]:
    if spec.temperature <= 0:
        return [lib.llama_sampler_init_greedy()]
    return [
        lib.llama_sampler_init_top_k(_TOP_K),
        lib.llama_sampler_init_top_p(top_p, 1),
        lib.llama_sampler_init_temp(spec.temperature),
        lib.llama_sampler_init_dist(spec.seed % _SEEDS),
    ]
