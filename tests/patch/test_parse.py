# ruff: noqa: E501 (tables of texts)
"""Answers as models really write them."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codeforge.patch.apply import resolve_patch
from codeforge.patch.model import EditBlock, EditKind
from codeforge.patch.parse import parse_answer
from codeforge.patch.pathline import path_of_line

WANTED = EditBlock("src/app.py", search="a = 1\n", replace="a = 2\n")
BLOCK = "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n"

SHAPES = {
    "path before fence": f"src/app.py\n```python\n{BLOCK}```\n",
    "path in backticks": f"Here is the fix:\n\n`src/app.py`\n```python\n{BLOCK}```\nDone.",
    "path bold": f"**src/app.py**\n\n```python\n{BLOCK}```",
    "path bold and backticks": f"**`src/app.py`**:\n```\n{BLOCK}```",
    "heading": f"### src/app.py\n```python\n{BLOCK}```",
    "heading with label": f"#### File: `src/app.py`\n```python\n{BLOCK}```",
    "File: prefix": f"File: src/app.py\n```python\n{BLOCK}```",
    "Filename with colon": f"**Filename:** `src/app.py`\n```python\n{BLOCK}```",
    "numbered list": f"1. `src/app.py`:\n```python\n{BLOCK}```",
    "dot slash": f"./src/app.py\n```python\n{BLOCK}```",
    "inside the fence": f"```python\nsrc/app.py\n{BLOCK}```",
    "comment inside the fence": f"```python\n# src/app.py\n{BLOCK}```",
    "slash comment inside the fence": f"```js\n// src/app.py\n{BLOCK}```",
    "info string": f"```python src/app.py\n{BLOCK}```",
    "info string with colon": f"```python:src/app.py\n{BLOCK}```",
    "info string with title": f'```python title="src/app.py"\n{BLOCK}```',
    "info string is the path": f"```src/app.py\n{BLOCK}```",
    "in the marker line": f"```python\n{BLOCK.replace('SEARCH', 'SEARCH src/app.py')}```",
    "in the marker line in backticks": BLOCK.replace("SEARCH", "SEARCH: `src/app.py`"),
    "no fence": f"src/app.py\n{BLOCK}",
    "no fence, prose around": f"I changed src/app.py so that it works.\n\n{BLOCK}\nThis makes a equal 2.",
    "prose names the path": f"In `src/app.py`, replace the first line:\n\n```python\n{BLOCK}```",
    "prose between path and fence": f"src/app.py\nChange the constant:\n```python\n{BLOCK}```",
    "wrong language": f"src/app.py\n```javascript\n{BLOCK}```",
    "diff language": f"src/app.py\n```diff\n{BLOCK}```",
    "tildes": f"src/app.py\n~~~python\n{BLOCK}~~~",
    "unclosed fence": f"src/app.py\n```python\n{BLOCK}",
    "five marker characters": f"src/app.py\n{BLOCK.replace('<<<<<<<', '<<<<<').replace('=======', '=====').replace('>>>>>>>', '>>>>>')}",
    "nine marker characters": f"src/app.py\n{BLOCK.replace('<<<<<<<', '<' * 9).replace('=======', '=' * 9).replace('>>>>>>>', '>' * 9)}",
    "mixed marker widths": f"src/app.py\n{BLOCK.replace('=======', '=' * 6).replace('>>>>>>>', '>' * 8)}",
    "lower case": f"src/app.py\n{BLOCK.replace('SEARCH', 'search').replace('REPLACE', 'replace')}",
    "original / updated": f"src/app.py\n{BLOCK.replace('SEARCH', 'ORIGINAL').replace('REPLACE', 'UPDATED')}",
    "end marker without its word": f"src/app.py\n{BLOCK.replace(' REPLACE', '')}",
    "fence instead of the end marker": "src/app.py\n```python\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n```\nDone.",
    "halves fenced": "src/app.py\n<<<<<<< SEARCH\n```python\na = 1\n```\n=======\n```python\na = 2\n```\n>>>>>>> REPLACE",
    "indented in a list": "- src/app.py\n    <<<<<<< SEARCH\n    a = 1\n    =======\n    a = 2\n    >>>>>>> REPLACE\n",
    "CRLF answer": f"src/app.py\n```python\n{BLOCK}```\n".replace("\n", "\r\n"),
    "no space after markers": f"src/app.py\n{BLOCK.replace('< SEARCH', '<SEARCH').replace('> REPLACE', '>REPLACE')}",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_search_replace_blocks(shape: str) -> None:
    parsed = parse_answer(SHAPES[shape])
    assert not parsed.problems
    assert parsed.edits == (WANTED,)


def test_several_blocks_and_paths() -> None:
    answer = (
        f"a.py\n```python\n{BLOCK}{BLOCK}```\nand\n\nb.py\n```python\n{BLOCK}```\nagain:\n```\n{BLOCK}```"
    )
    assert [edit.path for edit in parse_answer(answer).edits] == ["a.py", "a.py", "b.py", "b.py"]


def test_a_known_path_may_be_odd_and_the_only_one_may_stay_unsaid() -> None:
    odd = "docs/my notes"
    assert parse_answer(f"docs/my notes\n{BLOCK}", known_paths=[odd, "x"]).edits[0].path == odd
    assert parse_answer(BLOCK, known_paths=["x.py"]).edits[0].path == "x.py"
    (problem,) = parse_answer(BLOCK, known_paths=["x.py", "y.py"]).problems
    assert "which file" in problem.reason and problem.line == 1


@pytest.mark.parametrize(
    "line", ["# TODO/FIXME", "and/or", "self.items", "e.g.", "v1.2", "http://x.y/z.py", "https://x.y"]
)
def test_what_is_no_path(line: str) -> None:
    assert path_of_line(line) is None


def test_a_file_without_extension_must_be_known() -> None:
    assert path_of_line("`bin/run`") is None
    assert path_of_line("`bin/run`:", frozenset({"bin/run"})) == "bin/run"
    assert path_of_line("run the test", frozenset({"test", "run"})) is None


def test_prose_that_names_two_files_names_none() -> None:
    assert parse_answer(f"Between `a.py` and `b.py`:\n\n{BLOCK}").problems


CONFLICT = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> branch\n"


@pytest.mark.parametrize(
    ("search", "replace", "width"),
    [
        (CONFLICT, "x = 2\n", 7),
        ("x = 2\n", CONFLICT, 7),
        ("Title\n=====\n", "Better\n======\n", 7),
        ("Title\n=======\n", "Better\n=======\n", 9),
        (f"doc.py\n{BLOCK}", "no more\n", 9),
        (f"doc.py\n{BLOCK}", f"other.py\n{BLOCK}", 7),
        ("```python\nx\n```\nmore\n", "```python\ny\n```\n", 7),
        ("a\n", "", 7),
        ("a\n", "a\n\n\n", 7),
        (">>>>>>> branch\n", "gone\n", 7),
    ],
)
def test_conflict_like_content(search: str, replace: str, width: int) -> None:
    answer = f"r.py\n```\n{'<' * width} SEARCH\n{search}{'=' * width}\n{replace}{'>' * width} REPLACE\n```\n"
    parsed = parse_answer(answer)
    assert not parsed.problems
    assert parsed.edits == (EditBlock("r.py", search=search, replace=replace),)


def test_an_unclear_divider_is_a_problem_unless_the_file_decides(entities, put) -> None:
    answer = "r.rst\n<<<<<<< SEARCH\nTitle\n=======\n=======\nBetter\n=======\n>>>>>>> REPLACE\n"
    (problem,) = parse_answer(answer).problems
    assert "isn't clear" in problem.reason
    put("r.rst", "Title\n=======\ntext\n")
    (edit,) = parse_answer(answer, entities).edits
    assert (edit.search, edit.replace) == ("Title\n=======\n", "Better\n=======\n")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("a.py\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n", "no '=======' line"),
        ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n", "cut off"),
        ("a.py\n<<<<<<< SEARCH\nx\n", "no '=======' line"),
        ("a.py\n```diff\nnothing here\n```", "diff"),
        ("*** Create File: a.py\nno fence\n", "no content"),
        ("*** Rename File: a.py\n", "written"),
        ("*** Update File: a.py\n", "no hunk"),
        ("--- a/x.bin\n+++ b/x.bin\n@@\n+only added\n", "where they go"),
    ],
)
def test_problems_are_told(answer: str, reason: str) -> None:
    parsed = parse_answer(answer)
    assert not parsed.edits and reason in parsed.problems[0].reason


def test_a_broken_block_does_not_swallow_the_next() -> None:
    parsed = parse_answer(f"a.py\n<<<<<<< SEARCH\nlost\n\nsrc/app.py\n```python\n{BLOCK}```\n")
    assert parsed.edits == (WANTED,) and len(parsed.problems) == 1


def test_an_empty_search_creates() -> None:
    parsed = parse_answer("new.py\n```python\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE\n```")
    assert parsed.edits == (EditBlock("new.py", EditKind.CREATE, replace="x = 1\n"),)


def test_directives() -> None:
    answer = """I'll move things.

*** Rename File: old.py -> pkg/new.py
*** Delete File: `gone.py`
*** Create File: README.md
```markdown
# Title
```bash
make
```
end
```
*** Add File: two.txt
+a
+
+b
"""
    parsed = parse_answer(answer)
    assert not parsed.problems
    assert parsed.edits == (
        EditBlock("old.py", EditKind.RENAME, new_path="pkg/new.py"),
        EditBlock("gone.py", EditKind.DELETE),
        EditBlock("README.md", EditKind.CREATE, replace="# Title\n```bash\nmake\n```\nend\n"),
        EditBlock("two.txt", EditKind.CREATE, replace="a\n\nb\n"),
    )


def test_the_apply_patch_format() -> None:
    answer = """*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@ def f():
 def f():
-    return 1
+    return 2
@@
-x
+y
*** Delete File: c.py
*** End Patch
"""
    parsed = parse_answer(answer)
    assert not parsed.problems
    assert parsed.edits == (
        EditBlock("a.py", EditKind.RENAME, new_path="b.py"),
        EditBlock("b.py", search="def f():\n    return 1\n", replace="def f():\n    return 2\n"),
        EditBlock("b.py", search="x\n", replace="y\n"),
        EditBlock("c.py", EditKind.DELETE),
    )


HUNK = " def f():\n-    return 1\n+    return 2\n \n"
DIFFS = {
    "git": f"```diff\ndiff --git a/m.py b/m.py\nindex 1..2 100644\n--- a/m.py\n+++ b/m.py\n@@ -3,3 +3,3 @@ class A\n{HUNK}```",
    "plain headers": f"```diff\n--- m.py\n+++ m.py\n@@ -3,3 +3,3 @@\n{HUNK}```",
    "times": f"```diff\n--- m.py\t2024-01-01 10:00\n+++ m.py\t2024-01-01 10:01\n@@ -3,3 +3,3 @@\n{HUNK}```",
    "wrong counts": f"```diff\n--- a/m.py\n+++ b/m.py\n@@ -3,9 +3,7 @@\n{HUNK}```",
    "counts too small": f"```diff\n--- a/m.py\n+++ b/m.py\n@@ -3 +3 @@\n{HUNK}```",
    "no numbers": f"```diff\n--- a/m.py\n+++ b/m.py\n@@ ... @@\n{HUNK}```",
    "raw with prose": f"Sure:\n\n--- a/m.py\n+++ b/m.py\n@@ -3,3 +3,3 @@\n{HUNK}\nThis fixes it.\n- really\n",
    "raw git": f"diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -3,3 +3,3 @@\n{HUNK}\nDone.",
    "wrong language": f"```python\n--- a/m.py\n+++ b/m.py\n@@ -3,3 +3,3 @@\n{HUNK}```",
    "no header, path above": f"`m.py`:\n```diff\n@@ -3,3 +3,3 @@\n{HUNK}```",
    "no header, no hunk line": f"m.py\n```diff\n{HUNK}```",
    "lost spaces": f"```diff\n--- a/m.py\n+++ b/m.py\n@@ -3,3 +3,3 @@\n{HUNK.replace(' def', 'def')}```",
}


@pytest.mark.parametrize("shape", DIFFS)
def test_unified_diffs(shape: str, put, tmp_path: Path) -> None:
    put("m.py", "import os\n\ndef f():\n    return 1\n\nx = 1\n")
    parsed = parse_answer(DIFFS[shape])
    assert not parsed.problems and len(parsed.edits) == 1 and parsed.edits[0].path == "m.py"
    patch = resolve_patch(parsed.edits, tmp_path)
    assert patch.changes[0].after == b"import os\n\ndef f():\n    return 2\n\nx = 1\n"


def test_hunk_numbers_settle_repeated_context(put, tmp_path: Path) -> None:
    put("m.py", "a\nx\nb\nx\nc\n")
    parsed = parse_answer("```diff\n--- a/m.py\n+++ b/m.py\n@@ -4,1 +4,1 @@\n-x\n+y\n```")
    assert resolve_patch(parsed.edits, tmp_path).changes[0].after == b"a\nx\nb\ny\nc\n"


def test_removed_lines_that_look_like_headers(put, tmp_path: Path) -> None:
    put("q.sql", "-- old\nselect 1;\n")
    parsed = parse_answer(
        "```diff\n--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n select 1;\n```"
    )
    assert resolve_patch(parsed.edits, tmp_path).changes[0].after == b"++ new\nselect 1;\n"


def test_git_operations_in_diffs() -> None:
    answer = """```diff
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1 +1 @@
-a
+b
diff --git a/pure.py b/moved.py
similarity index 100%
rename from pure.py
rename to moved.py
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/made.py b/made.py
new file mode 100644
--- /dev/null
+++ b/made.py
@@ -0,0 +1,2 @@
+x
+y
\\ No newline at end of file
```"""
    parsed = parse_answer(answer)
    assert not parsed.problems
    assert parsed.edits == (
        EditBlock("old.py", EditKind.RENAME, new_path="new.py"),
        EditBlock("new.py", search="a\n", replace="b\n", hint_line=1),
        EditBlock("pure.py", EditKind.RENAME, new_path="moved.py"),
        EditBlock("gone.py", EditKind.DELETE),
        EditBlock("made.py", EditKind.CREATE, replace="x\ny"),
    )


def test_binary_diffs_are_a_problem() -> None:
    assert (
        "binary" in parse_answer("diff --git a/x b/x\nBinary files a/x and b/x differ\n").problems[0].reason
    )


def test_plain_prose_and_examples_are_no_edits(entities) -> None:
    parsed = parse_answer("I think the bug is in `f`.\n\n```python\nprint(f(3))\n```\n- a\n- b\n", entities)
    assert parsed.edits == () and parsed.problems == ()


PIECES = st.sampled_from(
    ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "```", "```python", "```diff", "a.py", "--- a/x", "+++ b/x", "@@ -1 +1 @@",
     "@@", "-x", "+y", " z", "", "def f():", "    return 1", "*** Create File: a", "*** Update File: a", "*** Move to: b",
     "*** Begin Patch", "diff --git a/x b/y", "rename from x", "rename to y", "new file mode 1", "deleted file mode 1",
     "class A:", "\\ No newline at end of file", "<<<<<<< HEAD", ">>>>>>> b", "# ...", "~~~", "@@ -1,2 +1,2 @@ def"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=10), max_size=25).map("\n".join))
@example("*** Update File: a\n*** Move to: b")
@example("*** Create File: a")
@example("```")
@example("--- a\n+++ b\n@@")
def test_parsing_never_raises(text: str) -> None:
    parsed = parse_answer(text, _NothingKnown(), ["a.py"])
    assert all(1 <= problem.line <= text.count("\n") + text.count("\r") + 1 for problem in parsed.problems)


class _NothingKnown:
    def lookup(self, path_hint, code):
        return []

    def source(self, path):
        return "def f():\n    pass\n"


@given(st.text(max_size=300))
def test_parsing_arbitrary_text_never_raises(text: str) -> None:
    parse_answer(text)


@pytest.mark.parametrize(
    "answer",
    [
        "<<<<<<< SEARCH\n" * 20_000,
        "--- a\n+++ b\n@@\n" * 5000,
        "```python\n" * 20_000,
        "*** Create File: a\n```\n" * 5000,
        "--- a\n+++ b\n@@\n" + "\n" * 20_000,
    ],
)
def test_long_degenerate_answers_come_to_an_end(answer: str) -> None:
    assert not any(edit.kind is EditKind.REPLACE for edit in parse_answer(answer).edits)
