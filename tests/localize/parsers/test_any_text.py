"""Laws that hold for every language and every text, whole or torn."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.localize.parsers.base import Parser, ReferenceKind, languages, parser_for

# Pieces of all the languages: keywords that open definitions, brackets that may stay open, quotes, comments.
PIECES = (
    *(
        "def f",
        "class C",
        "function g",
        "func (s *S) M",
        "fn h",
        "struct P",
        "impl T",
        "trait U",
        "interface I",
    ),
    *(
        "public void m",
        "int n",
        "namespace N",
        "enum E",
        "mod o",
        "type Q =",
        "const r =",
        "=>",
        "export default",
    ),
    *(
        "import a.b;",
        "from . import c",
        'import "d"',
        "use x::{y, z as w};",
        '#include "e.h"',
        "require('./k')",
    ),
    *(
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        ":",
        ";",
        ",",
        ".",
        "=",
        "@d",
        "#[test]",
        "~",
        "::",
        "->",
        "*",
        "&",
    ),
    *(
        "\n",
        "\n\n",
        "    ",
        "\t",
        " ",
        "'",
        '"',
        "`",
        '"""',
        "//",
        "/*",
        "*/",
        "#",
        "\\",
        "\0",
        "\r\n",
        "é",
        "日",
    ),
    *("call(1)", "self.x = Y()", "new Z()", "super(1)", "this.v", "operator==", "!", "?", "$", "return", "0"),
)
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.text(max_size=60))
EXTENSIONS = sorted(min(language.extensions) for language in set(languages().values()))


def parser_of(extension: str) -> Parser:
    parser = parser_for(f"a{extension}")
    assert parser is not None
    return parser


def test_every_language_is_there() -> None:
    assert {language.name for language in languages().values()} == {
        *("c", "cpp", "go", "java", "javascript", "python", "rust", "typescript")
    }


@pytest.mark.parametrize("extension", EXTENSIONS)
@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_any_text_parses_to_spans_inside_the_text(extension: str, text: str) -> None:
    source = text.encode()
    parsed = parser_of(extension).parse(source)
    assert parsed.lines == source.count(b"\n") + (bool(source) and not source.endswith(b"\n"))
    for ordinal, entity in enumerate(parsed.entities, 1):
        assert 1 <= entity.start_line <= entity.end_line <= parsed.lines
        assert 0 <= entity.start < entity.end <= len(source)
        assert 0 <= entity.parent < ordinal
        assert entity.qualname and entity.name
        assert entity.start_line == source.count(b"\n", 0, entity.start) + 1
        assert "\n" not in entity.signature
        if entity.parent:
            around = parsed.entities[entity.parent - 1]
            assert around.start <= entity.start and entity.end <= around.end
    starts = [entity.start for entity in parsed.entities]
    assert starts == sorted(starts)
    owners = range(len(parsed.entities) + 1)
    assert all(one.owner in owners and one.chain for one in parsed.references)
    assert all(one.owner for one in parsed.references if one.kind == ReferenceKind.BASE)
    assert all(hint.owner in owners and hint.name and (hint.type or hint.owner) for hint in parsed.hints)
    assert len(set(parsed.references)) == len(parsed.references)


@pytest.mark.parametrize("extension", EXTENSIONS)
@given(source=st.binary(max_size=60))
@settings(max_examples=25, deadline=None)
def test_bytes_that_are_no_text_are_no_error(extension: str, source: bytes) -> None:
    parsed = parser_of(extension).parse(source)
    assert all(entity.end <= len(source) for entity in parsed.entities)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_what_is_parsed_depends_on_nothing_before(extension: str) -> None:
    source = b"class A { void m() { f(); } }\n"
    parser = parser_of(extension)
    first = parser.parse(source)
    parser.parse(b"def broken(: {{{ \n")
    again = parser.parse(source)
    assert (first.entities, first.references, first.hints) == (again.entities, again.references, again.hints)
