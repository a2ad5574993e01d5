"""Folded excerpts keep what matters and say what they hide."""

import re

from hypothesis import given
from hypothesis import strategies as st

from codeforge.context.folding import fold_levels, outline

BODY = "\n".join(f"        step_{n}()" for n in range(1, 31))
SOURCE = f"""import os
from pkg import (
    thing,
)


class Shape(Base):
    \"\"\"Doc.\"\"\"

    def area(self, scale=1):
{BODY}

    def name(self):
        def local():
            return 1
        return local()


def free(
    x,
    y,
):
    a = 1
    b = 2
    return a + b
"""


def test_a_preview_keeps_the_lines_that_matter() -> None:
    line = SOURCE.split("\n").index("        step_15()") + 1
    longest = fold_levels(SOURCE, "a.py", [line])[0]
    assert "step_12()" in longest and "step_18()" in longest and "step_19()" not in longest
    assert "def area(self, scale=1):" in longest and "# ... 11 lines" in longest


def test_forms_get_shorter_down_to_headers() -> None:
    forms = fold_levels(SOURCE, "a.py", [20])
    assert [len(form) for form in forms] == sorted((len(form) for form in forms), reverse=True)
    assert "step_" not in forms[-1] and "class Shape(Base):" in forms[-1] and "    y,\n):" in forms[-1]


def test_a_text_without_a_parser_keeps_its_first_line() -> None:
    assert fold_levels("one\ntwo\nthree\n" + "x\n" * 20, "a.txt") == ("one\n# ... 23 lines",)


def test_outline() -> None:
    assert outline(SOURCE, "a.py", hide=["Shape.area"]).split("\n") == [
        "import os",
        "from pkg import (",
        "    thing,",
        ")",
        "class Shape(Base): ...",
        "    def name(self): ...",
        "def free( x, y, ): ...",
    ]
    assert outline("x", "a.txt") == ""


@given(
    st.lists(st.sampled_from(["def f():", "    x = 1", "", "class A:", "    def g(self):", "        y()"]))
)
def test_every_line_is_shown_or_counted(lines: list[str]) -> None:
    text = "\n".join(lines)
    for form in fold_levels(text, "a.py", range(3, 6)):
        hidden = [int(n) for n in re.findall(r"^ *# \.\.\. (\d+) lines$", form, re.MULTILINE)]
        shown = form.count("\n") + 1 - len(hidden)
        assert shown + sum(hidden) == text.count("\n") + 1
        assert len(form) < len(text)
