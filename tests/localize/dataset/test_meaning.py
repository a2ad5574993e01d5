"""When two texts are the same program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.dataset.meaning import same_but_inside, same_program

FUNCTION = "def f(a):\n    '''Doc.'''\n    return g(a, 'x')\n"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (FUNCTION, FUNCTION, True),
        (FUNCTION, FUNCTION.replace("Doc.", "Other."), True),
        (FUNCTION, FUNCTION.replace("    '''Doc.'''\n", "    # doc\n"), True),
        (FUNCTION, FUNCTION.replace("'x'", '"x"'), True),
        (FUNCTION, FUNCTION.replace("g(a, 'x')", "g(\n        a,\n        'x',\n    )"), True),
        (FUNCTION, FUNCTION.replace("'x'", "'y'"), False),
        (FUNCTION, FUNCTION.replace("return g", "return h"), False),
        (FUNCTION, FUNCTION.replace("(a)", "(a: int)"), False),
        ("x = 1\n", "x = 1.0\n", False),
        ("x = 1\n", "x = True\n", False),
        ("    def f(self):\n        return 1\n", "    def f(self):\n        # why\n        return 1\n", True),
        ("def f(:\n", "def f(:  # no\n", False),
        ("def f(:\n", "def f(:\n", True),
        ("x = '''a\n  b'''\n", "x = '''a\n    b'''\n", False),
        ("", "# only words\n", True),
    ],
)
def test_python(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before.split("\n"), after.split("\n")) is same
    assert same_program("a.py", after.split("\n"), before.split("\n")) is same


def test_of_other_languages_nothing_is_known() -> None:
    assert same_program("a.go", ["// a"], ["// a"])
    assert not same_program("a.go", ["// a"], ["// b"])
    assert not same_but_inside("a.go", ["// a"], ["// b"])


CLASS = (
    "class A:\n    '''Doc.'''\n    x = 1\n    @d\n    def f(self):\n        return 1\n"
    "    class B:\n        y = 1\n"
)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("return 1", "return 2", True),
        ("@d", "@e", True),
        ("y = 1", "y = 2", True),
        ("Doc", "Other", True),
        ("x = 1", "x = 2", False),
        ("def f", "def g", False),
        ("class A:", "class A(C):", False),
        ("    class B:", "    def h(self):\n        pass\n    class B:", False),
    ],
)
def test_what_is_defined_inside_counts_by_name(old: str, new: str, same: bool) -> None:
    after = CLASS.replace(old, new)
    assert same_but_inside("a.py", CLASS.split("\n"), after.split("\n")) is same


@given(st.text("ab=(){}:'\"\\ \n\t\0é#", max_size=40))
def test_any_text_is_itself(text: str) -> None:
    lines = text.split("\n")
    assert same_program("a.py", lines, lines)
    assert isinstance(same_program("a.py", lines, [*lines, "x = 1"]), bool)
