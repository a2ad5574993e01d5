"""Hosted models with what agents use beyond chat: tool calling, and answers held to a JSON schema."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.agent.conversation import Entry, Observed, Said, ToolCall, Turn
from codeforge.localize.tools.agent import ToolSpec
from codeforge.models.litellm_model import LiteLLMModel, import_litellm
from codeforge.models.protocol import ChatRequest, Message
from codeforge.models.sampling import SampleSpec


class HostedAgentModel(LiteLLMModel):
    """A `ToolModel` and a `SchemaModel`.

    Args:
        name: `provider/model` as litellm knows it.
        api_base: the server's address, for servers of one's own.
        context_window: tokens; None: what litellm knows.
        tools: whether it has tool calling; None: what litellm knows (nothing of servers of one's own).
        extra: further arguments of every request.
    """

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        context_window: int | None = None,
        tools: bool | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, api_base=api_base, context_window=context_window)
        self._tools = tools
        self._extra = dict(extra or {})

    @property
    def supports_tools(self) -> bool:
        """See `ToolModel`."""
        if self._tools is None:
            self._tools = bool(import_litellm().supports_function_calling(model=self.name))
        return self._tools

    def with_schema(self, name: str, schema: Mapping[str, Any]) -> "HostedAgentModel":
        """See `SchemaModel`."""
        if not import_litellm().supports_response_schema(model=self.name):
            return self
        json_schema = {"name": name, "schema": dict(schema)}
        return HostedAgentModel(
            self.name,
            api_base=self._api_base,
            context_window=self._context_window,
            tools=self._tools,
            extra={"response_format": {"type": "json_schema", "json_schema": json_schema}},
        )

    def call_tools(
        self, conversation: Sequence[Entry], specs: Sequence[ToolSpec], spec: SampleSpec, max_tokens: int
    ) -> Turn:
        """See `ToolModel`.

        Raises:
            ContextOverflowError: the server says that the conversation is too long.
            EnvironmentUnavailableError: the key, the request or the server will not do.
        """
        litellm = import_litellm()
        started = time.monotonic()
        # For the estimate of what it cost, where the server doesn't tell.
        plain = tuple(Message("user", _text(entry)) for entry in conversation)
        request = ChatRequest(plain, max_tokens, spec.temperature, seed=spec.seed)
        arguments = self._arguments(request) | {
            "messages": [_as_openai(entry) for entry in conversation],
            "tools": [tool.to_openai() for tool in specs],
        }
        if len(specs) == 1:
            arguments["tool_choice"] = {"type": "function", "function": {"name": specs[0].name}}
        chunks = list(self._received(litellm, arguments))
        built = litellm.stream_chunk_builder(chunks) if chunks else None
        if built is None or not built.choices or not built.choices[0].finish_reason:
            raise EnvironmentUnavailableError(
                f"{self.name} broke off in its answer.",
                kept="the steps before it are kept",
                hint="try again; the connection or the server failed",
            )
        message = built.choices[0].message
        text = message.content or ""
        calls = tuple(
            ToolCall(call.id or f"call-{len(conversation)}-{place}", call.function.name or "", _json(call))
            for place, call in enumerate(message.tool_calls or ())
        )
        usage = next((chunk.usage for chunk in reversed(chunks) if getattr(chunk, "usage", None)), None)
        spent = self._usage(litellm, usage, request, text + "".join(call.arguments for call in calls))
        names = ", ".join(tool.name for tool in specs)
        problem = "" if calls else f"That answer calls no tool. Call one of them: {names}."
        written = "\n".join([*([text] if text else []), *(f"{call.name} {call.arguments}" for call in calls)])
        return Turn(text, calls, written, problem, spent, time.monotonic() - started)

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        return super()._arguments(request) | self._extra


def _json(call: Any) -> str:
    arguments = call.function.arguments
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _text(entry: Entry) -> str:
    if isinstance(entry, Turn):
        return entry.text + "".join(call.arguments for call in entry.calls)
    return entry.text


def _as_openai(entry: Entry) -> dict[str, Any]:
    match entry:
        case Said(role, text):
            return {"role": role, "content": text}
        case Turn(text=text, calls=()):
            return {"role": "assistant", "content": text}
        case Turn(text=text, calls=calls):
            called = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in calls
            ]
            return {"role": "assistant", "content": text or None, "tool_calls": called}
        case Observed(call, text):
            return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text}
