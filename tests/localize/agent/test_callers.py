"""Ways to call tools: JSON under a grammar in a real llama.cpp model, and a backend's own, over real HTTP."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.agent.callers import JsonCaller, NativeCaller, tool_caller
from codeforge.localize.agent.choosing import ChoosingAgent
from codeforge.localize.agent.conversation import Observed, Said, ToolCall, Turn
from codeforge.localize.agent.events import StepTaken
from codeforge.localize.agent.finish import finish_spec
from codeforge.localize.agent.hosted import HostedAgentModel
from codeforge.localize.agent.tool_agent import ToolAgent
from codeforge.localize.tools.agent.spec import TOOL_NAMES, load_spec
from codeforge.models.llama_cpp import LlamaCppModel, LlamaOptions
from codeforge.models.protocol import Usage
from codeforge.models.sampling import SampleSpec
from tests.localize.agent.conftest import DISCOUNT, ISSUE, TOTAL, Events, Scripted
from tests.models.tiny_gguf import write_tiny_model

SPECS = (*(load_spec(name) for name in TOOL_NAMES), finish_spec())
GREEDY = SampleSpec(0, 0.0)
FRAME = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


class Server:
    """Speaks the OpenAI protocol: each scripted answer is a text and calls (name, arguments), streamed in
    pieces."""

    def __init__(self) -> None:
        self.script: list[tuple[str, list[tuple[str, str]]]] = []
        self.requests: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                text, calls = outer.script.pop(0)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for data in outer.pieces(text, calls):
                    self.wfile.write(b"data: " + data.encode() + b"\n\n")

            def log_message(self, *_: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def pieces(self, text: str, calls: list[tuple[str, str]]) -> Iterator[str]:
        yield self.event({"role": "assistant", "content": text or None})
        for place, (name, arguments) in enumerate(calls):
            head = {"id": f"id{place}", "type": "function", "function": {"name": name, "arguments": ""}}
            yield self.event({"tool_calls": [{"index": place, **head}]})
            for part in (arguments[:7], arguments[7:]):
                yield self.event({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
        yield self.event({}, finish="tool_calls" if calls else "stop")
        usage = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
        yield json.dumps({**FRAME, "choices": [], "usage": usage})
        yield "[DONE]"

    def event(self, delta: dict[str, Any], finish: str | None = None) -> str:
        return json.dumps({**FRAME, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


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


def test_the_tools_of_a_hosted_model(server: Server, shop: Path, ranked, open_index, events: Events) -> None:
    places = json.dumps({"locations": [{"id": TOTAL, "reason": "It sums."}]})
    server.script = [
        (
            "I look.",
            [
                ("search_entity", '{"keywords": ["apply_discount"]}'),
                ("traverse_graph", json.dumps({"start_ids": [DISCOUNT], "direction": "backward"})),
            ],
        ),
        ("I think it is the cart.", []),
        ("", [("finish", places)]),
    ]
    model = HostedAgentModel("openai/own", api_base=server.url, tools=True)
    outcome = ToolAgent(model, shop, open_index).locate(ISSUE, ranked, (GREEDY,), events.append)
    assert outcome.answer.locations[0].entity.id == TOTAL
    assert [event.step.command.tool for event in events.of(StepTaken)] == [
        "search_entity",
        "traverse_graph",
        "",
        "finish",
    ]
    tokens = [event.step.tokens.prompt for event in events.of(StepTaken)]
    assert tokens == [30, 0, 30, 30]
    assert (outcome.usage.prompt_tokens, outcome.usage.completion_tokens) == (90, 15)
    first, second, third = server.requests
    assert [tool["function"]["name"] for tool in first["tools"]] == [*TOOL_NAMES, "finish"]
    assert [message["role"] for message in second["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    called, found, _ = second["messages"][2:]
    assert [call["function"]["name"] for call in called["tool_calls"]] == ["search_entity", "traverse_graph"]
    assert found["tool_call_id"] == called["tool_calls"][0]["id"]
    assert DISCOUNT in found["content"]
    assert "calls no tool" in third["messages"][-1]["content"]


def test_the_only_tool_must_be_called(server: Server) -> None:
    server.script = [("", [("finish", "{}")])]
    model = HostedAgentModel("openai/own", api_base=server.url, tools=True)
    turn = NativeCaller(model).ask([Said("user", "x")], (finish_spec(),), GREEDY, 50)
    assert turn.calls == (ToolCall("id0", "finish", "{}"),)
    assert server.requests[0]["tool_choice"] == {"type": "function", "function": {"name": "finish"}}
    assert server.requests[0]["max_tokens"] == 50


def test_a_connection_that_breaks_is_an_error(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script = [("So", [])]
    monkeypatch.setattr(server, "pieces", lambda text, calls: iter([server.event({"content": "So"})]))
    model = HostedAgentModel("openai/own", api_base=server.url, tools=True)
    with pytest.raises(EnvironmentUnavailableError, match="openai/own"):
        NativeCaller(model).ask([Said("user", "x")], SPECS, GREEDY, 50)


def test_the_backend_is_used_where_it_has_tools(server: Server) -> None:
    assert isinstance(tool_caller(HostedAgentModel("openai/gpt-4o", api_base=server.url)), NativeCaller)
    assert isinstance(tool_caller(HostedAgentModel("openai/own", api_base=server.url)), JsonCaller)
    assert isinstance(tool_caller(Scripted()), JsonCaller)


def test_a_hosted_model_is_held_to_the_numbers(server: Server, shop: Path, ranked, events: Events) -> None:
    server.script = [('{"choice": [2, 1]}', [])]
    model = HostedAgentModel("openai/gpt-4o", api_base=server.url)
    outcome = ChoosingAgent(model, shop).locate(ISSUE, ranked, (GREEDY,), events.append)
    assert outcome.answer.locations[0].entity == ranked.locations[1].entity
    sent = server.requests[0]["response_format"]["json_schema"]["schema"]
    count = len(ranked.locations)
    assert sent["properties"]["choice"]["items"]["enum"] == list(range(1, count + 1))


def test_a_conversation_in_json_alternates() -> None:
    model = Scripted("no call")
    call = ToolCall("1", "search_entity", "{}")
    conversation = [
        Said("system", "s"),
        Said("user", "u"),
        Turn("{…}", (call,), "{…}", "", Usage(), 0.0),
        Observed(call, "found"),
    ]
    turn = JsonCaller(model).ask(conversation, SPECS, GREEDY, 50)
    assert turn.calls == () and "The tools now: search_entity" in turn.problem
    roles = [message.role for message in model.requests[0].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.requests[0].messages[3].content == "Answer of search_entity:\nfound"


def test_noise_under_the_grammar_calls_tools(tmp_path: Path) -> None:
    """A model with random weights: whatever it calls before its answer is cut off is a call of a tool that
    was offered."""
    path = write_tiny_model(tmp_path / "tiny.gguf", context_length=2048)
    model = LlamaCppModel(path, name="tiny", version="v1", options=LlamaOptions(n_ctx=2048))
    try:
        for specs in (SPECS, (finish_spec(),)):
            for seed in range(4):
                turn = JsonCaller(model).ask([Said("user", "x")], specs, SampleSpec(seed, 1.0), 1200)
                assert turn.text.replace(" ", "").startswith('{"thought":"')
                assert all(call.name in {spec.name for spec in specs} for call in turn.calls)
                assert bool(turn.calls) != bool(turn.problem)
    finally:
        model.close()
