"""`ToolSpec`: what a model is told of a tool, read from the files beside this one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent

TOOL_NAMES = ("search_entity", "traverse_graph", "retrieve_entity")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool.

    Attributes:
        name: what it is called by.
        version: raised with each change of its description or parameters.
        description: for the model, Markdown.
        parameters: the JSON schema (draft 2020-12) of its arguments.
    """

    name: str
    version: int
    description: str
    parameters: Mapping[str, Any]

    def to_openai(self) -> dict[str, Any]:
        """As the `tools` of a chat completion take it."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


@cache
def load_spec(name: str) -> ToolSpec:
    """Read a tool's `.md` and `.json`."""
    data = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    description = (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
    return ToolSpec(name, data["version"], description, data["parameters"])
