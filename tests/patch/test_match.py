# ruff: noqa: E501 (tables of texts)
import pytest

from codeforge.patch.match import Match, NoMatch, find
from codeforge.patch.splice import edit_lines, splice
from codeforge.patch.textfile import Line, decode_bytes


def apply(file: str, search: str, replace: str, **pins: int) -> str | NoMatch:
    """One edit on a text, as `apply` does it."""
    text = decode_bytes(file.encode(), "f")
    match = find(text.display, edit_lines(search), **pins)
    if isinstance(match, NoMatch):
        return match
    lines = splice(text.lines, match, edit_lines(search), edit_lines(replace))
    return lines if isinstance(lines, NoMatch) else "".join(line.text + line.ending for line in lines)


def note(file: str, search: str) -> str:
    match = find(file.splitlines(), edit_lines(search))
    assert isinstance(match, Match)
    return match.note


def refused(result: str | NoMatch) -> NoMatch:
    assert isinstance(result, NoMatch)
    return result


def test_exact_and_unique() -> None:
    assert apply("a\nb\nc\n", "b\n", "B\nB2\n") == "a\nB\nB2\nc\n"
    assert note("a\nb\n", "b\n") == ""


def test_several_exact_matches_are_refused_with_every_line_number() -> None:
    result = refused(apply("x\na\nx\na\nx\n", "x\n", "y\n"))
    assert result.lines == (1, 3, 5) and "lines 1, 3 and 5" in result.reason


def test_overlapping_matches_count() -> None:
    assert refused(apply("x\nx\nx\n", "x\nx\n", "y\n")).lines == (1, 2)


def test_a_pin_chooses_and_binds() -> None:
    assert apply("x\na\nx\n", "x\n", "y\n", near_line=3) == "x\na\ny\n"
    assert refused(apply("x\na\nx\n", "x\n", "y\n", near_line=2)).lines == (1, 3)
    assert "past the end" in refused(apply("x\n", "z\n", "y\n", near_line=9)).reason
    assert apply("  x\n  x\n", "x\n", "y\n", near_line=2) == "  x\n  y\n"


def test_a_hint_settles_only_ambiguity() -> None:
    assert apply("x\na\nx\n", "x\n", "y\n", hint_line=3) == "x\na\ny\n"
    assert apply("x\na\n", "x\n", "y\n", hint_line=2) == "y\na\n"
    assert refused(apply("x\na\nx\n", "x\n", "y\n", hint_line=2)).lines == (1, 3)


def test_trailing_white_space_is_ignored_and_kept() -> None:
    file = "def f():   \n    return 1\t\n"
    assert (
        apply(file, "def f():\n    return 1\n", "def f():\n    return 2\n") == "def f():   \n    return 2\n"
    )
    assert "trailing white space at line 1" in note(file, "def f():\n    return 1\n")


@pytest.mark.parametrize(
    ("file", "search", "replace", "expected"),
    [
        # the answer's indentation is missing altogether
        ("class A:\n    def f(self):\n        return 1\n", "def f(self):\n    return 1\n",
         "def f(self):\n    if x:\n        return 2\n    return 1\n",
         "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n"),
        # too much of it
        ("def f():\n    return 1\n", "        def f():\n            return 1\n",
         "        def f():\n            return 2\n", "def f():\n    return 2\n"),
        # only the first line lost it
        ("    a = 1\n    b = 2\n", "a = 1\n    b = 2\n", "a = 9\n    b = 2\n", "    a = 9\n    b = 2\n"),
        # spaces for tabs
        ("def f():\n\tif x:\n\t\treturn 1\n", "    if x:\n        return 1\n", "    if x:\n        return 2\n",
         "def f():\n\tif x:\n\t\treturn 2\n"),
        # tabs for spaces
        ("def f():\n  if x:\n    return 1\n", "\tif x:\n\t\treturn 1\n", "\tif x:\n\t\treturn 2\n",
         "def f():\n  if x:\n    return 2\n"),
    ],
)  # fmt: skip
def test_the_replacement_follows_a_shift_of_indentation(
    file: str, search: str, replace: str, expected: str
) -> None:
    assert apply(file, search, replace) == expected


def test_an_irregular_indentation_is_refused() -> None:
    assert isinstance(apply("if a:\n    x()\n", "if a:\nx()\n", "if a:\nz()\n"), NoMatch)


def test_a_replacement_that_cannot_be_shifted_is_refused() -> None:
    assert "indentation" in refused(apply("f()\n", "    f()\n", "g()\n")).reason


def test_blank_lines_may_differ_and_the_files_own_stay() -> None:
    assert apply("a\n\n\nb\nc\n", "a\nb\n", "a\nB\n") == "a\n\n\nB\nc\n"
    assert apply("a\nb\nc\n", "a\n\nb\n", "a\n\nB\n") == "a\nB\nc\n"
    assert "blank lines" in note("a\n\nb\n", "a\nb\n")


def test_a_blank_line_removed_on_purpose_goes() -> None:
    assert apply("a\n\nb\n", "a\n\nb\n", "a\nb\n") == "a\nb\n"


SIMILAR = "def area(width, height):\n    # compute the area of the shape\n    result = width * height\n    return result\n"


def test_a_very_similar_unique_text_is_used_and_reported() -> None:
    search = "def area(width, height):\n    # compute the area of a shape\n    result = width * height\n    return result\n"
    replace = search.replace("width * height", "width + height")
    assert apply(SIMILAR, search, replace) == SIMILAR.replace("width * height", "width + height")
    assert "very similar" in note(SIMILAR, search)


def test_two_similar_places_are_refused() -> None:
    search = "    result = first_value + second_value\n    return resultt\n"
    file = "    result = first_value + second_value\n    return result_\n\n    result = first_value + second_value\n    return result1\n"
    assert isinstance(apply(file, search, "x\n"), NoMatch)


def test_short_texts_are_never_matched_by_similarity() -> None:
    assert refused(apply("return a + b\n", "return a - b\n", "return b\n")).lines == (1,)


def test_a_line_the_search_skips_is_kept_or_the_edit_refused() -> None:
    long = "".join(f"value_{i} = compute_something({i})\n" for i in range(12))
    skipping = long.replace("value_6 = compute_something(6)\n", "")
    edited = skipping.replace("value_11 =", "last =")
    assert apply(long, skipping, edited) == long.replace("value_11 =", "last =")
    everything = skipping.replace("value_", "result_")
    assert "skips" in refused(apply(long, skipping, everything)).reason


def test_refusals_show_the_nearest_lines() -> None:
    result = refused(
        apply("import os\n\ndef total(items):\n    return sum(items)\n", "def total(rows):\n    y\n", "z\n")
    )
    assert "3: def total(items):" in result.reason and 3 in result.lines


@pytest.mark.parametrize(
    "dots", ["...", "# ... existing code ...", "    # ...", "// rest of the code", "# … unchanged"]
)
def test_elisions_in_the_search_text_are_refused(dots: str) -> None:
    assert (
        "leaves code out" in refused(apply("a = 1\nb = 2\nc = 3\n", f"a = 1\n{dots}\nc = 3\n", "x\n")).reason
    )


def test_an_ellipsis_that_is_code_is_code() -> None:
    assert (
        apply("def f():\n    ...\n", "def f():\n    ...\n", "def f():\n    return 1\n")
        == "def f():\n    return 1\n"
    )


def test_elisions_in_the_replacement_are_refused() -> None:
    assert "leaves code out" in refused(apply("a\nb\n", "a\nb\n", "x\n# ... rest of the code ...\n")).reason


@pytest.mark.parametrize(
    ("file", "search", "replace", "expected"),
    [
        ("a\r\nb\nc\r\n", "b", "B\nB2", "a\r\nB\nB2\nc\r\n"),
        ("a\r\nb\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\n"),
        ("a\nb", "b", "c", "a\nc"),
        ("a\nb", "b", "b\nc", "a\nb\nc"),
        ("a\nb", "b", "", "a\n"),
        ("a\r\nb", "a\nb", "a\nb\nc", "a\r\nb\r\nc"),
        ("a", "a", "b\nc", "b\nc"),
        ("a\rb\r", "b", "x\ny", "a\rx\ry\r"),
    ],
)
def test_line_endings(file: str, search: str, replace: str, expected: str) -> None:
    assert apply(file, search, replace) == expected


def test_large_files_are_searched_without_comparing_every_place() -> None:
    file = [f"    value_{i % 700} = compute({i})" for i in range(20_000)]
    result = find(file, ["    value_3 = compute(99999999)", "    other = 1", "    more = 2"])
    assert isinstance(result, NoMatch) and "nearest" in result.reason


def test_lines_are_pairs() -> None:
    assert decode_bytes(b"a\n", "f").lines == (Line("a", "\n"),)
