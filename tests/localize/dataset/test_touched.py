"""Edits, and what they touch."""

import difflib
import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff import PatchSet

from codeforge.localize.dataset.touched import (
    Edit,
    apply_edits,
    edits_of,
    split_lines,
    touched_entities,
)

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "-d", "+e", "é"]), max_size=12)


def edits_between(old: Sequence[str], new: Sequence[str], context: int) -> list[Edit]:
    ends = ([f"{line}\n" for line in old], [f"{line}\n" for line in new])
    text = "".join(difflib.unified_diff(*ends, "a/x", "b/x", n=context))
    patches = PatchSet(io.StringIO(text, newline="\n"))
    return edits_of(patches[0]) if patches else []


@given(LINES, LINES, st.integers(0, 4))
def test_edits_of_a_diff_make_the_new_text(old: list[str], new: list[str], context: int) -> None:
    assert apply_edits(old, edits_between(old, new, context)) == new


@given(LINES, LINES, st.integers(1, 4))
def test_context_makes_no_difference(old: list[str], new: list[str], context: int) -> None:
    bare = edits_between(old, new, 0)
    assert apply_edits(old, bare) == apply_edits(old, edits_between(old, new, context))
    assert sum(len(edit.removed) for edit in bare) == sum(
        len(edit.removed) for edit in edits_between(old, new, context)
    )


def test_edits_for_other_lines_are_refused() -> None:
    assert apply_edits(["a", "b"], [Edit(1, ("b",), ("c",))]) is None
    assert apply_edits(["a", "b"], [Edit(2, ("b",), ()), Edit(1, ("a",), ())]) is None
    assert apply_edits(["a"], [Edit(9, ("z",), ())]) is None
    assert touched_entities("a.py", b"x = 1\n", [Edit(1, ("y = 1",), ("y = 2",))]) is None


@given(st.binary(max_size=40))
def test_lines_are_counted_as_git_does(raw: bytes) -> None:
    lines = split_lines(raw)
    assert len(lines) == raw.count(b"\n") + (not raw.endswith(b"\n") and raw != b"")
    joined = "\n".join(lines).encode("utf-8", "surrogateescape")
    assert joined == raw.removesuffix(b"\n")


SOURCE = """\
import os


class A:
    x = 1

    def one(self):
        # why
        return 1

    def two(self):
        return [
            2,

            3,
        ]


if os:
    def f():
        return 1
else:
    def f():
        return 2
"""


def touched(old: str, new: str, path: str = "a.py", text: str = SOURCE) -> tuple[list[str], list[str]] | None:
    assert old in text
    before = text.split("\n")[:-1]
    after = text.replace(old, new).split("\n")[:-1]
    found = touched_entities(path, text.encode(), edits_between(before, after, 0))
    if found is None:
        return None
    return [f.split(":")[1] for f in found.functions], [c.split(":")[1] for c in found.classes]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return 1\n\n    def two", "return 5\n\n    def two", (["A.one"], [])),
        ("            3,\n", "            3,\n            4,\n", (["A.two"], [])),
        ("import os\n", "import sys\n", ([], [])),
        ("        # why\n", "        # because\n", None),
        ("            2,\n\n", "            2,\n", None),
        ("    x = 1\n", "    x = 1\n    y = 2\n", ([], ["A"])),
        ("        return 2\n", "        return 7\n", (["f"], [])),
        (SOURCE, "", (["A.one", "A.two", "f"], ["A"])),
        ("\n\nif os:", "\n\ndef new():\n    return 1\n\n\nif os:", ([], [])),
        ("    def two(self):\n", "    def two(self, deep):\n", (["A.two"], [])),
        ("    def one(self):\n", "    @property\n    def one(self):\n", (["A.one"], [])),
        (
            "        return 1\n\n    def two",
            "        def inner():\n            return 1\n        return inner()\n\n    def two",
            (["A.one"], []),
        ),
    ],
)
def test_innermost_entities(old: str, new: str, expected: tuple[list[str], list[str]] | None) -> None:
    assert touched(old, new) == expected


def test_an_insertion_is_placed_after_what_was_inserted_before_it() -> None:
    lines = SOURCE.split("\n")[:-1]
    after = SOURCE.replace("import os\n", "import os\n" + "import re\n" * 9).replace(
        "    2,\n", "    2,\n    9,\n"
    )
    found = touched_entities("a.py", SOURCE.encode(), edits_between(lines, after.split("\n")[:-1], 0))
    assert found is not None and (found.functions, found.classes) == (("a.py:A.two",), ())


def test_line_ends_make_no_difference() -> None:
    windows = SOURCE.replace("\n", "\r\n")
    raw = windows.replace("return 2", "return 7").split("\n")[:-1]
    found = touched_entities("a.py", windows.encode(), edits_between(windows.split("\n")[:-1], raw, 0))
    assert found is not None and found.functions == ("a.py:f",)


def test_sources_with_errors_still_have_entities() -> None:
    assert touched("        return 7\n", "        return 8\n", text="def f():\n        return 7\n\n)(\n") == (
        ["f"],
        [],
    )


def test_unknown_languages_have_none() -> None:
    assert touched("x = 1", "x = 2", path="a.lua", text="x = 1\n") == ([], [])
