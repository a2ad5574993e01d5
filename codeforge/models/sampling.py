"""Several answers to one request from any model: side by side where the backend can, else in turn."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from codeforge.models.protocol import ChatChunk, ChatModel, ChatRequest, ChatResult, complete


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """How one sample is drawn: its seed and its temperature (0 is greedy)."""

    seed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One finished answer and its place in the request (0-based)."""

    index: int
    result: ChatResult


OnText = Callable[[int, str], None]


@runtime_checkable
class ParallelSampler(Protocol):
    """A model that decodes several samples of one prompt side by side."""

    def sample(
        self, request: ChatRequest, specs: Sequence[SampleSpec], on_text: OnText | None = None
    ) -> Iterator[Sample]:
        """Yield each sample as it finishes; closing the iterator abandons the rest.

        The usage of the first one that is yielded carries the prompt tokens evaluated for all.
        """
        ...


def sample_many(
    model: ChatModel, request: ChatRequest, specs: Sequence[SampleSpec], on_text: OnText | None = None
) -> Generator[Sample, None, None]:
    """Draw one answer for each of `specs`; `request.seed` and `.temperature` are not used.

    `on_text(index, text)` gets the text as it streams; an exception from it ends the sampling.
    """
    if isinstance(model, ParallelSampler) and len(specs) > 1:
        yield from model.sample(request, specs, on_text)
        return
    for index, spec in enumerate(specs):
        yield Sample(index, _one(model, request, index, spec, on_text))


def _one(
    model: ChatModel, request: ChatRequest, index: int, spec: SampleSpec, on_text: OnText | None
) -> ChatResult:
    def forward(chunk: ChatChunk) -> None:
        if on_text is not None:
            on_text(index, chunk.text)

    return complete(model, replace(request, seed=spec.seed, temperature=spec.temperature), forward)
