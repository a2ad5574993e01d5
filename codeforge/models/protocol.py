"""The one protocol behind which every chat model stands."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request.

    Attributes:
        messages: the conversation; the last one is the user's.
        max_tokens: most tokens to generate.
        temperature, top_p: sampling.
        seed: for backends that have seeds.
        stop: generation ends before any of these strings.
        grammar: a GBNF grammar; ignored by backends whose `supports_grammar` is false.
        logprobs: ask for the log-probability of each generated token.
        answer_prefix: text with which the assistant's answer is made to start, where the backend can;
            the result's text includes it.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 1024
    temperature: float = 0.0
    top_p: float = 0.95
    seed: int | None = None
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    logprobs: bool = False
    answer_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request cost.

    Attributes:
        prompt_tokens: tokens in the prompt.
        prompt_tokens_evaluated: those not taken from the prefix cache (equal where unknown).
        completion_tokens: tokens generated.
        cost_usd: money, where the backend knows prices.
    """

    prompt_tokens: int = 0
    prompt_tokens_evaluated: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.prompt_tokens_evaluated + other.prompt_tokens_evaluated,
            self.completion_tokens + other.completion_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A generated token and its natural-log probability."""

    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class ChatChunk:
    """A piece of the answer as it streams."""

    text: str


@dataclass(frozen=True, slots=True)
class ChatResult:
    """A finished answer. `finish_reason`: "stop", "length" or what the backend says."""

    text: str
    model: str
    finish_reason: str
    usage: Usage
    elapsed_s: float
    logprobs: tuple[TokenLogprob, ...] = field(default=())


ChatStream = Generator[ChatChunk, None, ChatResult]


@runtime_checkable
class ChatModel(Protocol):
    """A chat model.

    Attributes:
        name: how the user names it (`--model`).
        version: what exactly answers (file hash and adapter, or the provider's model id).
        context_window: tokens of prompt plus answer.
        supports_grammar: whether `ChatRequest.grammar` is obeyed.
        local: whether it runs on this machine's cores.
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def context_window(self) -> int: ...
    @property
    def supports_grammar(self) -> bool: ...
    @property
    def local(self) -> bool: ...

    def stream(self, request: ChatRequest) -> ChatStream:
        """Generate; closing the generator stops the generation.

        Raises:
            ContextOverflowError: the prompt does not fit; nothing was generated.
            EnvironmentUnavailableError: the backend can't answer.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` by the model's own tokenizer (an upper estimate where it has none)."""
        ...

    def close(self) -> None:
        """Free the model's memory."""
        ...


@runtime_checkable
class RawCompletionModel(Protocol):
    """A model that also continues a prompt as it stands, without a chat template."""

    def stream_raw(self, prompt: str, request: ChatRequest) -> ChatStream:
        """Continue `prompt`; special tokens written in it (`<|fim_prefix|>`) are read as such.

        `request.messages` is not used. Closing the generator stops the generation.

        Raises:
            ContextOverflowError: the prompt does not fit; nothing was generated.
            EnvironmentUnavailableError: the backend can't answer.
        """
        ...


def complete(
    model: ChatModel, request: ChatRequest, on_chunk: Callable[[ChatChunk], None] | None = None
) -> ChatResult:
    """Run `request` to its end, handing each chunk to `on_chunk`, and return the result."""
    stream = model.stream(request)
    while True:
        try:
            chunk = next(stream)
        except StopIteration as stop:
            result: ChatResult = stop.value
            return result
        if on_chunk is not None:
            on_chunk(chunk)
