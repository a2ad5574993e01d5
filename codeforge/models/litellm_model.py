"""Hosted models, Ollama, vLLM and any OpenAI-compatible server, through litellm.

A request is repeated only for what passes by itself (rate limits, overload, broken connections), and only as
long as no part of the answer has been handed on.
"""

import os
import time
from collections.abc import Generator
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.litellm_errors import is_worth_retrying, retry_after_s, translate
from codeforge.models.protocol import ChatChunk, ChatRequest, ChatResult, ChatStream, TokenLogprob, Usage

_ATTEMPTS = 4
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0
_TIMEOUT_S = 600.0
_UNKNOWN_CONTEXT = 32768
_BYTES_PER_TOKEN = 3


class LiteLLMModel:
    """One hosted model.

    Args:
        name: `provider/model` as litellm knows it.
        api_base: the server's address, for servers of one's own.
        context_window: tokens; None: what litellm knows, else 32768.
        first_wait_s: seconds before the first repetition; each further wait is twice as long.
        timeout_s: seconds without any data after which a request is given up.
    """

    supports_grammar = False
    local = False

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        context_window: int | None = None,
        first_wait_s: float = _FIRST_WAIT_S,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        self.name = name
        self.version = name
        self._api_base = api_base
        self._context_window = context_window
        self._first_wait_s = first_wait_s
        self._timeout_s = timeout_s

    @property
    def context_window(self) -> int:
        """Tokens of prompt plus answer."""
        if self._context_window is None:
            known = _prices(import_litellm(), self.name).get("max_input_tokens")
            self._context_window = int(known) if known else _UNKNOWN_CONTEXT
        return self._context_window

    def count_tokens(self, text: str) -> int:
        """An upper estimate: a token for every three bytes."""
        return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)

    def close(self) -> None:
        """Nothing to free."""

    def stream(self, request: ChatRequest) -> ChatStream:
        """Generate; closing the generator closes the connection.

        Raises:
            ContextOverflowError: the server says that the prompt is too long; asked once.
            EnvironmentUnavailableError: the key, the request or the server will not do.
        """
        litellm = import_litellm()
        started = time.monotonic()
        texts: list[str] = []
        logprobs: list[TokenLogprob] = []
        reason, usage = "", None
        received = self._received(litellm, self._arguments(request))
        try:
            for chunk in received:
                usage = getattr(chunk, "usage", None) or usage
                if not chunk.choices:
                    continue
                choice = chunk.choices[0]
                reason = choice.finish_reason or reason
                logprobs += _logprobs(choice)
                if text := choice.delta.content or "":
                    texts.append(text)
                    yield ChatChunk(text)
        finally:
            received.close()
        if not reason:
            raise EnvironmentUnavailableError(
                f"{self.name} broke off after {sum(map(len, texts))} characters.",
                kept="nothing of this answer is used",
                hint="try again; the connection or the server failed",
            )
        elapsed = time.monotonic() - started
        spent = self._usage(litellm, usage, request, "".join(texts))
        return ChatResult("".join(texts), self.name, reason, spent, elapsed, tuple(logprobs))

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": item.role, "content": item.content} for item in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": self._timeout_s,
            "drop_params": True,
            # Repeating is our business: one policy, and a context overflow is asked once.
            "num_retries": 0,
            "max_retries": 0,
        }
        if request.seed is not None:
            arguments["seed"] = request.seed
        if request.stop:
            arguments["stop"] = list(request.stop)
        if request.logprobs:
            arguments["logprobs"] = True
        if self._api_base:
            arguments["api_base"] = self._api_base
            if self.name.startswith(("openai/", "hosted_vllm/")) and not os.environ.get("OPENAI_API_KEY"):
                arguments["api_key"] = "none"  # servers of one's own need no key, but the client wants one
        return arguments

    def _received(self, litellm: Any, arguments: dict[str, Any]) -> Generator[Any, None, None]:
        """The chunks of the answer; the request is repeated until the first of them is here."""
        raw: Any = None
        try:
            first, raw = self._first_chunk(litellm, arguments)
            if first is not None:
                yield first
                yield from raw
        except _request_errors() as error:
            raise translate(error, self.name, self._api_base) from error
        finally:
            _close(raw)

    def _first_chunk(self, litellm: Any, arguments: dict[str, Any]) -> tuple[Any, Any]:
        import tenacity

        backoff = tenacity.wait_exponential(
            multiplier=self._first_wait_s, max=_LONGEST_WAIT_S
        ) + tenacity.wait_random(0, self._first_wait_s / 2)

        def wait(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome is not None else None
            told = retry_after_s(error)
            return min(told, _LONGEST_WAIT_S) if told is not None else backoff(state)

        def ask() -> tuple[Any, Any]:
            raw = iter(litellm.completion(**arguments))
            return next(raw, None), raw

        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_worth_retrying),
            stop=tenacity.stop_after_attempt(_ATTEMPTS),
            wait=wait,
            reraise=True,
        )
        return attempts(ask)

    def _usage(self, litellm: Any, usage: Any, request: ChatRequest, text: str) -> Usage:
        if usage is None:
            prompt = sum(self.count_tokens(message.content) for message in request.messages)
            return Usage(prompt, prompt, self.count_tokens(text))
        prompt, completion = int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)
        details = getattr(usage, "prompt_tokens_details", None)
        cached = int(getattr(details, "cached_tokens", None) or 0)
        cost = None
        if _prices(litellm, self.name).get("input_cost_per_token") is not None:
            parts = litellm.cost_per_token(model=self.name, usage_object=usage)
            cost = float(sum(parts))
        return Usage(prompt, max(0, prompt - cached), completion, cost)


def import_litellm() -> Any:
    """litellm, quiet and without its own telemetry, price-list download or retries.

    Raises:
        EnvironmentUnavailableError: it is not installed.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError as error:
        raise EnvironmentUnavailableError(
            f"Hosted models need litellm, which can't be loaded: {error}.", hint="`pip install litellm`"
        ) from error
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


def _prices(litellm: Any, name: str) -> dict[str, Any]:
    """What litellm knows about the model; empty for servers of one's own."""
    table = litellm.model_cost
    found: dict[str, Any] = table.get(name) or table.get(name.partition("/")[2]) or {}
    return found


def _logprobs(choice: Any) -> list[TokenLogprob]:
    content = getattr(getattr(choice, "logprobs", None), "content", None) or []
    return [
        TokenLogprob(item["token"], float(item["logprob"]))
        if isinstance(item, dict)
        else TokenLogprob(item.token, float(item.logprob))
        for item in content
    ]


def _request_errors() -> tuple[type[Exception], ...]:
    """What a request can fail with; litellm's own errors all derive from openai's."""
    import httpx
    import openai

    return (openai.OpenAIError, httpx.HTTPError, OSError)


def _close(raw: Any) -> None:
    """Close the connection under litellm's wrapper, which has no close of its own."""
    for holder in (raw, getattr(raw, "completion_stream", None)):
        close = getattr(holder, "close", None)
        if callable(close):
            close()
