"""The Python parser against real source, broken source included."""

import ast
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import ParsedEntity, language_of, parser_for
from codeforge.localize.parsers.python import PythonParser

SOURCE = dedent(
    '''
    """Module."""
    import os.path as p, sys
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
    ) -> int:
        """Outer doc."""
        def inner():
            return helper(x)
        return inner()


    class Shape(Base, mod.Mixin):
        """A shape."""

        sides = 4

        @property
        def area(self):
            return self.compute_area()

        async def load(self): pass
    '''
).lstrip("\n")


def parse(text: str) -> dict[str, ParsedEntity]:
    return {entity.qualname: entity for entity in PythonParser().parse(text).entities}


def test_qualified_names_in_source_order() -> None:
    names = [entity.qualname for entity in PythonParser().parse(SOURCE).entities]
    assert names == ["outer", "outer.inner", "Shape", "Shape.area", "Shape.load"]


def test_spans_include_decorators_and_agree_with_ast() -> None:
    found = parse(SOURCE)
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            entity = next(e for e in found.values() if e.name == node.name)
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            assert (entity.start_line, entity.end_line) == (first, node.end_lineno)


def test_signature_is_one_line_and_docstring_is_bare() -> None:
    outer = parse(SOURCE)["outer"]
    assert outer.signature.startswith("def outer( x: int, y=2,")
    assert "\n" not in outer.signature
    assert outer.docstring == "Outer doc."
    assert parse(SOURCE)["Shape"].bases == ("Base", "Mixin")


def test_imports() -> None:
    assert PythonParser().parse(SOURCE).imports == (
        "os.path",
        "sys",
        "a.b.c",
        "a.b.d",
        ".sibling",
        ".pkg",
    )


def test_calls_belong_to_the_functions_around_them() -> None:
    found = parse(SOURCE)
    assert found["outer"].calls == ("decorate", "helper", "inner")
    assert found["outer.inner"].calls == ("helper",)
    assert found["Shape.area"].calls == ("compute_area",)
    assert "compute_area" not in found["Shape"].calls
    assert "compute" in PythonParser().parse(SOURCE).calls


def test_class_text_leaves_methods_out() -> None:
    text = parse(SOURCE)["Shape"].text
    assert "sides = 4" in text and "compute_area" not in text


def test_syntax_errors_leave_the_rest() -> None:
    parsed = PythonParser().parse(
        "def good():\n    return 1\n\ndef broken(:\n    pass\n\ndef fine():\n    x = = 2\n"
    )
    assert parsed.has_errors
    assert {"good", "fine"} <= {entity.qualname for entity in parsed.entities}


def test_kinds() -> None:
    found = parse(SOURCE)
    assert found["Shape"].kind is EntityKind.CLASS and found["outer"].kind is EntityKind.FUNCTION


def test_registry_by_extension() -> None:
    assert parser_for("a/b.PY") is parser_for("c.pyi") is not None
    assert parser_for("a.js") is None and language_of("a.js") == ""


@given(st.text(alphabet=st.sampled_from("def class():\n\t @x=1'\"#\\é"), max_size=80))
def test_any_text_parses_to_spans_inside_the_text(text: str) -> None:
    lines = len(text.split("\n"))
    for entity in PythonParser().parse(text).entities:
        assert 1 <= entity.start_line <= entity.end_line <= lines
