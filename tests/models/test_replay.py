"""Recorded and scripted replies."""

import io
import json
from pathlib import Path

import pytest

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError, UsageError
from codeforge.models.protocol import ChatModel, ChatRequest, Message, TokenLogprob, Usage, complete
from codeforge.models.replay import (
    RecordingModel,
    ReplayModel,
    Reply,
    open_replay,
    parse_replies,
    request_hash,
)


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),))


def test_replies_in_order_then_an_error(tmp_path: Path) -> None:
    file = tmp_path / "replies.json"
    file.write_text(json.dumps(["first\nline", {"text": "second", "finish_reason": "length"}]))
    model = open_replay(str(file))
    assert isinstance(model, ChatModel)
    chunks: list[str] = []
    first = complete(model, ask("12345"), lambda chunk: chunks.append(chunk.text))
    assert chunks == ["first\n", "line"]
    assert (first.text, first.usage) == ("first\nline", Usage(2, 2, 3))
    assert complete(model, ask("x")).finish_reason == "length"
    with pytest.raises(EnvironmentUnavailableError, match="no more replies"):
        complete(model, ask("x"))


def test_empty_answers_nothing_forever() -> None:
    model = open_replay("empty")
    for _ in range(3):
        result = complete(model, ask("x"))
        assert (result.text, result.usage.completion_tokens) == ("", 0)


def test_scripted_failures_and_logprobs() -> None:
    lines = [
        {"error": "overflow"},
        {"text": "", "error": "unavailable"},
        {"text": "ab", "logprobs": [["a", -0.5], ["b", -1]], "delay_s": 0.01},
    ]
    model = ReplayModel("r", parse_replies("\n".join(map(json.dumps, lines)), "r"))
    with pytest.raises(ContextOverflowError):
        complete(model, ask("x"))
    with pytest.raises(EnvironmentUnavailableError):
        complete(model, ask("x"))
    result = complete(model, ask("x"))
    assert result.logprobs == (TokenLogprob("a", -0.5), TokenLogprob("b", -1.0))
    assert result.elapsed_s >= 0.01


def test_a_reply_with_a_request_answers_only_that_one() -> None:
    keyed = Reply("for b", request=request_hash(ask("b")))
    model = ReplayModel("r", [keyed, Reply("any")])
    assert complete(model, ask("a")).text == "any"
    assert complete(model, ask("b")).text == "for b"


def test_a_session_export_is_replayed() -> None:
    lines = [
        {"schema_version": 1, "type": "session", "id": "1"},
        {"type": "message", "role": "user", "content": "no"},
        {"type": "message", "role": "assistant", "content": "yes"},
        {"type": "step", "kind": "message", "payload": {}},
        {"type": "end", "steps": 1},
    ]
    assert parse_replies("\n".join(map(json.dumps, lines)), "s") == [Reply("yes")]


def test_unusual_line_separators_inside_a_reply() -> None:
    line = json.dumps("a\u2028b\x85", ensure_ascii=False)
    assert parse_replies(f"{line}\r\n{line}\n", "r") == [Reply("a\u2028b\x85")] * 2


@pytest.mark.parametrize(
    "text", ["[1", "{", '[{"text": 3}]', '{"error": "fire"}', '{"text": "a", "logprobs": [3]}', "7"]
)
def test_bad_files_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_replies(text, "bad.jsonl")


def test_settings_make_it_stand_in_for_another_kind_of_model(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"settings": {"local": true, "context_window": 8192}}\n"one"\n')
    model = open_replay(str(file))
    assert (model.local, model.context_window) == (True, 8192)
    assert complete(model, ask("x")).text == "one"
    assert open_replay("empty").local is False


@pytest.mark.parametrize(
    "settings", ["3", '{"local": 1}', '{"context_window": 0}', '{"colour": true}', '{"context_window": true}']
)
def test_bad_settings_are_refused(tmp_path: Path, settings: str) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(f'{{"settings": {settings}}}\n"one"\n')
    with pytest.raises(UsageError, match="line 1"):
        open_replay(str(file))


def test_a_problem_after_settings_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"settings": {}}\n"one"\n{\n')
    with pytest.raises(UsageError, match="line 3"):
        open_replay(str(file))


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(UsageError, match="can't be read"):
        open_replay("/nowhere/at/all.jsonl")


@pytest.mark.parametrize("keyed", [True, False])
def test_a_recording_replays_as_it_was(keyed: bool) -> None:
    replies = [
        Reply("one", logprobs=(TokenLogprob("one", -0.1),)),
        Reply("", error="overflow"),
        Reply("two\n\u2028\x85\ud800"),
    ]
    out = io.StringIO()
    recorder = RecordingModel(ReplayModel("r", replies), out, keyed=keyed)
    assert isinstance(recorder, ChatModel)

    def run(model: ChatModel) -> list[object]:
        got: list[object] = []
        for text in "abc":
            try:
                result = complete(model, ask(text))
                got.append((result.text, result.finish_reason, result.logprobs, result.usage))
            except ContextOverflowError:
                got.append("overflow")
        return got

    assert run(recorder) == run(ReplayModel("r", parse_replies(out.getvalue(), "r")))
