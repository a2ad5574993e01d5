"""The three tools of LocAgent (Chen et al. 2025, arXiv 2503.09089) over the code graph.

`open_workspace` is the Python API, `GraphTools` the same for agents.
"""

from codeforge.localize.tools.agent import GraphTools, ToolResult, ToolSpec
from codeforge.localize.tools.budget import Budget, estimate_tokens
from codeforge.localize.tools.results import RetrievalResult, SearchResult, TraversalResult
from codeforge.localize.tools.search import LexicalSearch
from codeforge.localize.tools.views import View
from codeforge.localize.tools.workspace import GraphWorkspace, open_workspace

__all__ = [
    "Budget",
    "GraphTools",
    "GraphWorkspace",
    "LexicalSearch",
    "RetrievalResult",
    "SearchResult",
    "ToolResult",
    "ToolSpec",
    "TraversalResult",
    "View",
    "estimate_tokens",
    "open_workspace",
]
