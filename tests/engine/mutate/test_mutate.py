"""Mutations: what is found, and that edits are faithful."""

import ast
import heapq
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.engine.mutate import Mutation, MutationHints, mutate


def apply(source: str, mutation: Mutation) -> str:
    """The edit applied at its line by the plainest means."""
    lines = source.split("\n")
    search = mutation.edit.search.removesuffix("\n").split("\n")
    replace = mutation.edit.replace.removesuffix("\n").split("\n") if mutation.edit.replace else []
    assert mutation.edit.near_line is not None
    at = mutation.edit.near_line - 1
    assert lines[at : at + len(search)] == search
    return "\n".join(lines[:at] + replace + lines[at + len(search) :])


def everywhere(source: str, limit: int = 400, hints: MutationHints | None = None) -> list[str]:
    """All mutants of a source, every line equally suspicious."""
    lines = [(line, 1.0) for line in range(1, source.count("\n") + 2)]
    return [apply(source, mutation) for mutation in mutate(source, "m.py", lines, limit=limit, hints=hints)]


FUNCTION = "def f(a, b, xs):\n    {}\n"

CASES = [
    ("return a < b", "return a <= b"),
    ("return a is b", "return a is not b"),
    ("return len(xs) == 0", "return len(xs) <= 1"),
    ("return a & b", "return a | b"),
    ("a ^= b", "a &= b"),
    ("return a - b", "return b - a"),
    ("return 1 + f(a, b, xs)", "return f(a, b, xs)"),
    ("return [x for x in range(a)]", "return [x for x in range(a + 1)]"),
    ("return xs[a - 1]", "return xs[a]"),
    ("return f(a, b, xs[1:])", "return f(b, a, xs[1:])"),
    ("return xs[a, b]", "return xs[b, a]"),
    ("return any(xs)", "return all(xs)"),
    ("return a.incoming + b.outgoing", "return a.outgoing + b.outgoing"),
    ("return []", "return [a]"),
    ("return []", "return [[]]"),
    ("if a and b: return a", "if a or b: return a"),
    ("if a.next is None: return b", "if a is None or a.next is None: return b"),
    ("return (a + b) * 2", "return (a) * 2"),
    ("return not a", "return not b"),
    ("x = xs[1:]", "x = xs"),
    ("return a // b", "return a / b"),
    ("raise KeyError(a)", "raise IndexError(a)"),
]


@pytest.mark.parametrize(("before", "after"), CASES)
def test_an_expected_repair_is_among_the_mutants(before: str, after: str) -> None:
    assert FUNCTION.format(after) in everywhere(FUNCTION.format(before))


LOOPS = [
    (
        "def walk(queue):\n    while True:\n        x = queue.pop()\n        if x:\n            return x\n",
        "while True",
        "while queue",
    ),
    (
        "def f(xs):\n    seen = set()\n    for x in xs:\n        if x in seen:\n            return x\n",
        "            return x\n",
        "            return x\n        seen.add(x)\n",
    ),
    (
        "def f(xs):\n    last = None\n    for x in xs:\n        if last == x:\n            return x\n"
        "        print(x)\n",
        "        print(x)\n",
        "        print(x)\n        last = x\n",
    ),
    (
        "def f(text):\n    out = []\n    while len(text) > 3:\n        out.append(text[:3])\n"
        "        text = text[3:]\n    return out\n",
        "    return out\n",
        "    out.append(text)\n    return out\n",
    ),
    (
        "def f(xs):\n    best = 0\n    for x in xs:\n        best = x + 1\n    return best\n",
        "best = x + 1",
        "best = max(best, x + 1)",
    ),
    (
        "def f(xs):\n    depth = 0\n    for x in xs:\n        depth += 1\n    return True\n",
        "return True",
        "return depth == 0",
    ),
]


@pytest.mark.parametrize(("source", "old", "new"), LOOPS)
def test_repairs_that_need_the_flow_of_data(source: str, old: str, new: str) -> None:
    assert source.replace(old, new) in everywhere(source)


def test_only_suspicious_lines_change() -> None:
    source = "def f(a, b):\n    c = a + b\n    d = a < b\n    return c, d\n"
    mutants = mutate(source, "m.py", [(3, 1.0)], limit=100)
    assert mutants
    kept = [
        apply(source, mutation).split("\n")[1]
        for mutation in mutants
        if "\n    c = " not in mutation.edit.search
    ]
    assert kept and all(line == "    c = a + b" for line in kept)


def test_the_likelier_line_comes_first() -> None:
    source = "def f(a, b):\n    c = a < b\n    d = a < b\n    return c, d\n"
    first = mutate(source, "m.py", [(2, 0.2), (3, 1.0)], limit=1)[0]
    assert first.line == 3


def test_evidence_moves_the_right_kind_forward() -> None:
    source = (
        "def f(node):\n    while node.next.value < 3:\n        node = node.next\n    return node.value + 1\n"
    )
    lines = [(line, 1.0) for line in range(2, 5)]
    hints = MutationHints(("AttributeError",), ("'NoneType' object has no attribute 'next'",))
    assert mutate(source, "m.py", lines, limit=3, hints=hints)[0].operator == "none-guard"


def test_comments_quotes_and_non_ascii_text_stay() -> None:
    source = "def f(a, b):\n    # ein Kommentar äöü\n    é = 'ü' ; x = (a   <   b)  # warum\n    return x\n"
    assert source.replace("a   <   b", "a   <=   b") in everywhere(source)


def test_crlf_and_missing_final_newline() -> None:
    mutants = mutate("def f(a, b):\r\n    return a < b", "m.py", [(2, 1.0)], limit=50)
    assert "    return a <= b\n" in {mutation.edit.replace for mutation in mutants}


def test_what_is_not_python_has_no_mutants() -> None:
    assert mutate("def f(:\n", "m.py", [(1, 1.0)], limit=5) == []
    assert mutate("", "m.py", [], limit=5) == []


def test_same_seed_same_mutants() -> None:
    source = Path(textwrap.__file__).read_text(encoding="utf-8")
    lines = [(line, 1.0) for line in range(50, 120)]
    assert mutate(source, "m.py", lines, limit=30, seed=3) == mutate(source, "m.py", lines, limit=30, seed=3)


SOURCES = [Path(heapq.__file__), Path(textwrap.__file__), Path(__file__)]


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(SOURCES), st.data())
def test_every_mutant_parses_differs_and_keeps_the_other_lines(path: Path, data: st.DataObject) -> None:
    source = path.read_text(encoding="utf-8")
    count = source.count("\n")
    start = data.draw(st.integers(1, count))
    lines = [(line, 1.0) for line in range(start, min(start + 15, count))]
    mutants = mutate(source, "m.py", lines, limit=30)
    texts = [apply(source, mutation) for mutation in mutants]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert text != source
        ast.parse(text)


def test_observed_types_leave_out_what_cannot_stand_there() -> None:
    source = "def f(count, names, other):\n    return count\n"
    types = {
        "m.py": {1: {"count": frozenset({"int"}), "names": frozenset({"list"}), "other": frozenset({"int"})}}
    }
    mutants = everywhere(source, hints=MutationHints(types=types))
    assert source.replace("return count", "return other") in mutants
    assert source.replace("return count", "return names") not in mutants
