"""`GraphTools`: runs the tool that a model calls, and answers in text."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from codeforge.context.compiler import CountTokens
from codeforge.localize.graph.model import Direction, RelationKind
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.agent.arguments import BadArgumentsError, read_arguments
from codeforge.localize.tools.agent.spec import TOOL_NAMES, ToolSpec, load_spec
from codeforge.localize.tools.budget import Budget, estimate_tokens
from codeforge.localize.tools.views import View
from codeforge.localize.tools.workspace import GraphWorkspace


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a model is answered; with `is_error` the text says what to do otherwise."""

    text: str
    is_error: bool = False


class GraphTools:
    """The tools of a workspace for one agent.

    Args:
        workspace: where they work.
        max_tokens: the most tokens of one answer.
        count_tokens: counts them; by default an upper estimate.
    """

    def __init__(
        self,
        workspace: GraphWorkspace,
        max_tokens: int = 4_000,
        count_tokens: CountTokens = estimate_tokens,
    ) -> None:
        self._workspace = workspace
        self._budget = Budget(max_tokens, count_tokens)
        self._calls: dict[str, Callable[[dict[str, Any]], Awaitable[ToolResult]]] = {
            "search_entity": self._search,
            "traverse_graph": self._traverse,
            "retrieve_entity": self._retrieve,
        }

    def specs(self) -> Sequence[ToolSpec]:
        """What the model is told of them."""
        return tuple(load_spec(name) for name in TOOL_NAMES)

    async def call(self, name: str, arguments_json: str) -> ToolResult:
        """Run a tool. A model's mistake is answered, never raised.

        Raises:
            CodeforgeError: there is no index.
        """
        called = self._calls.get(name)
        if called is None:
            return self._refusal(f"There is no tool `{name}`. The tools: {', '.join(TOOL_NAMES)}.")
        try:
            arguments = read_arguments(load_spec(name), arguments_json)
        except BadArgumentsError as error:
            return self._refusal(str(error))
        return await called(arguments)

    def _refusal(self, text: str) -> ToolResult:
        return ToolResult(self._budget.clip(text), is_error=True)

    async def _search(self, arguments: dict[str, Any]) -> ToolResult:
        view = arguments.get("view", "auto")
        result = await self._workspace.search_entity(
            arguments["keywords"],
            kinds=[EntityKind(kind) for kind in arguments.get("kinds", ())],
            path=arguments.get("path", ""),
            limit=arguments.get("limit", 10),
            view=None if view == "auto" else View(view),
            budget=self._budget,
        )
        return ToolResult(result.text, bool(result.error))

    async def _traverse(self, arguments: dict[str, Any]) -> ToolResult:
        result = await self._workspace.traverse_graph(
            arguments["start_ids"],
            direction=Direction(arguments.get("direction", "forward")),
            hops=arguments.get("hops", 1),
            kinds=[EntityKind(kind) for kind in arguments.get("kinds", ())],
            relations=[RelationKind(relation) for relation in arguments.get("relations", ())],
            weak=arguments.get("weak", False),
            budget=self._budget,
        )
        return ToolResult(result.text, not result.reached)

    async def _retrieve(self, arguments: dict[str, Any]) -> ToolResult:
        result = await self._workspace.retrieve_entity(arguments["ids"], budget=self._budget)
        return ToolResult(result.text, not result.entities)
