"""The graph tools for a caller that waits: agents run in one thread, the index answers in another."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from codeforge.context.compiler import CountTokens
from codeforge.localize.agent.finish import NamedPlaces, Suggested, finish_spec, resolve_places
from codeforge.localize.tools import GraphTools, GraphWorkspace, ToolResult, ToolSpec
from codeforge.localize.tools.workspace import OpenIndex


class GraphDesk:
    """The tools of a tree, and the ids of its graph. A context manager; Ctrl-C ends a call.

    Args:
        root: the repository.
        open_index: opens its index.
        observation_tokens: the most tokens of one answer.
        count_tokens: counts them.

    Raises:
        CodeforgeError: at the first call, when there can be no index.
    """

    def __init__(
        self, root: Path, open_index: OpenIndex, observation_tokens: int, count_tokens: CountTokens
    ) -> None:
        self._root = root
        self._runner = asyncio.Runner()
        self._workspace = GraphWorkspace(open_index, root)
        self._tools = GraphTools(self._workspace, observation_tokens, count_tokens)
        self.observation_tokens = observation_tokens

    def __enter__(self) -> "GraphDesk":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._workspace.close())
        finally:
            self._runner.close()

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools, `finish` the last."""
        return (*self._tools.specs(), finish_spec())

    def call(self, name: str, arguments: str) -> ToolResult:
        """Run a tool of the graph. A model's mistake is answered, never raised."""
        return self._runner.run(self._tools.call(name, arguments))

    def resolve(self, places: Sequence[Suggested]) -> NamedPlaces:
        """What the ids of `finish` mean."""
        return self._runner.run(self._workspace.read(lambda graph: resolve_places(graph, self._root, places)))
