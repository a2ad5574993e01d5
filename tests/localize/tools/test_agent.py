"""The tools as an agent calls them."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.graph.model import Direction, RelationKind
from codeforge.localize.model import EntityKind
from codeforge.localize.tools import Budget, GraphTools, ToolResult, View, open_workspace
from codeforge.localize.tools.agent.spec import TOOL_NAMES, load_spec
from tests.localize.tools.conftest import CART, PRICING
from tests.localize.tools.memory_graph import MemoryIndex


def call(index: MemoryIndex, root: Path, name: str, arguments: object, max_tokens: int = 4_000) -> ToolResult:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)

    async def run() -> ToolResult:
        async with open_workspace(root, index.opened) as workspace:
            return await GraphTools(workspace, max_tokens).call(name, text)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("search_entity", {"keywords": ["Cart.add"], "limit": 1}, "self.items.append(item)"),
        ("search_entity", {"keywords": ["Cart.add"], "view": "fold"}, "lines 20-24"),
        ("search_entity", {"keywords": "Cart.add", "limit": "1", "path": None}, "self.items.append(item)"),
        ("traverse_graph", {"start_ids": [f"{CART}:Cart.total"]}, f"invokes: {PRICING}:apply_discount"),
        (
            "traverse_graph",
            {
                "start_ids": '["/"]',
                "direction": "forward",
                "hops": "-1",
                "weak": "true",
                "relations": "contains",
            },
            "contains: docs/guide.md",
        ),
        ("retrieve_entity", {"ids": [f"{CART}:Cart.add"]}, "20|     def add(self, item):"),
    ],
)
def test_calls(index: MemoryIndex, tmp_path: Path, name: str, arguments: object, expected: str) -> None:
    result = call(index, tmp_path, name, arguments)
    assert not result.is_error and expected in result.text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("find", {}, "The tools: search_entity, traverse_graph, retrieve_entity"),
        ("search_entity", "{", "not valid JSON"),
        ("search_entity", "[1]", "must be one JSON object"),
        ("search_entity", {}, "`keywords` is missing"),
        ("search_entity", {"keywords": None}, "`keywords`"),
        ("search_entity", {"keywords": [3]}, "`keywords[0]`: 3 is not of type 'string'"),
        ("search_entity", {"keywords": []}, "`keywords`"),
        ("search_entity", {"keyword": "x"}, "there is no argument `keyword` (do you mean `keywords`?)"),
        ("search_entity", {"keywords": ["x"], "kinds": ["method"]}, "must be one of directory, file, class"),
        ("search_entity", {"keywords": ["x"], "limit": "many"}, "`limit`: 'many' is not of type 'integer'"),
        ("search_entity", {"keywords": ["x"], "path": "nowhere/"}, "No file matches the path glob"),
        ("traverse_graph", {"start_ids": ["x"], "hops": -2}, "`hops`: -2 is less than the minimum"),
        ("traverse_graph", {"start_ids": ["nope.py"]}, "There is no entity `nope.py`"),
        ("retrieve_entity", {"ids": [f"{CART}:Cart.totl"]}, f"`{CART}:Cart.total`"),
    ],
)
def test_mistakes_are_answered(
    index: MemoryIndex, tmp_path: Path, name: str, arguments: object, told: str
) -> None:
    result = call(index, tmp_path, name, arguments)
    assert result.is_error and told in result.text


def test_every_answer_keeps_to_the_budget(index: MemoryIndex, tmp_path: Path) -> None:
    for name, arguments in (
        ("search_entity", {"keywords": ["Cart", "add", "discount"]}),
        ("traverse_graph", {"start_ids": ["/"], "hops": -1}),
        ("retrieve_entity", {"ids": [CART, PRICING, "nope", "nope2"]}),
        ("retrieve_entity", {"id": "x"}),
    ):
        for most in (1, 20, 80, 200):
            assert Budget(most).fits(call(index, tmp_path, name, arguments, most).text)


def test_specs_are_what_models_take() -> None:
    from jsonschema import Draft202012Validator

    for name in TOOL_NAMES:
        spec = load_spec(name)
        Draft202012Validator.check_schema(dict(spec.parameters))
        function = spec.to_openai()["function"]
        assert json.loads(json.dumps(function))["name"] == name
        for line in spec.description.splitlines():
            for example in [line[line.index("`{") + 1 : line.rindex("`")]] if "`{" in line else []:
                Draft202012Validator(dict(spec.parameters)).validate(json.loads(example))


def test_schemas_name_all_kinds() -> None:
    search, traverse = load_spec("search_entity").parameters, load_spec("traverse_graph").parameters
    assert search["properties"]["kinds"]["items"]["enum"] == [str(kind) for kind in EntityKind]
    assert search["properties"]["view"]["enum"] == ["auto", *(v for v in View if v is not View.OUTLINE)]
    assert traverse["properties"]["kinds"]["items"]["enum"] == [str(kind) for kind in EntityKind]
    assert traverse["properties"]["relations"]["items"]["enum"] == [str(kind) for kind in RelationKind]
    assert traverse["properties"]["direction"]["enum"] == [str(direction) for direction in Direction]


def test_the_index_lives_in_one_thread_and_is_opened_when_needed(index: MemoryIndex, tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    @contextmanager
    def opened() -> Iterator[MemoryIndex]:
        seen.append(("open", threading.get_ident()))
        yield index
        seen.append(("close", threading.get_ident()))

    async def run() -> None:
        async with open_workspace(tmp_path, opened) as workspace:
            assert not seen
            await asyncio.gather(*(workspace.search_entity(["Cart"]) for _ in range(4)))
            assert (await workspace.stats()).weak == 2
            await workspace.refresh()
            await workspace.retrieve_entity(["/"])

    asyncio.run(run())
    assert [what for what, _ in seen] == ["open", "close", "open", "close"]
    assert len({thread for _, thread in seen}) == 1 and seen[0][1] != threading.get_ident()


def test_no_index_is_an_error_and_not_an_answer(tmp_path: Path) -> None:
    def broken() -> None:
        raise EnvironmentUnavailableError("There is no disk.")

    async def run() -> None:
        async with open_workspace(tmp_path, broken) as workspace:  # type: ignore[arg-type]
            await GraphTools(workspace).call("retrieve_entity", '{"ids": ["/"]}')

    with pytest.raises(EnvironmentUnavailableError):
        asyncio.run(run())
