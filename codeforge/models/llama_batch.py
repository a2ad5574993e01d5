"""Samples of one prompt decoded side by side in llama.cpp.

On a CPU a generated token costs one pass over the weights, whoever shares that pass. Decoding N samples
as N sequences of one batch therefore costs much less than N times one sample, and the prompt is evaluated
once: its cache cells are shared by all sequences (unified KV cache).
"""

import ctypes
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError
from codeforge.models.llama_open import Adapter
from codeforge.models.llama_sampler import TokenSampler, log_probability, logits
from codeforge.models.protocol import TokenLogprob
from codeforge.models.sampling import SampleSpec
from codeforge.models.text_stream import TextStream

# Ctrl-C is heard between batches: within 2 seconds with the 1.5B model on one AVX2 core, which evaluates
# 17 prompt tokens/s. Larger batches gain at most 7 %.
_BATCH = 32


@dataclass(frozen=True, slots=True)
class DecodePlan:
    """What to draw from a prompt: one sample for each of `specs`; the rest as in `ChatRequest`."""

    specs: tuple[SampleSpec, ...]
    max_tokens: int
    top_p: float = 0.95
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the text of sample `index`, never part of a stop string."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class SampledText:
    """One finished sample.

    Attributes:
        index: its place in the plan (0-based).
        tokens: how many were generated.
        decode_s: seconds that llama.cpp took for them, the first one excepted (it comes with the prompt).
    """

    index: int
    text: str
    finish_reason: str
    tokens: int
    decode_s: float
    logprobs: tuple[TokenLogprob, ...]


@dataclass(slots=True)
class _Sequence:
    """One sample while it is being decoded. `row` is the row of the last batch that holds its logits."""

    index: int
    seq_id: int
    sampler: TokenSampler
    stream: TextStream
    row: int = -1
    tokens: list[int] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish_reason: str = ""
    decode_s: float = 0.0


class BatchDecoder:
    """A llama.cpp context over the weights of an open `llama_cpp.Llama`, for one or several sequences.

    Sequence 0 holds the last prompt, and its answer when only one was drawn, so that the next prompt
    evaluates only what differs from it.

    Args:
        llama: the open model; it must outlive the decoder.
        n_ctx: cache cells for the prompt and all samples together.
        n_parallel: most samples decoded side by side.
        threads, threads_batch: threads for one token, and for prompts and several tokens at once.
        adapter: a LoRA adapter of that model, already loaded.

    Attributes:
        prompt_tokens_evaluated: those that the last `generate` did not find in the cache; each sample that
            did not start with the first ones adds one.

    Raises:
        EnvironmentUnavailableError: the context does not fit in memory, or the adapter not the model.
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
        params.n_batch = _BATCH
        params.n_ubatch = _BATCH
        params.n_seq_max = n_parallel + 1
        params.n_threads = threads
        params.n_threads_batch = threads_batch
        params.kv_unified = True
        params.no_perf = True
        self._context = llama_cpp.llama_init_from_model(llama.model, params)
        if not self._context:
            raise EnvironmentUnavailableError(
                f"A context of {n_ctx} tokens does not fit in memory.",
                kept="nothing was generated",
                hint="close something, or use a smaller model",
            )
        if adapter is not None and not adapter.attach(self._context):
            llama_cpp.llama_free(self._context)
            raise EnvironmentUnavailableError(
                f"The adapter {adapter.path} can't be used with this model.",
                kept="nothing was generated",
                hint="give an adapter that was trained on this model",
            )
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(_BATCH, 0, 1)
        self._n_ctx = n_ctx
        self._n_parallel = n_parallel
        self._cached: list[int] = []
        self.prompt_tokens_evaluated = 0

    def close(self) -> None:
        """Free the context; the model stays open."""
        if self._context:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._context)
            self._context = None

    def generate(
        self, prompt: Sequence[int], plan: DecodePlan
    ) -> Generator[TextPiece | SampledText, None, None]:
        """Yield every sample's text as it comes, and every sample as it finishes.

        Closing the iterator abandons what is not finished. When more are wanted than fit side by side, the
        next one starts as soon as one has finished.

        Raises:
            ContextOverflowError: the prompt and one sample do not fit in the context.
            EnvironmentUnavailableError: llama.cpp failed; samples yielded before are whole.
            UsageError: the grammar is not valid.
        """
        prompt = list(prompt)
        waiting = deque(enumerate(plan.specs))
        slots = min(self._slots(len(prompt), plan.max_tokens), len(waiting))
        alone = len(plan.specs) == 1
        self.prompt_tokens_evaluated = 0
        active: list[_Sequence] = []
        try:
            active += [self._start(slot, *waiting.popleft(), plan) for slot in range(1, slots + 1)]
            self._evaluate_prompt(prompt)
            for sequence in active:
                self._lib.llama_memory_seq_cp(self._memory, 0, sequence.seq_id, -1, -1)
            while active:
                for sequence in tuple(active):
                    if text := self._advance(sequence, plan):
                        sequence.parts.append(text)
                        yield TextPiece(sequence.index, text)
                    if sequence.finish_reason:
                        active.remove(sequence)
                        self._release(sequence, keep=alone)
                        yield _finished(sequence)
                        if waiting:
                            active.append(self._start(sequence.seq_id, *waiting.popleft(), plan))
                            self._share_prompt(active[-1], len(prompt))
                if active:
                    self._step(active, prompt)
        finally:
            for sequence in active:
                self._release(sequence, keep=alone)

    def _slots(self, prompt_tokens: int, max_tokens: int) -> int:
        fitting = (self._n_ctx - prompt_tokens) // max(1, max_tokens)
        if fitting < 1:
            raise ContextOverflowError(
                f"The prompt has {prompt_tokens} tokens and the answer may have {max_tokens}, "
                f"but the context holds {self._n_ctx}.",
                kept="nothing was generated",
                hint="lower --budget-tokens",
            )
        return min(fitting, self._n_parallel)

    def _start(self, slot: int, index: int, spec: SampleSpec, plan: DecodePlan) -> _Sequence:
        sampler = TokenSampler(self._lib, self._vocab, spec, plan.top_p, plan.grammar)
        return _Sequence(index, slot, sampler, TextStream(plan.stop))

    def _share_prompt(self, sequence: _Sequence, prompt_tokens: int) -> None:
        """Give a late starter the prompt but its last token, which its first step evaluates: the logits that
        the others began with are gone."""
        self._lib.llama_memory_seq_cp(self._memory, 0, sequence.seq_id, 0, prompt_tokens - 1)
        self.prompt_tokens_evaluated += 1

    def _evaluate_prompt(self, prompt: list[int]) -> None:
        """Bring sequence 0 to `prompt`, evaluating only what its cache lacks; always the last token,
        whose logits the first draw reads."""
        common = 0
        for old, new in zip(self._cached, prompt[:-1], strict=False):
            if old != new:
                break
            common += 1
        del self._cached[common:]
        self._lib.llama_memory_seq_rm(self._memory, 0, common, -1)
        # The last token goes alone: in a batch its logits differ in the last digits, and a seed would answer
        # otherwise on a fresh cache than on a warm one.
        last = len(prompt) - 1
        for start in [*range(common, last, _BATCH), last]:
            piece = prompt[start : min(start + _BATCH, last)] or prompt[last:]
            self._decode([(token, start + i, 0) for i, token in enumerate(piece)], last_row_only=True)
            self._cached += piece
            self.prompt_tokens_evaluated += len(piece)

    def _step(self, active: list[_Sequence], prompt: list[int]) -> None:
        """Evaluate the last token of each sequence, which is the prompt's where it has none yet."""
        started = time.monotonic()
        self._decode(
            [
                (s.tokens[-1] if s.tokens else prompt[-1], len(prompt) + len(s.tokens) - 1, s.seq_id)
                for s in active
            ]
        )
        elapsed = time.monotonic() - started
        for row, sequence in enumerate(active):
            sequence.row = row
            sequence.decode_s += elapsed

    def _decode(self, rows: list[tuple[int, int, int]], *, last_row_only: bool = False) -> None:
        """Evaluate (token, position, sequence) rows; the logits of all or of the last one are kept."""
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (token, position, seq_id) in enumerate(rows):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = seq_id
            batch.logits[i] = not last_row_only or i == len(rows) - 1
        status = self._lib.llama_decode(self._context, batch)
        if status != 0:
            raise EnvironmentUnavailableError(
                f"llama.cpp stopped decoding with status {status}.",
                kept="finished samples",
                hint="close something that takes memory, or lower --budget-tokens",
            )

    def _advance(self, sequence: _Sequence, plan: DecodePlan) -> str:
        """Draw the sequence's next token; the text that is certain now. Sets `finish_reason` at the end."""
        token = sequence.sampler.draw(self._context, sequence.row)
        if self._lib.llama_vocab_is_eog(self._vocab, token):
            sequence.finish_reason = "stop"
            return sequence.stream.end()
        sequence.tokens.append(token)
        piece = self._piece(token)
        if plan.logprobs:
            scores = logits(self._lib, self._vocab, self._context, sequence.row)
            entry = TokenLogprob(piece.decode("utf-8", "replace"), log_probability(scores, token))
            sequence.logprobs.append(entry)
        text = sequence.stream.feed(piece)
        if sequence.stream.stopped:
            sequence.finish_reason = "stop"
        elif len(sequence.tokens) >= plan.max_tokens:
            text += sequence.stream.end()
            sequence.finish_reason = "stop" if sequence.stream.stopped else "length"
        return text

    def _piece(self, token: int) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            written = self._lib.llama_token_to_piece(self._vocab, token, buffer, size, 0, False)
            if written >= 0:
                return buffer.raw[:written]
            size = -written

    def _release(self, sequence: _Sequence, *, keep: bool) -> None:
        """Free the sequence; with `keep` its answer stays in sequence 0, for the conversation's next turn."""
        sequence.sampler.close()
        evaluated = sequence.tokens[:-1]
        if keep and evaluated:
            self._lib.llama_memory_seq_cp(self._memory, sequence.seq_id, 0, len(self._cached), -1)
            self._cached += evaluated
        self._lib.llama_memory_seq_rm(self._memory, sequence.seq_id, -1, -1)


def _finished(sequence: _Sequence) -> SampledText:
    return SampledText(
        sequence.index,
        "".join(sequence.parts),
        sequence.finish_reason,
        len(sequence.tokens),
        sequence.decode_s,
        tuple(sequence.logprobs),
    )
