"""How a model is brought to call tools: by its backend's own tool calling, or as JSON in its answers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Protocol, runtime_checkable

from codeforge.localize.agent.conversation import Entry, Observed, Said, ToolCall, Turn
from codeforge.localize.tools.agent import ToolSpec
from codeforge.models.protocol import ChatModel, ChatRequest, ChatResult, Message, complete
from codeforge.models.sampling import SampleSpec


class ToolCaller(Protocol):
    """Asks a model for its next calls."""

    @property
    def model(self) -> ChatModel:
        """The model that is asked."""
        ...

    def opening(self, specs: Sequence[ToolSpec]) -> str:
        """What the system prompt must say so that the model can call; "" where the backend says it."""
        ...

    def hidden_tokens(self, specs: Sequence[ToolSpec]) -> int:
        """Tokens that the tools take beside the conversation."""
        ...

    def ask(
        self, conversation: Sequence[Entry], specs: Sequence[ToolSpec], spec: SampleSpec, max_tokens: int
    ) -> Turn:
        """The model's next turn.

        Args:
            conversation: begins with the system prompt; ends with what the model is to answer.
            specs: the tools it may call now; where there is one, it must.
            spec: seed and temperature.
            max_tokens: the most tokens of the answer.

        Raises:
            ContextOverflowError: the conversation does not fit the model's context.
            EnvironmentUnavailableError: the model can't answer.
        """
        ...


@runtime_checkable
class ToolModel(Protocol):
    """A model whose backend has tool calling."""

    @property
    def supports_tools(self) -> bool:
        """Whether this very model has it."""
        ...

    def call_tools(
        self, conversation: Sequence[Entry], specs: Sequence[ToolSpec], spec: SampleSpec, max_tokens: int
    ) -> Turn:
        """See `ToolCaller.ask`."""
        ...


@runtime_checkable
class SchemaModel(Protocol):
    """A model whose backend can be held to a JSON schema."""

    def with_schema(self, name: str, schema: Mapping[str, Any]) -> ChatModel:
        """The same model, whose answers are JSON of `schema` where the backend can promise it."""
        ...


def tool_caller(model: ChatModel) -> ToolCaller:
    """The best way for `model`."""
    if isinstance(model, ToolModel) and model.supports_tools:
        return NativeCaller(model)
    return JsonCaller(model)


class NativeCaller:
    """Through the backend's own tool calling.

    Args:
        model: a `ToolModel` that is a `ChatModel` too.
    """

    def __init__(self, model: ToolModel) -> None:
        if not isinstance(model, ChatModel):
            raise TypeError("a model with tools is a chat model")
        self._tools = model
        self.model: ChatModel = model

    def opening(self, specs: Sequence[ToolSpec]) -> str:
        """Nothing: the tools travel beside the messages."""
        del specs
        return ""

    def hidden_tokens(self, specs: Sequence[ToolSpec]) -> int:
        """Of the tools' JSON."""
        return self.model.count_tokens(json.dumps([spec.to_openai() for spec in specs]))

    def ask(
        self, conversation: Sequence[Entry], specs: Sequence[ToolSpec], spec: SampleSpec, max_tokens: int
    ) -> Turn:
        """See `ToolCaller.ask`."""
        return self._tools.call_tools(conversation, specs, spec, max_tokens)


class JsonCaller:
    """One JSON object an answer: `thought`, `tool`, `arguments`; held to it by a grammar or a schema where
    the backend can."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def opening(self, specs: Sequence[ToolSpec]) -> str:
        """The tools and the form of an answer."""
        described = [
            f"## {spec.name}\n\n{spec.description}\n\nArguments (JSON schema): {json.dumps(spec.parameters)}"
            for spec in specs
        ]
        text = (Path(__file__).parent / "calling.md").read_text(encoding="utf-8").strip()
        return Template(text).substitute(tools="\n\n".join(described))

    def hidden_tokens(self, specs: Sequence[ToolSpec]) -> int:
        """None: all is in the messages."""
        del specs
        return 0

    def ask(
        self, conversation: Sequence[Entry], specs: Sequence[ToolSpec], spec: SampleSpec, max_tokens: int
    ) -> Turn:
        """See `ToolCaller.ask`."""
        schema = _call_schema(specs)
        model = self.model
        grammar = None
        if model.supports_grammar:
            grammar = _grammar(schema)
        elif isinstance(model, SchemaModel):
            model = model.with_schema("tool_call", schema)
        request = ChatRequest(
            tuple(_message(entry) for entry in conversation),
            max_tokens=max_tokens,
            temperature=spec.temperature,
            seed=spec.seed,
            grammar=grammar,
        )
        return read_json_turn(complete(model, request), len(conversation), specs)


def read_json_turn(result: ChatResult, number: int, specs: Sequence[ToolSpec]) -> Turn:
    """The call in an answer; words, fences and thoughts around its JSON object don't matter."""
    call = _find_call(result.text)
    names = ", ".join(spec.name for spec in specs)
    if call is None:
        cut = " It was cut off: think shorter." if result.finish_reason == "length" else ""
        problem = (
            f"No tool call could be read in that answer.{cut} Answer with one JSON object and nothing else: "
            f'{{"thought": "…", "tool": "…", "arguments": {{…}}}}. The tools now: {names}.'
        )
        return Turn(result.text, (), result.text, problem, result.usage, result.elapsed_s)
    arguments = call.get("arguments", {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    calls = (ToolCall(f"call-{number}", str(call["tool"]), written),)
    return Turn(result.text, calls, result.text, "", result.usage, result.elapsed_s)


def _find_call(answer: str) -> dict[str, Any] | None:
    # A reasoning model thinks aloud first, and the calls it weighs are none.
    text = answer.rpartition("</think>")[2]
    # A grammar for strings lets line breaks through as they are.
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = decoder.raw_decode(text, start)
        except ValueError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("tool"), str):
            return found
        start = text.find("{", start + 1)
    return None


def _message(entry: Entry) -> Message:
    match entry:
        case Said(role, text):
            return Message(role, text)
        case Turn(text=text):
            return Message("assistant", text)
        case Observed(call, text):
            return Message("user", f"Answer of {call.name or 'the tools'}:\n{text}")


def _call_schema(specs: Sequence[ToolSpec]) -> dict[str, Any]:
    alternatives = [
        {
            "type": "object",
            "properties": {
                "thought": {"type": "string"},
                "tool": {"const": spec.name},
                "arguments": dict(spec.parameters),
            },
            "required": ["thought", "tool", "arguments"],
            "additionalProperties": False,
        }
        for spec in specs
    ]
    return {"anyOf": alternatives}


def _grammar(schema: Mapping[str, Any]) -> str:
    # Only the embedded backend obeys grammars, so its library is loaded already.
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    grammar: str = json_schema_to_gbnf(json.dumps(schema), prop_order=["thought", "tool", "arguments"])
    return grammar
