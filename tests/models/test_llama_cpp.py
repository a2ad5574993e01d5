"""The embedded backend on a tiny model with random weights: llama.cpp is real, the answers are noise."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError, UsageError
from codeforge.models import machine
from codeforge.models.llama_cpp import LlamaCppModel, LlamaOptions
from codeforge.models.protocol import ChatModel, ChatRequest, Message, RawCompletionModel, complete
from codeforge.models.sampling import ParallelSampler, SampleSpec, sample_many
from tests.models.tiny_gguf import write_tiny_model

HOT = ChatRequest((Message("user", "hello word1 word2"),), max_tokens=16, temperature=1.0, seed=5)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def model(path: Path) -> Iterator[LlamaCppModel]:
    opened = LlamaCppModel(path, name="tiny", version="v1", options=LlamaOptions(n_ctx=400))
    yield opened
    opened.close()


def test_is_every_kind_of_model(model: LlamaCppModel) -> None:
    for protocol in (ChatModel, RawCompletionModel, ParallelSampler):
        assert isinstance(model, protocol)
    assert (model.name, model.version, model.context_window) == ("tiny", "v1", 400)


def test_streamed_text_is_the_result(model: LlamaCppModel) -> None:
    pieces: list[str] = []
    result = complete(model, replace(HOT, answer_prefix="so: "), lambda chunk: pieces.append(chunk.text))
    assert "".join(pieces) == result.text
    assert pieces[0] == "so: "
    assert result.model == "tiny"
    assert result.usage.prompt_tokens == result.usage.prompt_tokens_evaluated


def test_one_cache_serves_streams_and_samples(model: LlamaCppModel) -> None:
    whole = complete(model, HOT).usage
    specs = [SampleSpec(seed, 1.0) for seed in range(3)]
    usages = [item.result.usage for item in sample_many(model, HOT, specs)]
    assert [usage.prompt_tokens_evaluated for usage in usages] == [1, 0, 0]
    assert {usage.prompt_tokens for usage in usages} == {whole.prompt_tokens}
    longer = replace(HOT, messages=(Message("user", "hello word1 word2 and more"),))
    usage = complete(model, longer).usage
    new_text = len(" and more\n[assistant] ")
    assert usage.prompt_tokens_evaluated == new_text
    assert usage.prompt_tokens == whole.prompt_tokens + len(" and more")


def test_an_answer_stays_in_the_cache_for_the_next_turn(model: LlamaCppModel) -> None:
    first = complete(model, replace(HOT, grammar="root ::= [a-z]{12}", max_tokens=30))
    turn = (*HOT.messages, Message("assistant", first.text), Message("user", "go"))
    usage = complete(model, replace(HOT, messages=turn)).usage
    assert usage.prompt_tokens_evaluated <= len("?\n[user] go\n[assistant] ")


def test_seeds_repeat_and_differ(model: LlamaCppModel) -> None:
    first, second, again = (complete(model, replace(HOT, seed=seed)).text for seed in (1, 2, 1))
    assert first == again != second
    texts = [complete(model, replace(HOT, seed=None)).text for _ in range(4)]
    assert len(set(texts)) > 1
    assert complete(model, replace(HOT, seed=-1)).text == complete(model, replace(HOT, seed=-1)).text


def test_the_same_samples_come_again(model: LlamaCppModel) -> None:
    specs = [SampleSpec(seed, 1.0) for seed in (3, 3, 4)]

    def draw() -> dict[int, str]:
        return {item.index: item.result.text for item in sample_many(model, HOT, specs)}

    drawn = draw()
    assert drawn == draw()
    assert drawn[0] == drawn[1] != drawn[2]


def test_samples_report_their_text_as_it_comes(model: LlamaCppModel) -> None:
    heard: dict[int, str] = {}
    asked = replace(HOT, answer_prefix="> ", logprobs=True)
    specs = [SampleSpec(seed, 1.0) for seed in range(4)]
    for item in sample_many(model, asked, specs, lambda i, text: heard.update({i: heard.get(i, "") + text})):
        assert heard[item.index] == item.result.text
        assert item.result.text.startswith("> ")
        assert len(item.result.logprobs) == item.result.usage.completion_tokens
        assert all(entry.logprob <= 0 for entry in item.result.logprobs)


def test_a_failing_listener_ends_the_sampling_and_frees_the_model(model: LlamaCppModel) -> None:
    def fail(_index: int, _text: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(sample_many(model, HOT, [SampleSpec(1, 1.0), SampleSpec(2, 1.0)], fail))
    assert complete(model, HOT).usage.prompt_tokens_evaluated == 1


def test_abandoned_samples_leave_room_for_others(model: LlamaCppModel) -> None:
    specs = [SampleSpec(seed, 1.0) for seed in range(8)]
    asked = replace(HOT, max_tokens=40, grammar="root ::= [a-z]{39,40}")
    for _ in range(6):
        samples = sample_many(model, asked, specs)
        next(samples)
        samples.close()
    assert len(list(sample_many(model, asked, specs))) == 8


def test_more_samples_than_fit_take_turns(model: LlamaCppModel) -> None:
    specs = [SampleSpec(seed, 1.0) for seed in range(7)]
    asked = replace(HOT, max_tokens=150)
    samples = list(sample_many(model, asked, specs))
    assert sorted(item.index for item in samples) == list(range(7))
    evaluated = sum(item.result.usage.prompt_tokens_evaluated for item in samples)
    late = 7 - 2  # two of 150 tokens each fit beside the prompt; each later one evaluates its last token
    assert evaluated == samples[0].result.usage.prompt_tokens + late
    texts = {item.index: item.result.text for item in samples}
    assert len(set(texts.values())) == 7
    assert texts == {item.index: item.result.text for item in sample_many(model, asked, specs)}


def test_a_late_sample_is_as_likely_as_an_early_one(model: LlamaCppModel) -> None:
    greedy = [SampleSpec(0, 0.0)] * 9
    asked = replace(HOT, logprobs=True, grammar="root ::= [a-z]{5,9}", max_tokens=12)
    results = [item.result for item in sample_many(model, asked, greedy)]
    assert len({item.text for item in results}) == 1
    for item in results:
        for entry, expected in zip(item.logprobs, results[0].logprobs, strict=True):
            assert entry.logprob == pytest.approx(expected.logprob, abs=0.01)


def test_grammars(model: LlamaCppModel) -> None:
    asked = replace(HOT, grammar='root ::= ("yes" | "no") [0-9]{3}', max_tokens=30)
    for temperature in (0.0, 1.0, 2.0):
        result = complete(model, replace(asked, temperature=temperature))
        assert result.text[:-3] in ("yes", "no")
        assert result.text[-3:].isdigit()
        assert result.finish_reason == "stop"
    specs = [SampleSpec(seed, 1.5) for seed in range(4)]
    texts = {item.result.text for item in sample_many(model, asked, specs)}
    assert len(texts) > 1
    for bad in ("root ::= (", "root ::= missing"):
        with pytest.raises(UsageError, match="grammar"):
            complete(model, replace(HOT, grammar=bad))
        with pytest.raises(UsageError, match="grammar"):
            list(sample_many(model, replace(HOT, grammar=bad), specs))


def test_stop_strings_and_lengths(model: LlamaCppModel) -> None:
    asked = replace(HOT, grammar='root ::= "abcdef" "ghi"', max_tokens=20)
    stopped = complete(model, replace(asked, stop=("never", "cde")))
    assert (stopped.text, stopped.finish_reason) == ("ab", "stop")
    held = complete(model, replace(asked, stop=("ghix",)))
    assert (held.text, held.finish_reason) == ("abcdefghi", "stop")
    short = complete(model, replace(asked, max_tokens=4, stop=("dz",)))
    assert (short.text, short.finish_reason, short.usage.completion_tokens) == ("abcd", "length", 4)


def test_characters_of_several_tokens_stay_whole(model: LlamaCppModel) -> None:
    pieces: list[str] = []
    asked = replace(HOT, grammar='root ::= "é世ü"', max_tokens=20)
    result = complete(model, asked, lambda chunk: pieces.append(chunk.text))
    assert result.text == "é世ü"
    assert pieces == ["é", "世", "ü"]
    assert result.usage.completion_tokens == 7


def test_overflow_comes_before_anything_is_generated(model: LlamaCppModel) -> None:
    long = replace(HOT, messages=(Message("user", "x" * 500),))
    for asked in (long, replace(HOT, max_tokens=390)):
        with pytest.raises(ContextOverflowError):
            next(model.stream(asked))
        with pytest.raises(ContextOverflowError):
            next(iter(model.sample(asked, [SampleSpec(1, 1.0)])))
    full = complete(model, HOT).usage.prompt_tokens
    assert complete(model, replace(HOT, max_tokens=400 - full)).usage.completion_tokens <= 400 - full


def test_an_unfinished_stream_holds_the_model_until_it_is_closed(model: LlamaCppModel) -> None:
    stream = model.stream(HOT)
    next(stream)
    with pytest.raises(UsageError, match="still generating"):
        next(model.stream(HOT))
    with pytest.raises(UsageError, match="still generating"):
        model.close()
    done: list[str] = []
    other = threading.Thread(target=lambda: done.append(complete(model, HOT).text))
    other.start()
    other.join(0.1)
    assert other.is_alive()
    stream.close()
    other.join(30)
    assert len(done) == 1


def test_a_closed_model_refuses(path: Path) -> None:
    model = LlamaCppModel(path, name="tiny", version="v", options=LlamaOptions(n_ctx=64))
    model.close()
    model.close()
    with pytest.raises(UsageError, match="closed"):
        complete(model, HOT)


def test_the_context_is_bounded_by_the_model_and_by_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = LlamaCppModel(path, name="t", version="v", options=LlamaOptions(n_ctx=1 << 30))
    assert opened.context_window == 512
    opened.close()
    monkeypatch.setattr(machine, "available_memory", lambda: 100_000)
    with pytest.raises(EnvironmentUnavailableError, match="GB are available"):
        LlamaCppModel(path, name="t", version="v", options=LlamaOptions(n_ctx=512))


def test_speed_is_told_for_single_answers_that_are_long_enough(path: Path) -> None:
    speeds: list[float] = []
    model = LlamaCppModel(
        path, name="t", version="v", options=LlamaOptions(n_ctx=400), on_speed=speeds.append
    )
    complete(model, replace(HOT, max_tokens=10))
    list(sample_many(model, HOT, [SampleSpec(1, 0.0), SampleSpec(2, 0.0)]))
    assert speeds == []
    complete(model, replace(HOT, max_tokens=60, grammar="root ::= [a-z]{50}"))
    model.close()
    assert len(speeds) == 1
    assert speeds[0] > 1


def test_raw_prompts_are_continued_as_they_stand(model: LlamaCppModel) -> None:
    stream = model.stream_raw("abc", replace(HOT, messages=()))
    with pytest.raises(StopIteration) as ended:
        while True:
            next(stream)
    assert ended.value.value.usage.prompt_tokens == len(["<s>", " ", "a", "b", "c"])


@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
def test_damaged_files_are_told(path: Path, tmp_path: Path, damage: str) -> None:
    data = path.read_bytes()
    bad = tmp_path / "bad.gguf"
    bad.write_bytes({"cut": data[: len(data) // 2], "noise": b"x" * 999, "empty": b""}[damage])
    with pytest.raises(EnvironmentUnavailableError, match="can't read the model file"):
        LlamaCppModel(bad, name="t", version="v", options=LlamaOptions(n_ctx=64))


def test_a_broken_adapter_is_told(path: Path, tmp_path: Path) -> None:
    for lora in (path, tmp_path / "missing.gguf"):
        with pytest.raises(EnvironmentUnavailableError, match="adapter"):
            LlamaCppModel(path, name="t", version="v", options=LlamaOptions(n_ctx=64, lora=lora))


def test_nothing_is_written_to_the_terminal(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from codeforge.models.llama_cpp import *\n"
        "from codeforge.models.protocol import *; from codeforge.errors import *\n"
        "def open(path): return LlamaCppModel(Path(path), name='t', version='v',"
        " options=LlamaOptions(n_ctx=100))\n"
        "complete(open(sys.argv[1]), ChatRequest((Message('user', 'x'),), max_tokens=5))\n"
        "try: open(sys.argv[2])\n"
        "except EnvironmentUnavailableError: pass\n"
    )
    bad = path.with_name("bad.gguf")
    bad.write_bytes(b"GGUF" + bytes(100))
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(bad)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
