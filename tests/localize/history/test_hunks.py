"""Reading patches."""

from codeforge.localize.history.hunks import MARKER, Touched, touched


def patch(*lines: str) -> bytes:
    return "\n".join((MARKER + "abc", "", *lines, "")).encode()


def test_the_header_names_the_function() -> None:
    lines = ("diff --git a/x.py b/x.py", "--- a/x.py", "+++ b/x.py", "@@ -3 +3 @@ def f(self):", "-a", "+b")
    assert list(touched(patch(*lines))) == [Touched("abc", "x.py", "def f(self):")]


def test_changed_lines_that_look_like_headers_are_not() -> None:
    lines = ("--- a/x.py", "+++ b/x.py", "@@ -3,2 +3,2 @@ def f():")
    changed = (
        "--- a/other.py",
        "-x",
        "+++ b/other.py",
        "+@@ -1 +1 @@ def g():",
        "@@ -9 +9 @@ def h():",
        "-",
        "+",
    )
    assert [found[1:] for found in touched(patch(*lines, *changed))] == [
        ("x.py", "def f():"),
        ("x.py", "def h():"),
    ]


def test_hunks_that_only_add_or_only_remove() -> None:
    lines = ("--- a/x.py", "+++ b/x.py", "@@ -3,0 +4 @@ def f():", "+a", "@@ -5 +5,0 @@ def g():", "-a")
    assert [found.function for found in touched(patch(*lines))] == ["def f():", "def g():"]


def test_a_hunk_that_begins_with_a_definition_is_not_in_the_function_before() -> None:
    lines = ("--- a/x.go", "+++ b/x.go", "@@ -3 +3 @@ func Before() {", "-func A() {", "+func B() {")
    assert [found.function for found in touched(patch(*lines))] == ["func A() {", "func B() {"]


def test_definitions_within_a_hunk_are_touched_too() -> None:
    lines = (
        "--- a/x.py",
        "+++ b/x.py",
        "@@ -3,0 +4,4 @@ class A:",
        "+",
        "+    async def b(self):",
        "+        c()",
        "+",
    )
    assert [found.function for found in touched(patch(*lines))] == ["class A:", "async def b(self):"]


def test_new_and_deleted_files_and_missing_line_ends() -> None:
    new = ("--- /dev/null", "+++ b/new.py", "@@ -0,0 +1 @@", "+def f(): pass", "\\ No newline at end of file")
    gone = (
        "--- a/gone.py",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-class C: pass",
        "\\ No newline at end of file",
    )
    found = [found[1:] for found in touched(patch(*new, *gone))]
    assert found == [("new.py", "def f(): pass"), ("gone.py", "class C: pass")]


def test_quoted_names() -> None:
    lines = (
        '--- "a/q\\"\\\\\\303\\251\\t.py"',
        '+++ "b/q\\"\\\\\\303\\251\\t.py"',
        "@@ -1 +1 @@ def f():",
        "-",
        "+",
    )
    assert [found.path for found in touched(patch(*lines))] == ['q"\\\u00e9\t.py']


def test_a_patch_cut_short() -> None:
    assert list(touched(patch("--- a/x.py", "+++ b/x.py", "@@ -1,9 +1,9 @@ def f():", "-a"))) != []
    assert list(touched(b"")) == []
