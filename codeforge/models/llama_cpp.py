"""The embedded backend: a GGUF file run by llama.cpp in this process."""

import random
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeforge.errors import CodeforgeError, ContextOverflowError, UsageError
from codeforge.models.llama_batch import BatchDecoder, DecodePlan, SampledText, TextPiece
from codeforge.models.llama_open import affordable_context, import_llama_cpp, open_adapter, open_llama
from codeforge.models.protocol import ChatChunk, ChatRequest, ChatResult, ChatStream, Usage
from codeforge.models.sampling import OnText, Sample, SampleSpec

DEFAULT_CONTEXT = 8192
# Tokens/s of the 1.5B model on one AVX2 core: 6.2 with one, 7.5 with 2, 9.9 with 4, 9.4 with 6, 7.6 with 8.
# Few at once also finish sooner, and the first that passes ends the rest.
MAX_PARALLEL = 4
_SPEED_TOKENS = 24


@dataclass(frozen=True, slots=True)
class LlamaOptions:
    """How a model is opened.

    Attributes:
        n_ctx: tokens of prompt plus answer (at most what the model was trained for).
        threads: for one token at a time.
        threads_batch: for prompts and several samples at once; None: as many as `threads`.
        lora: an adapter in GGUF form, or None.
        lora_scale: its weight.
    """

    n_ctx: int = DEFAULT_CONTEXT
    threads: int = 1
    threads_batch: int | None = None
    lora: Path | None = None
    lora_scale: float = 1.0


class LlamaCppModel:
    """A chat model in this process.

    One generation runs at a time; another thread waits for it. One cache serves `stream` and `sample`: a
    prompt that begins like the last one costs only what differs.

    Args:
        path: the GGUF file.
        name: how the user names it.
        version: what exactly answers (the file's hash, and the adapter's).
        options: how to open it.
        on_speed: gets tokens/s after each single answer that was long enough to tell.

    Raises:
        EnvironmentUnavailableError: llama-cpp-python is missing, or the file or the memory will not do.
    """

    supports_grammar = True
    local = True

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        version: str,
        options: LlamaOptions,
        on_speed: Callable[[float], None] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self._on_speed = on_speed
        self._lib = import_llama_cpp()
        self._llama = open_llama(path)
        try:
            self.context_window = affordable_context(self._llama.metadata, options.n_ctx)
            self._decoder = self._open_decoder(options)
        except CodeforgeError:
            self._llama.close()
            raise
        self._template: Any = None
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._closed = False

    def close(self) -> None:
        """Free the model's memory, after the generation that runs."""
        if self._closed:
            return
        with self._generating():
            self._closed = True
            self._decoder.close()
            self._llama.close()

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`; text that looks like a special token counts as text."""
        return len(self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=False))

    def stream(self, request: ChatRequest) -> ChatStream:
        """Generate; closing the generator stops at the next token."""
        with self._generating():
            prompt = self._prompt(request)
            return (yield from self._one(prompt, request, request.answer_prefix))

    def stream_raw(self, prompt: str, request: ChatRequest) -> ChatStream:
        """Continue `prompt` as it stands; special tokens written in it are read as such."""
        with self._generating():
            tokens = self._llama.tokenize(prompt.encode("utf-8", "replace"), add_bos=True, special=True)
            return (yield from self._one(tokens, request, ""))

    def sample(
        self, request: ChatRequest, specs: Sequence[SampleSpec], on_text: OnText | None = None
    ) -> Iterator[Sample]:
        """Several answers to one prompt, decoded side by side; each is yielded as it finishes.

        The same specs give the same texts again. A sample drawn side by side and one drawn alone may differ
        although their seed is the same: llama.cpp adds up in another order.
        """
        with self._generating():
            clock = _Clock()
            prompt = self._prompt(request)
            prefix = request.answer_prefix
            if prefix and on_text is not None:
                for index in range(len(specs)):
                    on_text(index, prefix)
            told = 0
            with closing(self._decode(prompt, request, tuple(specs))) as events:
                for event in events:
                    if isinstance(event, TextPiece):
                        if on_text is not None:
                            on_text(event.index, event.text)
                        continue
                    evaluated = self._decoder.prompt_tokens_evaluated
                    usage = Usage(len(prompt), evaluated - told, event.tokens)
                    told = evaluated
                    result = self._result(event, prefix, usage, clock.elapsed_s())
                    with clock.paused():
                        yield Sample(event.index, result)

    def _one(self, prompt: list[int], request: ChatRequest, prefix: str) -> ChatStream:
        clock = _Clock()
        seed = random.getrandbits(31) if request.seed is None else request.seed
        with closing(self._decode(prompt, request, (SampleSpec(seed, request.temperature),))) as events:
            if prefix:
                yield ChatChunk(prefix)
            for event in events:
                if isinstance(event, TextPiece):
                    yield ChatChunk(event.text)
                    continue
                if self._on_speed is not None and event.tokens >= _SPEED_TOKENS and event.decode_s > 0:
                    self._on_speed((event.tokens - 1) / event.decode_s)
                usage = Usage(len(prompt), self._decoder.prompt_tokens_evaluated, event.tokens)
                return self._result(event, prefix, usage, clock.elapsed_s())
        raise AssertionError("a decoder ends with a finished sample")

    def _decode(
        self, prompt: list[int], request: ChatRequest, specs: tuple[SampleSpec, ...]
    ) -> Generator[TextPiece | SampledText, None, None]:
        self._check_fits(prompt, request)
        plan = DecodePlan(
            specs, request.max_tokens, request.top_p, request.stop, request.grammar, request.logprobs
        )
        return self._decoder.generate(prompt, plan)

    def _result(self, text: SampledText, prefix: str, usage: Usage, elapsed_s: float) -> ChatResult:
        return ChatResult(prefix + text.text, self.name, text.finish_reason, usage, elapsed_s, text.logprobs)

    def _prompt(self, request: ChatRequest) -> list[int]:
        if self._template is None:
            from codeforge.models.chat_template import ChatTemplate

            self._template = ChatTemplate(self._llama)
        tokens: list[int] = self._template.tokens(request.messages, request.answer_prefix)
        return tokens

    def _check_fits(self, prompt: list[int], request: ChatRequest) -> None:
        if not prompt:
            raise UsageError("The prompt is empty.", kept="nothing was generated")
        if len(prompt) + request.max_tokens > self.context_window:
            raise ContextOverflowError(
                f"The prompt has {len(prompt)} tokens and the answer may have {request.max_tokens}, "
                f"but the context holds {self.context_window}.",
                kept="nothing was generated",
                hint="lower --budget-tokens",
            )

    def _open_decoder(self, options: LlamaOptions) -> BatchDecoder:
        adapter = None
        if options.lora is not None:
            adapter = open_adapter(self._llama, options.lora, options.lora_scale)
        return BatchDecoder(
            self._llama,
            n_ctx=self.context_window,
            n_parallel=MAX_PARALLEL,
            threads=options.threads,
            threads_batch=options.threads_batch or options.threads,
            adapter=adapter,
        )

    @contextmanager
    def _generating(self) -> Iterator[None]:
        me = threading.get_ident()
        if self._owner == me:
            raise UsageError(f"{self.name} is still generating: close the other stream first.")
        with self._lock:
            if self._closed:
                raise UsageError(f"{self.name} is closed.")
            self._owner = me
            try:
                yield
            finally:
                self._owner = None


class _Clock:
    """Seconds since it was made, without the pauses in which the consumer had the turn."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def elapsed_s(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._started

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time in the block does not count."""
        began = time.monotonic()
        yield
        self._started += time.monotonic() - began
