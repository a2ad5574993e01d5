"""Issue texts without what gives the solution away."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeforge.tasks.github.text import change_text, issue_text, without_solution


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Fix the total (#15)", "Fix the total"),
        ("Fix a console issue (#12)", "Fix a console issue"),
        ("Wrong total\n\nFixes #12.\nSigned-off-by: Ann <a@b.c>", "Wrong total"),
        ("Wrong total. Closes #1, #2 and #3", "Wrong total."),
        ("Followup to #1718: style", "style"),
        ("#38 -- Add a mode", "Add a mode"),
        ("- #12: an item", "- an item"),
        ("for #12: allow it", "allow it"),
        ("for #12 we need it", "for we need it"),
        ("Adds a test for and fixes #12", "Adds a test"),
        ("the width as requested in #12", "the width"),
        ("Shorten it (issue #99)", "Shorten it"),
        ("keep\n\nCo-authored-by: Bob <b@c.d>\nkeep too", "keep\n\nkeep too"),
        ("the fix for ann/shop#7 broke it", "the fix for broke it"),
        ("look at https://github.com/ann/shop/pull/7#discussion_r1 first", "look at first"),
        ("https://docs.example.org/pull/1 stays", "https://docs.example.org/pull/1 stays"),
        ("<!-- template\nwords -->It fails", "It fails"),
        ("It fails <!-- never closed", "It fails"),
        ("the colour #112233, `#1` and &#39; stay", "the colour #112233, `#1` and &#39; stay"),
        ("since commit 0123456789abcdef0123456789abcdef01234567 it fails", "since commit it fails"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("", ""),
        ("Fixes #12", ""),
    ],
)
def test_prose(text: str, clean: str) -> None:
    assert without_solution(text) == clean


def test_diffs_go_and_code_stays() -> None:
    code = "```python\nprint(1)  # Fixes #12 (#3)\n```"
    diff = "```diff\n-a\n+b\n```"
    hidden = "~~~\n@@ -1 +1 @@\n-a\n+b\n~~~"
    bare = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\nafter"
    assert without_solution(f"x\n{code}\ny\n{diff}\nz\n{hidden}\n{bare}") == f"x\n{code}\ny\nz\nafter"
    assert without_solution("```suggestion\nreturn 2\n```") == ""


def test_an_issue_is_its_title_and_its_body() -> None:
    assert issue_text("Wrong total (#2)", "It is 3.\n") == "Wrong total\n\nIt is 3."
    assert issue_text("Wrong total", "") == "Wrong total"


def test_a_merge_says_things_once() -> None:
    merge = "Merge pull request #5 from ann/fix\n\nRound prices"
    assert change_text(merge, ["round  prices\n\nThey are cut."]) == "round  prices\n\nThey are cut."
    assert change_text(merge, ["Round prices", "Fix lint"]) == "Round prices\n\nFix lint"
    assert change_text(merge, ["Round prices to cents"]) == "Round prices to cents"
    assert change_text("Fix", ["Fixed more"]) == "Fix\n\nFixed more"
    assert change_text("Merge pull request #5 from ann/fix", []) == ""


PIECES = st.sampled_from(
    [
        "Fixes #1", "closes", " ", "\n", "\n\n", "#12", "(#3)", "see", "issue", "```", "```diff", "~~~~",
        "+x", "-y", "@@ -1 +1 @@", "diff --git a b", "<!--", "-->", "word", "- ", ":", ".", "ann/shop#4",
        "GH-5", "\0", "https://github.com/a/b/pull/1", "commit abcdef0", "Signed-off-by: x", "\r", "é",
        "\x1f", "as requested in", "(cherry picked from commit abcdef0)", "This reverts commit abcdef0.",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=80)


@given(TEXTS)
@example("```\nx\n```\n```\ny\n```")
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    clean = without_solution(text)
    assert without_solution(clean) == clean
    assert len(clean) <= len(text)


@given(TEXTS.filter(lambda text: "`" not in text and "~" not in text))
def test_no_closing_words_nor_diffs_are_left(text: str) -> None:
    clean = without_solution(text)
    assert not re.search(r"(?i)(?<![\w-])(?:fixes|closes) #\d{1,5}(?!\w)", clean)
    assert not re.search(r"(?m)^(?:diff --git |@@ -\d)", clean)
