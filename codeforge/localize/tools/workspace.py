"""`open_workspace`: the code graph of a tree and its tools, for asynchronous callers."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from codeforge.localize.graph.model import Direction, GraphStats, GraphView, RelationKind
from codeforge.localize.model import EntityKind
from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.results import RetrievalResult, SearchResult, TraversalResult
from codeforge.localize.tools.toolbox import GraphIndex, Toolbox
from codeforge.localize.tools.traverse import Limits
from codeforge.localize.tools.views import View

OpenIndex = Callable[[], AbstractContextManager[GraphIndex]]
"""Opens an index that is up to date; leaving it closes it."""
DEFAULT_BUDGET = Budget(4_000)

_T = TypeVar("_T")


class GraphWorkspace:
    """The tools over a tree. The index is opened at the first question, in a thread of its own in which all
    questions are answered one after the other (an SQLite connection belongs to one thread).

    Args:
        open_index: makes the index.
        root: what ids are relative to.
    """

    def __init__(self, open_index: OpenIndex, root: Path) -> None:
        self.root = root
        self._open_index = open_index
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="codeforge-graph")
        self._opened: tuple[ExitStack, GraphIndex, Toolbox] | None = None

    async def search_entity(
        self,
        keywords: Sequence[str],
        *,
        kinds: Collection[EntityKind] = (),
        path: str = "",
        limit: int = 10,
        view: View | None = None,
        budget: Budget = DEFAULT_BUDGET,
    ) -> SearchResult:
        """The entities that keywords mean: by exact id, `path:line`, name or end of a qualified name or path;
        where there is none, by similar name and by content (BM25).

        Args:
            keywords: what to look for; each is given its share of the hits.
            kinds: only these kinds; all when empty.
            path: a glob as in a `.gitignore` that paths must match; "" for all.
            limit: the most hits.
            view: how to show them; `None` chooses by how many and how good they are.
            budget: of the text.
        """
        return await self._with_tools(
            lambda tools: tools.search_entity(keywords, budget, kinds, path, limit, view)
        )

    async def traverse_graph(
        self,
        start_ids: Sequence[str],
        *,
        direction: Direction = Direction.FORWARD,
        hops: int = 1,
        kinds: Collection[EntityKind] = (),
        relations: Collection[RelationKind] = (),
        weak: bool = False,
        budget: Budget = DEFAULT_BUDGET,
    ) -> TraversalResult:
        """What is reached from entities along edges, breadth first; see `traverse.Limits`."""
        limits = Limits(direction, hops, kinds, relations, weak)
        return await self._with_tools(lambda tools: tools.traverse_graph(start_ids, budget, limits))

    async def retrieve_entity(
        self, ids: Sequence[str], *, budget: Budget = DEFAULT_BUDGET
    ) -> RetrievalResult:
        """The source of entities with line numbers; `path:FIRST-LAST` gives lines of a file."""
        return await self._with_tools(lambda tools: tools.retrieve_entity(ids, budget))

    async def stats(self) -> GraphStats:
        """Counts of nodes and edges."""
        return await self.read(lambda graph: graph.stats())

    async def read(self, question: Callable[[GraphView], _T]) -> _T:
        """What `question` answers, asked in the thread of the index."""
        return await self._run(lambda: self._healed(lambda: question(self._open()[1].graph)))

    async def notices(self) -> tuple[str, ...]:
        """What the user should know of the index."""
        return await self._run(lambda: tuple(self._open()[1].notices))

    async def refresh(self) -> None:
        """Forget the index; the next question opens it anew, with the files as they are then."""
        await self._run(self._close_index)

    async def close(self) -> None:
        """Close the index and end the thread."""
        try:
            await self._run(self._close_index)
        finally:
            self._thread.shutdown(wait=False)

    def abandon(self) -> None:
        """Wait for nothing: the thread ends with the job that it is at, and closes the index then."""
        self._thread.submit(self._close_index)
        self._thread.shutdown(wait=False)

    async def _with_tools(self, question: Callable[[Toolbox], _T]) -> _T:
        return await self._run(lambda: self._healed(lambda: question(self._open()[2])))

    async def _run(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def _healed(self, job: Callable[[], _T]) -> _T:
        """Do a job; when the index turns out to be damaged meanwhile, once more with one that is made
        anew."""
        from codeforge.localize.database import IndexDamagedError, discard_index

        try:
            return job()
        except (sqlite3.DatabaseError, IndexDamagedError):
            self._close_index()
            discard_index(self.root)
            return job()

    def _open(self) -> tuple[ExitStack, GraphIndex, Toolbox]:
        if self._opened is None:
            with ExitStack() as stack:
                index = stack.enter_context(self._open_index())
                toolbox = Toolbox(index, self.root)
                self._opened = stack.pop_all(), index, toolbox
        return self._opened

    def _close_index(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()


@asynccontextmanager
async def open_workspace(root: Path, open_index: OpenIndex | None = None) -> AsyncIterator[GraphWorkspace]:
    """The workspace of the tree below `root`; by default over its `CodeIndex`.

    Raises:
        CodeforgeError: at the first question, when there can be no index.
    """
    workspace = GraphWorkspace(open_index or (lambda: _code_index(root)), root)
    try:
        yield workspace
    except asyncio.CancelledError:
        workspace.abandon()
        raise
    except BaseException:
        await asyncio.shield(workspace.close())
        raise
    await asyncio.shield(workspace.close())


def _code_index(root: Path) -> AbstractContextManager[GraphIndex]:
    from codeforge.localize.files import list_files
    from codeforge.localize.index import CodeIndex

    return CodeIndex.open(root, list_files(root))
