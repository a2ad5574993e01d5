"""`traverse_graph`: order, cycles, filters, and what a short budget leaves."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.localize.graph.model import Direction, RelationKind
from codeforge.localize.model import EntityKind
from codeforge.localize.tools import traverse as module
from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.results import TraversalResult
from codeforge.localize.tools.toolbox import Toolbox
from codeforge.localize.tools.traverse import Limits, Step, traverse
from tests.localize.tools.conftest import ADMIN, CART, PRICING
from tests.localize.tools.memory_graph import MemoryIndex

WIDE = Budget(10_000)
CALLS = (RelationKind.INVOKES,)


def walk(toolbox: Toolbox, *starts: str, budget: Budget = WIDE, **limits: object) -> TraversalResult:
    return toolbox.traverse_graph(starts, budget, Limits(**limits))  # type: ignore[arg-type]


def test_a_tree_that_a_model_reads(toolbox: Toolbox) -> None:
    result = walk(toolbox, f"{PRICING}:apply_discount", direction=Direction.BACKWARD, hops=2)
    assert result.text.splitlines() == [
        f"{PRICING}:apply_discount (function, lines 5-7)",
        f"├─ imported by: {CART}",
        "│  └─ contained in: src/shop/",
        f"├─ invoked by: {CART}:Cart.total (function, lines 26-28)",
        f"│  └─ contained in: {CART}:Cart (class, lines 11-28)",
        f"└─ contained in: {PRICING}",
        "   └─ contained in: src/shop/",
    ]


def test_hops_and_depths(toolbox: Toolbox) -> None:
    result = walk(toolbox, "/", relations=(RelationKind.CONTAINS,), hops=2)
    assert {(item.entity.id, item.depth) for item in result.reached} == {
        ("/", 0),
        ("docs/", 1),
        ("docs/guide.md", 2),
        ("src/", 1),
        ("src/shop/", 2),
        ("tests/", 1),
        ("tests/test_cart.py", 2),
    }
    assert len(walk(toolbox, "/", hops=0).reached) == 1


def test_weak_edges_only_when_asked_for_and_marked(toolbox: Toolbox) -> None:
    start = "tests/test_cart.py:test_total"
    assert "add" not in walk(toolbox, start, relations=CALLS).text
    result = walk(toolbox, start, relations=CALLS, weak=True)
    assert f"invokes (weak): {CART}:Cart.add" in result.text
    assert [edge.weak for edge in result.edges] == [True, False, True]


def test_several_edges_to_one_entity_are_one_line(toolbox: Toolbox) -> None:
    text = walk(toolbox, "tests/test_cart.py:test_total").text
    assert text.count(f"{CART}:Cart ") == 1 and "invokes, tests: " in text


def test_kinds_that_are_not_followed_are_counted(toolbox: Toolbox) -> None:
    text = walk(toolbox, "src/shop/", kinds=[EntityKind.CLASS], hops=-1).text
    assert "4 neighbours of other kinds were not followed" in text


def test_both_directions_keep_their_sense(toolbox: Toolbox) -> None:
    result = walk(toolbox, f"{CART}:Cart.total", direction=Direction.BOTH, hops=-1)
    reached = {item.entity.id for item in result.reached}
    assert {f"{PRICING}:Rate", "/"} <= reached
    assert f"{CART}:Cart.add" not in reached  # a sibling: up, and down again


def test_unknown_starts_are_told_and_the_others_followed(toolbox: Toolbox) -> None:
    result = walk(toolbox, f"{CART}:Cart.totl", "AdminCart")
    assert f"`{CART}:Cart.total`" in result.error
    assert result.reached[0].entity.id == f"{ADMIN}:AdminCart"
    assert "was taken as" in result.text and result.error in result.text
    nothing = walk(toolbox, "nope.py")
    assert not nothing.reached and nothing.text == nothing.error
    assert walk(toolbox).error


def test_cycles_end_and_are_marked(tmp_path: Path) -> None:
    index = _functions(tmp_path, 3, ["0 1", "1 2", "2 0"])
    text = Toolbox(index, tmp_path).traverse_graph(["f.py:f0"], WIDE, Limits(hops=-1, relations=CALLS)).text
    assert text.splitlines() == [
        "f.py:f0 (function, lines 1-2)",
        "└─ invokes: f.py:f1 (function, lines 3-4)",
        "   └─ invokes: f.py:f2 (function, lines 5-6)",
        "      └─ invokes: f.py:f0 (function, lines 1-2) (expanded elsewhere)",
    ]


def test_a_long_chain_needs_no_recursion(tmp_path: Path) -> None:
    index = _functions(tmp_path, 1_500, [f"{n} {n + 1}" for n in range(1_499)])
    result = Toolbox(index, tmp_path).traverse_graph(
        ["f.py:f0"], Budget(500), Limits(hops=-1, relations=CALLS)
    )
    assert len(result.reached) == 1_500
    assert Budget(500).fits(result.text) and "[+" in result.text


def test_the_widest_levels_are_summarised(tmp_path: Path) -> None:
    index = _functions(tmp_path, 60, [f"0 {n}" for n in range(1, 50)] + ["1 50", "50 51"])
    toolbox = Toolbox(index, tmp_path)
    text = toolbox.traverse_graph(["f.py:f0"], Budget(250), Limits(hops=-1, relations=CALLS)).text
    assert Budget(250).fits(text)
    shown = len(re.findall(r"invokes: f.py:f\d+ ", text))
    hidden = re.search(r"└─ … (\d+) more functions in 1 file", text)
    assert hidden and shown + int(hidden[1]) == 51
    assert "f.py:f51" in text  # depth is kept while three of each level fit


def test_room_that_is_left_shows_children_without_what_is_below(tmp_path: Path) -> None:
    calls = [f"0 {n}" for n in range(1, 9)] + [f"{n} {10 * n + k}" for n in range(1, 9) for k in range(9)]
    index = _functions(tmp_path, 100, calls)
    text = (
        Toolbox(index, tmp_path)
        .traverse_graph(["f.py:f0"], Budget(420), Limits(hops=2, relations=CALLS))
        .text
    )
    assert Budget(420).fits(text)
    assert "f.py:f4 (function, lines 9-10) [+9]" in text and "[+n]: n entries below" in text
    assert Budget(420).count(text) > 300


def test_too_many_are_said(toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 5)
    result = walk(toolbox, "/", hops=-1)
    assert not result.complete and len(result.reached) == 5 and "stopped after" in result.text


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40),
    hops=st.integers(-1, 4),
    direction=st.sampled_from(Direction),
    most=st.integers(1, 400),
)
def test_reached_is_what_breadth_first_search_reaches(
    edges: list[tuple[int, int]],
    hops: int,
    direction: Direction,
    most: int,
) -> None:
    index = _functions(None, 10, [f"{a} {b}" for a, b in edges])
    limits = Limits(direction, hops, relations=CALLS)
    result = Toolbox(index, Path("/nowhere")).traverse_graph(["f.py:f0"], Budget(most), limits)
    expected: dict[int, int] = {}
    for sense in ("forward", "backward"):
        if direction in (sense, "both"):
            for node, depth in _distances(edges, sense == "forward", hops).items():
                expected[node] = min(depth, expected.get(node, depth))
    assert {(item.entity.id, item.depth) for item in result.reached} == {
        (f"f.py:f{node}", depth) for node, depth in expected.items()
    }
    assert Budget(most).fits(result.text)
    assert all(
        step.below == sum(1 + child.below for child in step.children) for step in _steps(index, limits)
    )


def _steps(index: MemoryIndex, limits: Limits) -> Sequence[Step]:
    start = index.graph.find("f.py:f0")
    assert start is not None
    return traverse(index.graph, [start], limits).steps


def _functions(root: Path | None, count: int, calls: list[str]) -> MemoryIndex:
    """One file with functions f0, f1, … that call each other."""
    text = "".join(f"def f{number}():\n    pass\n" for number in range(count))
    edges = ["f.py:f{} invokes f.py:f{}".format(*call.split()) for call in calls]
    return MemoryIndex(root or Path("/nowhere"), {"f.py": text}, edges)


def _distances(edges: list[tuple[int, int]], forward: bool, hops: int) -> dict[int, int]:
    found, border = {0: 0}, [0]
    while border and (hops < 0 or found[border[0]] < hops):
        reached = []
        for node in border:
            for a, b in edges:
                source, target = (a, b) if forward else (b, a)
                if source == node and target not in found:
                    found[target] = found[node] + 1
                    reached.append(target)
        border = reached
    return found
