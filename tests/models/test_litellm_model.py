"""Hosted models against a real HTTP server that speaks the OpenAI protocol."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError, UsageError
from codeforge.models.litellm_model import LiteLLMModel
from codeforge.models.protocol import ChatModel, ChatRequest, Message, complete

REQUEST = ChatRequest((Message("system", "Be terse."), Message("user", "Say hello.")), max_tokens=50, seed=7)
WORDS = ("Hel", "lo ", "wörld")


class Server:
    """Answers from a script: each entry is a status, "ok", "cut" (mid-answer) or "reset" (before any)."""

    def __init__(self) -> None:
        self.script: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.cut_short = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                outer.answer(self, outer.script.pop(0) if outer.script else "ok")

            def log_message(self, *_: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def answer(self, handler: BaseHTTPRequestHandler, what: Any) -> None:
        if what == "reset":
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif what == "silent":
            time.sleep(5)
        elif isinstance(what, tuple):
            self.fail(handler, *what)
        else:
            self.stream(handler, cut=what == "cut", endless=what == "endless")

    def fail(self, handler: BaseHTTPRequestHandler, status: int, message: str, code: str = "") -> None:
        body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def stream(self, handler: BaseHTTPRequestHandler, *, cut: bool, endless: bool) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        self.event(handler, {"role": "assistant", "content": ""})
        try:
            while endless:
                self.event(handler, {"content": "and on "})
                time.sleep(0.01)
        except OSError:
            self.cut_short.set()
            return
        for word in WORDS:
            self.event(handler, {"content": word})
        if cut:
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        self.event(handler, {}, finish="stop")
        self.event(handler, None, usage=True)
        self.chunk(handler, b"data: [DONE]\n\n")
        self.chunk(handler, b"")

    def event(
        self, handler: BaseHTTPRequestHandler, delta: Any, finish: str = "", usage: bool = False
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish or None}
        if delta and delta.get("content"):
            choice["logprobs"] = {
                "content": [{"token": delta["content"], "logprob": -0.25, "bytes": None, "top_logprobs": []}]
            }
        data: dict[str, Any] = {
            "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [] if usage else [choice],
        }  # fmt: skip
        if usage:
            data["usage"] = {
                "prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23,
                "prompt_tokens_details": {"cached_tokens": 16},
            }  # fmt: skip
        self.chunk(handler, b"data: " + json.dumps(data).encode() + b"\n\n")

    def chunk(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


def model(server: Server, name: str = "openai/my-model", **options: Any) -> LiteLLMModel:
    return LiteLLMModel(name, api_base=server.url, first_wait_s=0.01, **options)


def test_streams_and_counts(server: Server) -> None:
    pieces: list[str] = []
    result = complete(model(server), REQUEST, lambda chunk: pieces.append(chunk.text))
    assert pieces == list(WORDS)
    assert result.text == "Hello wörld"
    assert result.finish_reason == "stop"
    assert (result.usage.prompt_tokens, result.usage.prompt_tokens_evaluated) == (20, 4)
    assert result.usage.completion_tokens == 3
    assert result.usage.cost_usd is None
    sent = server.requests[0]
    assert sent["model"] == "my-model"
    assert [item["role"] for item in sent["messages"]] == ["system", "user"]
    assert (sent["seed"], sent["max_tokens"], sent["stream"]) == (7, 50, True)


def test_logprobs_come_when_asked_for(server: Server) -> None:
    asked = ChatRequest(REQUEST.messages, logprobs=True, stop=("END",))
    result = complete(model(server), asked)
    assert [(item.token, item.logprob) for item in result.logprobs] == [(word, -0.25) for word in WORDS]
    assert server.requests[0]["logprobs"] is True
    assert server.requests[0]["stop"] == ["END"]


def test_known_models_have_a_price_and_a_context(server: Server) -> None:
    known = model(server, "openai/gpt-4o-mini")
    assert complete(known, REQUEST).usage.cost_usd == pytest.approx(0, abs=1e-4)
    assert (complete(known, REQUEST).usage.cost_usd or 0) > 0
    assert known.context_window == 128000
    assert model(server).context_window == 32768


@pytest.mark.parametrize("first", [(429, "slow down"), (500, "oops"), (503, "busy"), "reset"])
def test_what_passes_by_itself_is_asked_again(server: Server, first: Any) -> None:
    server.script = [first, "ok"]
    assert complete(model(server), REQUEST).text == "Hello wörld"
    assert len(server.requests) == 2


def test_gives_up_in_the_end(server: Server) -> None:
    server.script = [(500, "still broken")] * 10
    with pytest.raises(EnvironmentUnavailableError, match="still broken"):
        complete(model(server), REQUEST)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ((401, "bad key"), EnvironmentUnavailableError, "OPENAI_API_KEY"),
        ((400, "no such parameter"), EnvironmentUnavailableError, "no such parameter"),
        ((404, "model my-model does not exist"), UsageError, "my-model"),
        (
            (400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded"),
            ContextOverflowError,
            "budget-tokens",
        ),
        ((400, "the request exceeds the available context size"), ContextOverflowError, "budget-tokens"),
    ],
)
def test_what_will_not_pass_is_asked_once(
    server: Server, answer: Any, error: type[Exception], words: str
) -> None:
    server.script = [answer] * 5
    with pytest.raises(error) as caught:
        complete(model(server), REQUEST)
    assert len(server.requests) == 1
    assert words in f"{caught.value} {caught.value.hint}"  # type: ignore[attr-defined]


def test_an_answer_that_breaks_off_is_an_error_and_not_repeated(server: Server) -> None:
    server.script = ["cut"]
    pieces: list[str] = []
    with pytest.raises(EnvironmentUnavailableError):
        complete(model(server), REQUEST, lambda chunk: pieces.append(chunk.text))
    assert pieces == list(WORDS)
    assert len(server.requests) == 1


def test_a_silent_server_is_given_up(server: Server) -> None:
    server.script = ["silent"] * 4
    started = time.monotonic()
    with pytest.raises(EnvironmentUnavailableError):
        complete(model(server, timeout_s=0.3), REQUEST)
    assert len(server.requests) == 4
    assert time.monotonic() - started < 20


def test_nothing_listening() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(EnvironmentUnavailableError, match="Nothing answers at") as caught:
        complete(LiteLLMModel("openai/x", api_base=address, first_wait_s=5), REQUEST)
    assert "start the server" in caught.value.hint


def test_closing_the_stream_closes_the_connection(server: Server) -> None:
    server.script = ["endless"]
    stream = model(server).stream(REQUEST)
    assert next(stream).text == "and on "
    stream.close()
    assert server.cut_short.wait(5)


def test_is_a_chat_model(server: Server) -> None:
    hosted = model(server)
    assert isinstance(hosted, ChatModel)
    assert hosted.count_tokens("") == 0
    assert hosted.count_tokens("é" * 3) == 2
