"""The decoder's cache: whatever was in it, a prompt gives what a fresh decoder gives."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError
from codeforge.models.llama_batch import BatchDecoder, DecodePlan, SampledText
from codeforge.models.llama_open import open_llama
from codeforge.models.sampling import SampleSpec
from tests.models.tiny_gguf import write_tiny_model

GREEDY = SampleSpec(0, 0.0)
LETTERS = "root ::= [a-z]+"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    opened = open_llama(write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf"))
    yield opened
    opened.close()


def open_decoder(llama: Any, n_ctx: int = 512) -> BatchDecoder:
    return BatchDecoder(llama, n_ctx=n_ctx, n_parallel=4, threads=1, threads_batch=1)


@pytest.fixture(scope="module")
def decoder(llama: Any) -> Iterator[BatchDecoder]:
    opened = open_decoder(llama)
    yield opened
    opened.close()


def draw(decoder: BatchDecoder, prompt: list[int], *specs: SampleSpec, tokens: int = 8) -> list[SampledText]:
    events = decoder.generate(prompt, DecodePlan(specs or (GREEDY,), tokens, grammar=LETTERS, logprobs=True))
    return sorted((event for event in events if isinstance(event, SampledText)), key=lambda item: item.index)


def prompt_of(length: int, variant: int = 0) -> list[int]:
    return [40 + (place * 7 + variant) % 200 for place in range(length)]


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 34, 64, 65, 66, 400])
def test_prompts_of_every_length(llama: Any, length: int) -> None:
    cold = open_decoder(llama)
    first = draw(cold, prompt_of(length))[0]
    assert cold.prompt_tokens_evaluated == length
    again = draw(cold, prompt_of(length))[0]
    assert cold.prompt_tokens_evaluated == 1
    assert (again.text, again.logprobs) == (first.text, first.logprobs)
    cold.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 200), st.integers(0, 2), st.integers(1, 6)), min_size=1, max_size=5))
def test_what_was_in_the_cache_does_not_matter(
    llama: Any, decoder: BatchDecoder, requests: list[tuple[int, int, int]]
) -> None:
    for length, variant, samples in requests:
        drawn = draw(decoder, prompt_of(length, variant), *[GREEDY] * samples)
        assert decoder.prompt_tokens_evaluated <= length + max(0, samples - 4)
    fresh = open_decoder(llama)
    expected = draw(fresh, prompt_of(*requests[-1][:2]))[0]
    fresh.close()
    for item in drawn:
        assert item.logprobs[0].logprob == pytest.approx(expected.logprobs[0].logprob, abs=0.02)


def test_an_interrupted_prompt_is_evaluated_rightly_the_next_time(
    llama: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = open_decoder(llama)
    real = decoder._lib.llama_decode
    calls = 0

    def interrupted(*arguments: Any) -> int:
        nonlocal calls
        calls += 1
        status: int = real(*arguments)
        if calls == 2:
            raise KeyboardInterrupt
        return status

    prompt = prompt_of(300)
    with monkeypatch.context() as patch:
        patch.setattr(decoder._lib, "llama_decode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            draw(decoder, prompt)
    drawn = draw(decoder, prompt)[0]
    assert decoder.prompt_tokens_evaluated == 300 - 32
    fresh = open_decoder(llama)
    assert drawn.text == draw(fresh, prompt)[0].text
    for opened in (decoder, fresh):
        opened.close()


def test_a_failure_of_llama_is_told_and_the_decoder_goes_on(
    llama: Any, decoder: BatchDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = draw(decoder, prompt_of(50, 3))[0].text
    with monkeypatch.context() as patch:
        patch.setattr(decoder._lib, "llama_decode", lambda *_: 1)
        with pytest.raises(EnvironmentUnavailableError, match="status 1"):
            draw(decoder, prompt_of(60, 4))
    assert draw(decoder, prompt_of(50, 3))[0].text == expected


def test_the_last_cell_can_be_used(llama: Any) -> None:
    decoder = open_decoder(llama, n_ctx=256)
    prompt = prompt_of(200)
    for _ in range(3):
        assert len(draw(decoder, prompt, *[SampleSpec(seed, 2.0) for seed in range(5)], tokens=56)) == 5
    with pytest.raises(ContextOverflowError):
        draw(decoder, prompt, tokens=57)
    decoder.close()


def test_the_context_of_an_answer_that_is_kept_gives_way(llama: Any) -> None:
    decoder = open_decoder(llama, n_ctx=256)
    for variant in range(4):
        draw(decoder, prompt_of(120, variant), SampleSpec(variant, 2.0), tokens=136)
        assert len(draw(decoder, prompt_of(100, variant + 9), *[GREEDY] * 4, tokens=39)) == 4
    decoder.close()
