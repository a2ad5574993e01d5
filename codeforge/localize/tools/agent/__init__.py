"""The tools as agents call them: by name, with arguments as JSON. Each has an `.md` and a `.json` file."""

from codeforge.localize.tools.agent.calls import GraphTools, ToolResult
from codeforge.localize.tools.agent.spec import ToolSpec

__all__ = ["GraphTools", "ToolResult", "ToolSpec"]
