"""Several answers from any model."""

from collections.abc import Iterator, Sequence

import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.protocol import ChatRequest, ChatResult, ChatStream, Message, Usage
from codeforge.models.replay import ReplayModel, Reply
from codeforge.models.sampling import OnText, ParallelSampler, Sample, SampleSpec, sample_many

ASK = ChatRequest((Message("user", "?"),))
SPECS = [SampleSpec(seed, 0.5) for seed in range(3)]


class Watched(ReplayModel):
    """Keeps the requests that it gets."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        super().__init__("watched", replies)
        self.requests: list[ChatRequest] = []

    def stream(self, request: ChatRequest) -> ChatStream:
        self.requests.append(request)
        return super().stream(request)


class Parallel(Watched):
    """Finishes its samples backwards."""

    def sample(
        self, request: ChatRequest, specs: Sequence[SampleSpec], on_text: OnText | None = None
    ) -> Iterator[Sample]:
        for index in reversed(range(len(specs))):
            yield Sample(index, ChatResult(f"{specs[index].seed}", "p", "stop", Usage(), 0.0))


def test_one_after_the_other_with_seed_and_temperature() -> None:
    model = Watched([Reply("a\nb"), Reply("c"), Reply("d")])
    assert not isinstance(model, ParallelSampler)
    heard: list[tuple[int, str]] = []
    samples = list(sample_many(model, ASK, SPECS, lambda index, text: heard.append((index, text))))
    assert [(item.index, item.result.text) for item in samples] == [(0, "a\nb"), (1, "c"), (2, "d")]
    assert heard == [(0, "a\n"), (0, "b"), (1, "c"), (2, "d")]
    assert [(item.seed, item.temperature) for item in model.requests] == [(0, 0.5), (1, 0.5), (2, 0.5)]


def test_closing_asks_no_more() -> None:
    model = Watched([Reply("a"), Reply("b")])
    samples = sample_many(model, ASK, SPECS)
    assert next(samples).result.text == "a"
    samples.close()
    assert len(model.requests) == 1


def test_samples_before_a_failure_are_yielded() -> None:
    samples = sample_many(Watched([Reply("a")]), ASK, SPECS)
    assert next(samples).result.text == "a"
    with pytest.raises(EnvironmentUnavailableError):
        next(samples)


def test_side_by_side_where_the_model_can() -> None:
    model = Parallel([Reply("alone")])
    assert isinstance(model, ParallelSampler)
    assert [item.index for item in sample_many(model, ASK, SPECS)] == [2, 1, 0]
    assert model.requests == []
    assert [item.result.text for item in sample_many(model, ASK, SPECS[:1])] == ["alone"]


def test_nothing_asked_for_is_nothing_given() -> None:
    assert list(sample_many(Watched([]), ASK, [])) == []
