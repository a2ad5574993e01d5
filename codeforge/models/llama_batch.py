"""Several samples of one prompt decoded side by side in llama.cpp.

On a CPU a generated token costs one pass over the weights, whoever shares that pass. Decoding N samples
as N sequences of one batch therefore costs much less than N times one sample, and the prompt is evaluated
once: its cache cells are shared by all sequences (unified KV cache).
"""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError
from codeforge.models.llama_open import Adapter
from codeforge.models.sampling import SampleSpec


@dataclass(frozen=True, slots=True)
class SampledText:
    """One finished sample: its place in the request, its text, why it ended, its tokens, its seconds."""

    index: int
    text: str
    finish_reason: str
    tokens: int
    elapsed_s: float


@dataclass(slots=True)
class _Sequence:
    """One sample while it is being decoded."""

    index: int
    seq_id: int
    sampler: Any
    position: int
    last_token: int = -1
    pieces: bytearray = field(default_factory=bytearray)
    tokens: int = 0


class BatchDecoder:
    """A llama.cpp context over the weights of an open `llama_cpp.Llama`, for several sequences at once.

    Sequence 0 holds the last prompt, so that the next prompt evaluates only what differs from it.

    Args:
        llama: the open model; it must outlive the decoder.
        n_ctx: cache cells for the prompt and all samples together.
        n_parallel: most samples decoded side by side.
        threads, threads_batch: threads for one token a sequence, and for prompts.
        adapter: a LoRA adapter of that model, already loaded.
    """

    def __init__(
        self,
        llama: Any,
        *,
        n_ctx: int,
        n_parallel: int,
        threads: int,
        threads_batch: int,
        adapter: Adapter | None = None,
    ) -> None:
        import llama_cpp

        self._lib = llama_cpp
        self._vocab = llama_cpp.llama_model_get_vocab(llama.model)
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = 512
        params.n_ubatch = 512
        params.n_seq_max = n_parallel + 1
        params.n_threads = threads
        params.n_threads_batch = threads_batch
        params.kv_unified = True
        params.no_perf = True
        self._context = llama_cpp.llama_init_from_model(llama.model, params)
        if not self._context:
            raise EnvironmentUnavailableError(
                f"llama.cpp could not set up a context of {n_ctx} tokens.",
                kept="nothing was generated",
                hint="free some memory, or lower the number of candidates",
            )
        if adapter is not None and not adapter.attach(self._context):
            llama_cpp.llama_free(self._context)
            raise EnvironmentUnavailableError(
                "llama.cpp could not use the adapter for several samples at once."
            )
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(512, 0, 1)
        self._n_ctx = n_ctx
        self._n_parallel = n_parallel
        self._threads_batch = threads_batch
        self._prompt: list[int] = []
        self.prompt_tokens_evaluated = 0

    def close(self) -> None:
        """Free the context; the model stays open."""
        if self._context:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._context)
            self._context = None

    def generate(
        self,
        prompt: Sequence[int],
        specs: Sequence[SampleSpec],
        *,
        max_tokens: int,
        top_p: float = 0.95,
        stop: Sequence[str] = (),
        grammar: str | None = None,
        on_token: Callable[[int, str], None] | None = None,
    ) -> Iterator[SampledText]:
        """Yield every sample as it finishes; closing the iterator abandons the others.

        `prompt_tokens_evaluated` then tells how many prompt tokens were not in the cache.

        Raises:
            ContextOverflowError: prompt plus samples do not fit in the context.
        """
        wave = self._wave_size(len(prompt), max_tokens)
        specs = list(specs)
        self.prompt_tokens_evaluated = 0
        for first in range(0, len(specs), wave):
            chunk = list(enumerate(specs))[first : first + wave]
            yield from self._wave(list(prompt), chunk, max_tokens, top_p, stop, grammar, on_token)

    def _wave_size(self, prompt_tokens: int, max_tokens: int) -> int:
        fitting = (self._n_ctx - prompt_tokens) // max(1, max_tokens)
        if fitting < 1:
            raise ContextOverflowError(
                f"The prompt has {prompt_tokens} tokens and the answer may have {max_tokens}, "
                f"but the context holds {self._n_ctx}.",
                kept="nothing was generated",
                hint="lower --budget-tokens",
            )
        return min(fitting, self._n_parallel)

    def _wave(
        self,
        prompt: list[int],
        chunk: list[tuple[int, SampleSpec]],
        max_tokens: int,
        top_p: float,
        stop: Sequence[str],
        grammar: str | None,
        on_token: Callable[[int, str], None] | None,
    ) -> Iterator[SampledText]:
        started = time.monotonic()
        active: list[_Sequence] = []
        try:
            self._evaluate_prompt(prompt)
            for place, (index, spec) in enumerate(chunk, start=1):
                self._lib.llama_memory_seq_cp(self._memory, 0, place, -1, -1)
                sampler = self._sampler(spec, top_p, grammar)
                active.append(_Sequence(index, place, sampler, len(prompt)))
            logits_at = {sequence.seq_id: -1 for sequence in active}
            while active:
                finished: list[tuple[_Sequence, str]] = []
                for sequence in active:
                    reason = self._advance(sequence, logits_at[sequence.seq_id], max_tokens, stop, on_token)
                    if reason:
                        finished.append((sequence, reason))
                for sequence, reason in finished:
                    active.remove(sequence)
                    self._release(sequence)
                    yield self._finish(sequence, reason, stop, time.monotonic() - started)
                if active:
                    logits_at = self._decode_step(active)
        finally:
            for sequence in active:
                self._release(sequence)

    def _evaluate_prompt(self, prompt: list[int]) -> None:
        """Bring sequence 0 to `prompt`, evaluating only what its cache lacks; always the last token,
        whose logits the first sampling step reads."""
        common = 0
        for old, new in zip(self._prompt, prompt[:-1], strict=False):
            if old != new:
                break
            common += 1
        self._prompt = []
        self._lib.llama_memory_seq_rm(self._memory, 0, common, -1)
        # The last token goes alone: in a batch its logits differ in the last digits, and a seed would answer
        # otherwise on a fresh cache than on a warm one.
        last = len(prompt) - 1
        for start in [*range(common, last, 512), last]:
            piece = prompt[start : min(start + 512, last)] or prompt[last:]
            self._fill([(token, start + i, 0) for i, token in enumerate(piece)], logits_last_only=True)
            self._decode()
        self.prompt_tokens_evaluated += len(prompt) - common
        self._prompt = prompt

    def _fill(self, rows: list[tuple[int, int, int]], *, logits_last_only: bool) -> None:
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (token, position, seq_id) in enumerate(rows):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = seq_id
            batch.logits[i] = (not logits_last_only) or i == len(rows) - 1

    def _decode(self) -> None:
        status = self._lib.llama_decode(self._context, self._batch)
        if status != 0:
            raise EnvironmentUnavailableError(
                f"llama.cpp stopped decoding with status {status}.",
                kept="finished samples",
                hint="lower --budget-tokens or the number of candidates",
            )

    def _decode_step(self, active: list[_Sequence]) -> dict[int, int]:
        self._fill([(s.last_token, s.position, s.seq_id) for s in active], logits_last_only=False)
        self._decode()
        for sequence in active:
            sequence.position += 1
        return {sequence.seq_id: i for i, sequence in enumerate(active)}

    def _sampler(self, spec: SampleSpec, top_p: float, grammar: str | None) -> Any:
        lib = self._lib
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if grammar is not None:
            part = lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
            lib.llama_sampler_chain_add(chain, part)
        if spec.temperature <= 0:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
            return chain
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(40))
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_p(top_p, 1))
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_temp(spec.temperature))
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_dist(spec.seed & 0xFFFFFFFF))
        return chain

    def _advance(
        self,
        sequence: _Sequence,
        logits_index: int,
        max_tokens: int,
        stop: Sequence[str],
        on_token: Callable[[int, str], None] | None,
    ) -> str:
        """Sample the sequence's next token; return why it ended, or ""."""
        token = self._lib.llama_sampler_sample(sequence.sampler, self._context, logits_index)
        if self._lib.llama_vocab_is_eog(self._vocab, token):
            return "stop"
        sequence.last_token = token
        sequence.tokens += 1
        piece = self._piece(token)
        sequence.pieces += piece
        if on_token is not None:
            on_token(sequence.index, piece.decode("utf-8", "replace"))
        tail = bytes(sequence.pieces[-256:]).decode("utf-8", "ignore")
        if any(text in tail for text in stop):
            return "stop"
        return "length" if sequence.tokens >= max_tokens else ""

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(128)
        size = self._lib.llama_token_to_piece(self._vocab, token, buffer, 128, 0, False)
        return buffer.raw[: max(0, size)]

    def _release(self, sequence: _Sequence) -> None:
        if sequence.sampler is not None:
            self._lib.llama_sampler_free(sequence.sampler)
            sequence.sampler = None
            self._lib.llama_memory_seq_rm(self._memory, sequence.seq_id, -1, -1)

    @staticmethod
    def _finish(sequence: _Sequence, reason: str, stop: Sequence[str], elapsed_s: float) -> SampledText:
        text = bytes(sequence.pieces).decode("utf-8", "replace")
        cut = len(text)
        for mark in stop:
            with suppress(ValueError):
                cut = min(cut, text.index(mark))
        return SampledText(sequence.index, text[:cut], reason, sequence.tokens, elapsed_s)
