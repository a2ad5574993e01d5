# ruff: noqa: E501 (tables of texts)
"""Fenced functions and classes without markers."""

from pathlib import Path

import pytest

from codeforge.patch.apply import resolve_patch
from codeforge.patch.parse import parse_answer


@pytest.fixture
def answered(entities, tmp_path: Path):
    """Parse an answer against the folder, resolve it, and return the one changed file's new text."""

    def run(answer: str, path: str = "m.py", known: tuple[str, ...] = ()) -> str:
        parsed = parse_answer(answer, entities, known)
        assert not parsed.problems
        (change,) = resolve_patch(parsed.edits, tmp_path).changes
        assert change.path == path and change.after is not None
        return change.after.decode()

    return run


def fenced(code: str, before: str = "Here you go:\n\n") -> str:
    return f"{before}```python\n{code}```\n"


MODULE = '''"""Doc."""
import os

LIMIT = 3


def top(a, b):
    # keep me
    return a - b


class Shape:
    """A shape."""

    sides = 4

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = value

    @staticmethod
    def area(w, h):
        return w + h

    def name(self):
        return "shape"
'''


def test_one_function(put, answered) -> None:
    put("m.py", MODULE)
    assert answered(fenced("def top(a, b):\n    # keep me\n    return a + b\n")) == MODULE.replace(
        "a - b", "a + b"
    )


def test_bare_code_without_a_fence_and_an_unclosed_fence(put, answered) -> None:
    put("m.py", MODULE)
    code = "def top(a, b):\n    # keep me\n    return a + b\n"
    assert answered(code) == answered("```python\n" + code) == MODULE.replace("a - b", "a + b")


@pytest.mark.parametrize("indent", ["", "    ", "        "])
def test_a_method_at_any_indentation(put, answered, indent: str) -> None:
    put("m.py", MODULE)
    code = f"{indent}def name(self):\n{indent}    if self:\n{indent}        return 1\n{indent}    return 2\n"
    expected = "    def name(self):\n        if self:\n            return 1\n        return 2\n"
    assert answered(fenced(code)) == MODULE.replace('    def name(self):\n        return "shape"\n', expected)


def test_forgotten_decorators_are_kept(put, answered, entities) -> None:
    put("m.py", MODULE)
    answer = fenced("def area(w, h):\n    return w * h\n")
    assert answered(answer) == MODULE.replace("w + h", "w * h")
    assert "decorators of Shape.area" in parse_answer(answer, entities).notes[0]


def test_a_property_and_its_setter(put, answered) -> None:
    put("m.py", MODULE)
    code = "@property\ndef size(self):\n    return 1\n\n@size.setter\ndef size(self, value):\n    self._size = 2 * value\n"
    expected = MODULE.replace("return self._size", "return 1").replace("= value", "= 2 * value")
    assert answered(fenced(code)) == expected


def test_part_of_a_class_deletes_nothing(put, answered) -> None:
    put("m.py", MODULE)
    code = 'class Shape:\n    def name(self):\n        return "x"\n\n    def extra(self):\n        return 5\n'
    assert (
        answered(fenced(code))
        == MODULE.replace('"shape"', '"x"') + "\n    def extra(self):\n        return 5\n"
    )


def test_a_whole_class(put, answered) -> None:
    put("m.py", "class A:\n    x = 1\n\n    def f(self):\n        return 1\n\n\ny = 2\n")
    code = "class A:\n    x = 2\n\n    def f(self):\n        return 3\n"
    assert answered(fenced(code)) == code + "\n\ny = 2\n"


def test_several_functions_each_become_an_edit(put, answered) -> None:
    put("m.py", "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n")
    assert (
        answered(fenced("def c():\n    return 30\n\ndef a():\n    return 10\n"))
        == "def a():\n    return 10\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 30\n"
    )


def test_needed_imports_constants_and_helpers_come_along(put, answered) -> None:
    put("m.py", MODULE)
    code = (
        "import os\nimport math, json\nfrom typing import Any, cast\nfrom m import top\n\nSEEN = {}\nLIMIT = 5\n\n"
        "def helper(x):\n    return math.floor(x)\n\n\ndef unused():\n    pass\n\n\n"
        "def top(a: Any, b):\n    # keep me\n    return helper(a - b) + len(SEEN)\n\nprint(top(1, 2))\n"
    )
    expected = (
        MODULE.replace("import os\n", "import os\nimport math\nfrom typing import Any\n")
        .replace("LIMIT = 3", "LIMIT = 5")
        .replace(
            "def top(a, b):\n    # keep me\n    return a - b\n",
            "SEEN = {}\n\ndef helper(x):\n    return math.floor(x)\n\n\n"
            "def top(a: Any, b):\n    # keep me\n    return helper(a - b) + len(SEEN)\n",
        )
    )
    assert answered(fenced(code)) == expected


def test_imports_into_a_file_without_any(put, answered) -> None:
    put("m.py", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\ndef f(x):\n    return x\n")
    code = "from __future__ import annotations\nimport math\n\ndef f(x):\n    return math.sqrt(x)\n"
    assert answered(fenced(code)) == (
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nfrom __future__ import annotations\nimport math\n\n"
        "def f(x):\n    return math.sqrt(x)\n"
    )


def test_a_helper_method_goes_beside_the_method(put, answered) -> None:
    put("m.py", MODULE)
    code = "def _word(self):\n    return 'w'\n\ndef name(self):\n    return self._word()\n"
    assert answered(fenced(code)) == MODULE.replace(
        '    def name(self):\n        return "shape"\n',
        "    def _word(self):\n        return 'w'\n\n    def name(self):\n        return self._word()\n",
    )


def test_multi_line_strings_keep_their_text(put, answered) -> None:
    put("m.py", 'class A:\n    def f(self):\n        """Old."""\n        return 1\n')
    code = 'def f(self):\n    """Doc.\n\n    More.\n    """\n    return """a\n  b\n"""\n'
    expected = 'class A:\n    def f(self):\n        """Doc.\n\n        More.\n        """\n        return """a\n  b\n"""\n'
    assert answered(fenced(code)) == expected


def test_tabs_and_crlf_of_the_file_stay(put, answered) -> None:
    put("m.py", "class A:\r\n\tdef f(self):\r\n\t\tif x:\r\n\t\t\treturn 1\r\n")
    code = "def f(self):\n    if x:\n        return 2\n    return 3\n"
    assert (
        answered(fenced(code))
        == "class A:\r\n\tdef f(self):\r\n\t\tif x:\r\n\t\t\treturn 2\r\n\t\treturn 3\r\n"
    )


def test_the_original_quoted_first_is_no_edit(put, answered) -> None:
    put("m.py", MODULE)
    old, new = (
        "def top(a, b):\n    # keep me\n    return a - b\n",
        "def top(a, b):\n    # keep me\n    return a + b\n",
    )
    assert answered(fenced(old, "The code\n") + fenced(new, "becomes\n")) == MODULE.replace("a - b", "a + b")
    assert answered(fenced(new) + fenced(new, "Once more:\n")) == MODULE.replace("a - b", "a + b")


def test_a_path_settles_what_is_ambiguous(put, answered, entities) -> None:
    for name in ("m.py", "pkg/n.py"):
        put(name, "def f():\n    return 1\n")
    code = "def f():\n    return 2\n"
    (problem,) = parse_answer(fenced(code), entities).problems
    assert "m.py:1" in problem.reason and "pkg/n.py:1" in problem.reason
    for before in ("pkg/n.py\n", "`pkg/n.py`\n\n", "The bug is in `pkg/n.py`.\n\n", "File: n.py\n"):
        assert answered(fenced(code, before), "pkg/n.py") == code
    assert answered(f"```python\n# pkg/n.py\n{code}```\n", "pkg/n.py") == code


def test_a_test_file_named_in_the_prose_does_not_hide_the_function(put, answered) -> None:
    put("m.py", "def f():\n    return 1\n")
    put("test_m.py", "from m import f\n\ndef test_f():\n    assert f() == 2\n")
    assert (
        answered(fenced("def f():\n    return 2\n", "`test_m.py` fails because:\n"))
        == "def f():\n    return 2\n"
    )


def test_method_or_function_by_self(put, answered) -> None:
    file = "def run(x):\n    return 1\n\n\nclass A:\n    def run(self):\n        return 2\n"
    put("m.py", file)
    assert answered(fenced("def run(x):\n    return 9\n")) == file.replace("return 1", "return 9")
    assert answered(fenced("def run(self):\n    return 9\n")) == file.replace("return 2", "return 9")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fenced("def top(a, b)\n    return 1\n"), "not valid Python"),
        (fenced("def top(a, b):\n    # ... existing code ...\n    return 1\n"), "leaves code out"),
        (fenced("def top(a, b):\n    return 1\n", "other/file.py\n"), "not a known file"),
        (fenced("def top(a, b):\n    return 1\n") + fenced("def top(a, b):\n    return 2\n"), "several ways"),
        (fenced("class Shape:\n    sides = 5\n"), "whole class"),
        (fenced("def top(a):\n    return 1\n\ndef top(a, b):\n    return 2\n"), "could be any"),
    ],
)
def test_what_is_unclear_is_refused(put, entities, answer: str, reason: str) -> None:
    put("m.py", MODULE)
    parsed = parse_answer(answer, entities)
    assert parsed.edits == () and reason in parsed.problems[0].reason


def test_explicit_blocks_win_over_shown_code(put, answered) -> None:
    put("m.py", MODULE)
    block = (
        "m.py\n```python\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a * b\n>>>>>>> REPLACE\n```\n"
    )
    shown = fenced("def top(a, b):\n    return a / b\n", "So that it looks like:\n")
    assert answered(block + shown) == MODULE.replace("a - b", "a * b")


def test_what_is_not_taken_is_told(put, entities) -> None:
    put("m.py", MODULE)
    parsed = parse_answer(fenced("def top(a, b):\n    return 1\n\nprint(top(1, 2))\n"), entities)
    assert any("print(top(1, 2))" in note for note in parsed.notes)
    parsed = parse_answer(fenced("def unknown():\n    return 1\n"), entities)
    assert parsed.edits == () and "nothing that is known" in parsed.notes[0]


def test_a_whole_file(put, answered) -> None:
    put("m.py", MODULE)
    new = MODULE.replace("a - b", "a + b").replace('"shape"', '"s"').replace("LIMIT = 3", "LIMIT = 4")
    assert answered(fenced(new, "m.py\n")) == new


def test_the_localizer_gives_the_same(put, tmp_path: Path) -> None:
    source = pytest.importorskip("codeforge.localize.entity_source").RepoEntitySource(tmp_path)
    put("m.py", MODULE)
    for code in ("def name(self):\n    return 1\n", "def top(a, b):\n    return 1\n"):
        parsed = parse_answer(fenced(code), source)
        assert not parsed.problems and len(parsed.edits) == 1
        assert b"return 1" in (resolve_patch(parsed.edits, tmp_path).changes[0].after or b"")
