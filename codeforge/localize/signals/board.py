"""`Board`: what the signals write on, one column each."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from codeforge.localize.graph.code_graph import CodeGraph
from codeforge.localize.graph.nodes import CLASS, DIRECTORY, FILE, ROLES
from codeforge.localize.index import CodeIndex
from codeforge.localize.mentions import Mentions
from codeforge.localize.query import LocateQuery
from codeforge.localize.roles import FileRole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]
    Ints = NDArray[np.int32]


class Board:
    """Columns over the nodes (float32, shape (nodes,)) and over the blocks, which are files and directories
    (shape (blocks,)), by name; 0 where a signal says nothing.

    Args:
        index: of the tree.
        query: what is asked.
    """

    def __init__(self, index: CodeIndex, query: LocateQuery) -> None:
        self.index = index
        self.graph: CodeGraph = index.graph
        self.rows = index.graph.rows
        self.query = query
        failed = "\n".join(failure.message for failure in query.failures)
        self.mentions = Mentions(f"{query.text}\n{failed}" if failed else query.text)
        self.words: Mapping[str, float] = self.mentions.words
        """The words of the text with their weights for BM25."""
        self.nodes: dict[str, Floats] = {}
        self.blocks: dict[str, Floats] = {}
        self.details: dict[tuple[str, int], str] = {}
        self.named: set[int] = set()
        """The nodes of files that the text names: their role costs them nothing."""

    def column(self, name: str) -> "Floats":
        """The column over the nodes, made when it isn't there."""
        import numpy as np

        if name not in self.nodes:
            self.nodes[name] = np.zeros(len(self.rows), np.float32)
        return self.nodes[name]

    def add(self, name: str, node: int, value: float, detail: str) -> None:
        """Add to one node; the detail of the largest addition is kept."""
        column = self.column(name)
        if column[node] == 0 or (name, node) not in self.details:
            self.details[name, node] = detail
        column[node] += value

    def raise_to(self, name: str, node: int, value: float, detail: str) -> None:
        """Set one node to `value` unless it has more."""
        column = self.column(name)
        if value > column[node]:
            column[node] = value
            self.details[name, node] = detail

    @cached_property
    def is_test(self) -> "Flags":
        """By node, whether its file is a test."""
        found: Flags = self.rows.role == ROLES.index(FileRole.TEST)
        return found

    @cached_property
    def is_entity(self) -> "Flags":
        """By node, whether it is a class or a function that is still there."""
        found: Flags = (self.rows.kind >= CLASS) & self.rows.alive
        return found

    @cached_property
    def files(self) -> "Ints":
        """The nodes of files that are still there, in the order of the nodes."""
        import numpy as np

        return np.flatnonzero((self.rows.kind == FILE) & self.rows.alive).astype(np.int32)

    @cached_property
    def has_entities(self) -> "Flags":
        """By block, whether the file has classes or functions."""
        import numpy as np

        found = np.zeros(len(self.rows.paths), np.bool_)
        found[self.rows.block[self.is_entity]] = True
        return found

    @cached_property
    def is_directory(self) -> "Flags":
        """By node."""
        found: Flags = self.rows.kind == DIRECTORY
        return found


def relative(values: "Floats") -> "Floats":
    """The values divided by the largest."""
    top = float(values.max()) if len(values) else 0.0
    return values / top if top > 0 else values
