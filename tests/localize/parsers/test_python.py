"""The Python parser against real source, broken source included."""

import ast
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import language_of, parser_for
from codeforge.localize.parsers.python.repair import repaired
from tests.localize.parsers.reading import Reading

SOURCE = '''
    """Module."""
    import os.path as p, sys
    import x.y
    from a.b import (
        c,  # why
        d as e,
    )
    from . import sibling
    from .pkg import *

    LIMIT = compute(3)

    @decorate(1)
    @other
    def outer(
        x: int,
        y=2,  # two
    ) -> "Shape | None":
        """Outer doc."""
        def inner():
            return helper(x)
        return inner()


    class Shape(Base, mod.Mixin, Generic[T], metaclass=Meta):
        """A shape."""

        sides = count()

        def __init__(self, tool: Tool, *, name: str = ""):
            super().__init__(tool)
            self.pen = Pen(Ink())
            self.tool: "Tool" = tool

        @property
        def area(self):
            return self.compute_area().round()

        async def load(self): pass
'''
SHAPE = Reading("a.py", SOURCE)


def test_qualified_names_in_source_order() -> None:
    assert SHAPE.names == ["outer", "outer.inner", "Shape", "Shape.__init__", "Shape.area", "Shape.load"]
    assert [SHAPE.parent(name) for name in SHAPE.names] == ["", "outer", "", "Shape", "Shape", "Shape"]
    assert {name: SHAPE[name].name for name in ("outer.inner", "Shape")} == {
        "outer.inner": "inner",
        "Shape": "Shape",
    }


def _spans(source: str) -> list[tuple[str, int, int]]:
    """Every definition's name and lines, decorators included, as Python's own parser finds them."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            found.append((node.name, first, node.end_lineno or 0))
    return sorted(found)


@pytest.mark.parametrize("path", [None, ast.__file__, pytest.__file__, __file__])
def test_spans_include_decorators_and_agree_with_ast(path: str | None) -> None:
    reading = Reading("a.py", SOURCE if path is None else Path(path).read_text(encoding="utf-8"))
    found = sorted((item.name, item.start_line, item.end_line) for item in reading.parsed.entities)
    assert found == _spans(reading.source)
    assert not reading.parsed.has_errors
    assert reading.parsed.lines == len(reading.source.splitlines())


def test_spans_are_bytes() -> None:
    reading = Reading("a.py", "é = 'ü'\n@ö\ndef ä():\n    'ß'\n\ndef b(): pass\n")
    assert reading.text("ä") == "@ö\ndef ä():\n    'ß'"
    assert reading["ä"].docstring == "ß"
    assert reading.text("b") == "def b(): pass"


def test_kinds() -> None:
    assert SHAPE["Shape"].kind is EntityKind.CLASS
    assert SHAPE["outer"].kind is SHAPE["Shape.area"].kind is EntityKind.FUNCTION


def test_signature_is_one_line_and_docstring_is_bare() -> None:
    assert SHAPE["outer"].signature == 'def outer( x: int, y=2, ) -> "Shape | None":'
    assert SHAPE["outer"].docstring == "Outer doc."
    assert SHAPE["Shape"].docstring == "A shape."
    assert SHAPE["outer.inner"].docstring == ""


def test_returned_types_and_hints() -> None:
    assert SHAPE["outer"].returns == "Shape"
    assert SHAPE["Shape.area"].returns == ""
    assert SHAPE.hints("Shape.__init__") == {"tool": "Tool", "self.pen": "Pen()", "self.tool": "Tool"}
    assert SHAPE.hints("Shape") == {"sides": "count()"}
    assert SHAPE.hints("") == {"LIMIT": "compute()"}


def test_imports() -> None:
    assert SHAPE.imports == [
        ("os.path", "", "p"),
        ("sys", "", "sys"),
        ("x.y", "", "x"),
        ("a.b", "c", "c"),
        ("a.b", "d", "e"),
        (".", "sibling", "sibling"),
        (".pkg", "*", "*"),
    ]


def test_imports_at_any_depth() -> None:
    reading = Reading(
        "a.py",
        """
        if TYPE_CHECKING:
            from .. import up
        try:
            import fast \\
                as quick
        except ImportError:
            fast = None
        def late():
            from . other import (one, two,)
        """,
    )
    assert reading.imports == [
        ("..", "up", "up"),
        ("fast", "", "quick"),
        (".other", "one", "one"),
        (".other", "two", "two"),
    ]
    assert reading.local_imports("late") == ["one", "two"]


def test_calls_belong_to_the_entities_around_them() -> None:
    assert SHAPE.calls("outer") == {"inner"}
    assert SHAPE.calls("outer.inner") == {"helper"}
    assert SHAPE.calls("Shape.area") == {"self.compute_area", "self.compute_area().round"}
    assert SHAPE.calls("Shape.__init__") == {"super().__init__", "Pen", "Ink"}
    assert SHAPE.calls("Shape") == {"count"}
    assert SHAPE.calls("") == {"compute"}


def test_chains() -> None:
    reading = Reading(
        "a.py",
        """
        def f(x):
            a.b.c(1)
            Maker(x, (1, 2)).run()
            x[0].get(")")
            (lambda: 1)()
            "".join([g(y) for y in x])
        """,
    )
    assert reading.calls("f") == {"a.b.c", "Maker", "Maker().run", "?.get", "?.join", "g"}


def test_decorators_belong_to_what_they_decorate_and_bases_to_the_class() -> None:
    assert SHAPE.decorators("outer") == {"decorate", "other"}
    assert SHAPE.decorators("Shape.area") == {"property"}
    assert SHAPE.bases("Shape") == {"Base", "mod.Mixin", "Generic"}


BROKEN = '''
    import os

    def good():
        """Stays."""
        return one()

    def broken(:
        two()

    @mark
    class Half:
        def whole(self):
            return self.three()

        def torn(self):
            x = = four(
            five()

        def last(self):
            return six()

    text = """never closed

    def lost(): pass
'''


def test_syntax_errors_leave_the_rest() -> None:
    reading = Reading("a.py", BROKEN)
    assert reading.parsed.has_errors
    kept = ["good", "broken", "Half", "Half.whole", "Half.torn", "Half.last"]
    assert [name for name in reading.names if name in kept] == kept
    assert reading["good"].docstring == "Stays."
    assert reading.lines("good") == (3, 5)
    assert reading.lines("Half") == (10, 20)
    assert reading.lines("Half.torn") == (15, 17)
    assert reading.decorators("Half") == {"mark"}
    assert reading.imports == [("os", "", "os")]
    assert reading.calls("Half.whole") == {"self.three"}
    assert reading.calls("Half.last") == {"six"}


def test_calls_in_what_is_broken_are_found_where_they_stand() -> None:
    reading = Reading("a.py", "def f():\n    call(1)\n    x = = 2\n    other(2)\n\ndef g():\n    pass\n")
    assert reading.names == ["f", "g"]
    assert "call" in reading.calls("f")
    assert not reading.calls("g") and not reading.calls("")


def test_half_written_definitions_at_the_end() -> None:
    for tail in ("def fresh(self, a", "class Fresh", "class Fresh(Base", "x = (", "@mark", "'''", "if x:"):
        reading = Reading("a.py", f"def first():\n    return one()\n\n\n{tail}\n")
        assert "first" in reading.names, tail
        assert reading.lines("first") == (1, 2), tail
        assert reading.calls("first") == {"one"}, tail


def _parses(source: bytes) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def test_repair_leaves_sound_source_alone() -> None:
    assert repaired(Path(ast.__file__).read_bytes(), _parses) is None


def test_repair_keeps_every_byte_in_its_place() -> None:
    source = Reading("a.py", BROKEN).source.encode()
    repair = repaired(source, _parses)
    assert repair is not None and len(repair.source) == len(source)
    assert repair.source.count(b"\n") == source.count(b"\n")
    blanked = {place for start, end in repair.blanked for place in range(start, end)}
    changed = {
        place for place, (old, new) in enumerate(zip(source, repair.source, strict=True)) if old != new
    }
    assert changed <= blanked
    assert all(0 <= start < end <= len(source) for start, end in repair.blanked)


@given(st.text(alphabet=st.sampled_from("def class():\n\t @x=1'\"#\\é"), max_size=80))
def test_repair_of_any_text_keeps_lines_and_length(text: str) -> None:
    source = text.encode()
    repair = repaired(source, _parses)
    if repair is not None:
        assert len(repair.source) == len(source)
        newlines = [place for place, byte in enumerate(source) if byte == 10]
        assert [place for place, byte in enumerate(repair.source) if byte == 10] == newlines


def test_registry_by_extension() -> None:
    assert parser_for("a/b.PY") is parser_for("c.pyi") is not None
    assert parser_for("notes.txt") is None and language_of("Makefile") is None
    python = language_of("a.py")
    assert python is not None and python.tag == f"python/{python.version}"


# Pieces of Python, whole and torn, in any order.
PIECES = (
    "def f",
    "class C",
    "(",
    ")",
    ":",
    "\n",
    "    ",
    "\t",
    "@d",
    "x=1",
    "'''",
    '"',
    "#",
    "\\",
    "é",
    "import a",
)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_parses_to_spans_inside_the_text(text: str) -> None:
    parser = parser_for("a.py")
    assert parser is not None
    source = text.encode()
    parsed = parser.parse(source)
    assert parsed.lines == len(source.split(b"\n")) - (not source or source.endswith(b"\n"))
    for ordinal, entity in enumerate(parsed.entities, 1):
        assert 1 <= entity.start_line <= entity.end_line <= parsed.lines
        assert 0 <= entity.start < entity.end <= len(source)
        assert 0 <= entity.parent < ordinal
