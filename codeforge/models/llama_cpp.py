"""The embedded backend: a GGUF file run by llama.cpp in this process."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError, UsageError
from codeforge.models.llama_open import Adapter, import_llama_cpp, open_adapter, open_llama
from codeforge.models.protocol import ChatChunk, ChatRequest, ChatResult, ChatStream, TokenLogprob, Usage
from codeforge.models.sampling import OnText, Sample, SampleSpec
from codeforge.models.text_stream import TextStream

DEFAULT_CONTEXT = 8192
MAX_PARALLEL = 8
_TOP_K = 40
_SPEED_TOKENS = 24


@dataclass(frozen=True, slots=True)
class LlamaOptions:
    """How a model is opened.

    Attributes:
        n_ctx: tokens of prompt plus answer (at most what the model was trained for).
        threads: for prompts and for generation.
        lora: an adapter in GGUF form, or None.
        lora_scale: its weight.
    """

    n_ctx: int = DEFAULT_CONTEXT
    threads: int = 1
    lora: Path | None = None
    lora_scale: float = 1.0


class LlamaCppModel:
    """A chat model in this process.

    One generation runs at a time; another thread waits for it. The prompt's cache stays between requests, so
    that a prompt that begins like the last one costs only what differs.

    Args:
        path: the GGUF file.
        name: how the user names it.
        version: what exactly answers (the file's hash, and the adapter's).
        options: how to open it.
        on_speed: gets tokens/s after each generation that was long enough to tell.

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
        self._lib = import_llama_cpp()
        self._options = options
        self.name = name
        self.version = version
        self._on_speed = on_speed
        self._llama = open_llama(path, n_ctx=options.n_ctx, threads=options.threads)
        self._adapter: Adapter | None = None
        if options.lora is not None:
            try:
                self._adapter = open_adapter(self._llama, options.lora, options.lora_scale)
            except EnvironmentUnavailableError:
                self._llama.close()
                raise
        self.context_window: int = self._llama.n_ctx()
        self._vocab = self._lib.llama_model_get_vocab(self._llama.model)
        self._grammars: dict[str, Any] = {}
        self._template: Any = None
        self._decoder: Any = None
        self._lock = threading.Lock()
        self._owner: int | None = None

    def close(self) -> None:
        """Free the model's memory, after the generation that runs."""
        with self._generating():
            if self._decoder is not None:
                self._decoder.close()
                self._decoder = None
            self._llama.close()

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`; text that looks like a special token counts as text."""
        return len(self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=False))

    def stream(self, request: ChatRequest) -> ChatStream:
        """Generate; closing the generator stops at the next token."""
        with self._generating():
            prompt = self._prompt(request)
            return (yield from self._generate(prompt, request, request.answer_prefix))

    def stream_raw(self, prompt: str, request: ChatRequest) -> ChatStream:
        """Continue `prompt` as it stands; special tokens written in it are read as such."""
        with self._generating():
            tokens = self._llama.tokenize(prompt.encode("utf-8", "replace"), add_bos=True, special=True)
            return (yield from self._generate(tokens, request, ""))

    def sample(
        self, request: ChatRequest, specs: Sequence[SampleSpec], on_text: OnText | None = None
    ) -> Iterator[Sample]:
        """Several answers to one prompt, decoded side by side; each is yielded as it finishes.

        Log-probabilities are not given here: draw one at a time for them.
        """
        with self._generating():
            started = time.monotonic()
            prompt = self._prompt(request)
            self._check_fits(prompt, request)
            if request.grammar is not None:
                self._grammar(request.grammar)
            decoder = self._batch_decoder()
            prefix = request.answer_prefix
            if prefix and on_text is not None:
                for index in range(len(specs)):
                    on_text(index, prefix)
            first = True
            finished = decoder.generate(
                prompt,
                specs,
                max_tokens=request.max_tokens,
                top_p=request.top_p,
                stop=request.stop,
                grammar=request.grammar,
                on_token=on_text,
            )
            with closing(finished):
                for text in finished:
                    evaluated = decoder.prompt_tokens_evaluated if first else 0
                    first = False
                    usage = Usage(len(prompt), evaluated, text.tokens)
                    elapsed = time.monotonic() - started
                    result = ChatResult(prefix + text.text, self.name, text.finish_reason, usage, elapsed)
                    yield Sample(text.index, result)

    def _generate(self, prompt: list[int], request: ChatRequest, prefix: str) -> ChatStream:
        self._check_fits(prompt, request)
        started = time.monotonic()
        evaluated = self._evaluate_all_but_last(prompt)
        text = TextStream(request.stop)
        parts = [prefix] if prefix else []
        if prefix:
            yield ChatChunk(prefix)
        logprobs: list[TokenLogprob] = []
        reason, count, first_token_at = "length", 0, started
        with closing(self._tokens(prompt, request)) as tokens:
            while True:
                with _decoding():
                    token = next(tokens)
                if count == 0:
                    first_token_at = time.monotonic()
                if self._lib.llama_vocab_is_eog(self._vocab, token):
                    reason = "stop"
                    break
                count += 1
                piece: bytes = self._llama.detokenize([token], prev_tokens=[token])
                if request.logprobs:
                    logprobs.append(TokenLogprob(piece.decode("utf-8", "replace"), self._logprob(token)))
                if certain := text.feed(piece):
                    parts.append(certain)
                    yield ChatChunk(certain)
                if text.stopped:
                    reason = "stop"
                    break
                if count >= request.max_tokens:
                    break
        if rest := text.end():
            parts.append(rest)
            yield ChatChunk(rest)
        self._tell_speed(count, time.monotonic() - first_token_at)
        usage = Usage(len(prompt), evaluated, count)
        elapsed = time.monotonic() - started
        return ChatResult("".join(parts), self.name, reason, usage, elapsed, tuple(logprobs))

    def _tokens(self, prompt: list[int], request: ChatRequest) -> Any:
        grammar = self._grammar(request.grammar) if request.grammar is not None else None
        # The largest 32-bit number means "random" to llama.cpp, so a seed never becomes it.
        seed = self._lib.LLAMA_DEFAULT_SEED if request.seed is None else request.seed % 0xFFFFFFFF
        self._llama.set_seed(seed)
        return self._llama.generate(
            prompt,
            top_k=_TOP_K,
            top_p=request.top_p,
            min_p=0.0,
            temp=max(0.0, request.temperature),
            repeat_penalty=1.0,
            grammar=grammar,
        )

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

    def _evaluate_all_but_last(self, prompt: list[int]) -> int:
        """Bring the cache to `prompt` without its last token; the count of prompt tokens that it lacked.

        The last token is left to `generate`, which then always evaluates it alone. Evaluated in a batch, its
        logits differ in the last digits, and a seed would give another answer on a fresh cache.
        """
        cached = self._llama.input_ids[: self._llama.n_tokens].tolist()
        common = 0
        for old, new in zip(cached, prompt, strict=False):
            if old != new:
                break
            common += 1
        if common >= len(prompt) - 1:
            return 0 if common == len(cached) == len(prompt) else 1
        self._llama.n_tokens = common
        with _decoding():
            self._llama.eval(prompt[common:-1])
        return len(prompt) - common

    def _logprob(self, token: int) -> float:
        """Natural-log probability of `token` as the model gave it, before temperature, top-p and grammar."""
        import numpy as np

        row = self._lib.llama_get_logits_ith(self._llama.ctx, -1)
        logits = np.ctypeslib.as_array(row, shape=(self._llama.n_vocab(),))
        top = float(logits.max())
        return float(logits[token]) - top - math.log(float(np.exp(logits - top).sum()))

    def _grammar(self, text: str) -> Any:
        """The grammar, checked once: llama.cpp would crash on a broken one."""
        if text not in self._grammars:
            sampler = self._lib.llama_sampler_init_grammar(self._vocab, text.encode(), b"root")
            if not sampler:
                raise UsageError("The grammar is not valid GBNF.", kept="nothing was generated")
            self._lib.llama_sampler_free(sampler)
            self._grammars[text] = self._lib.LlamaGrammar.from_string(text, verbose=False)
        return self._grammars[text]

    def _batch_decoder(self) -> Any:
        if self._decoder is None:
            from codeforge.models.llama_batch import BatchDecoder

            self._decoder = BatchDecoder(
                self._llama,
                n_ctx=self.context_window,
                n_parallel=MAX_PARALLEL,
                threads=self._options.threads,
                threads_batch=self._options.threads,
                adapter=self._adapter,
            )
        return self._decoder

    def _tell_speed(self, tokens: int, elapsed_s: float) -> None:
        if self._on_speed is not None and tokens >= _SPEED_TOKENS and elapsed_s > 0:
            self._on_speed((tokens - 1) / elapsed_s)

    @contextmanager
    def _generating(self) -> Iterator[None]:
        me = threading.get_ident()
        if self._owner == me:
            raise UsageError(f"{self.name} is still generating: close the other stream first.")
        with self._lock:
            self._owner = me
            try:
                yield
            finally:
                self._owner = None


@contextmanager
def _decoding() -> Iterator[None]:
    """Tell a failure inside llama.cpp as what it is."""
    try:
        yield
    except RuntimeError as error:
        raise EnvironmentUnavailableError(
            f"llama.cpp stopped: {error}.",
            kept="nothing of this answer is used",
            hint="close something that takes memory, or lower --budget-tokens",
        ) from error
