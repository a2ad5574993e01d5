import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unidiff import PatchSet

from codeforge.patch.apply import resolve_patch
from codeforge.patch.diff import patch_stats, render_patch
from codeforge.patch.model import EditBlock, EditKind, FileChange, Patch
from codeforge.patch.parse import parse_answer


def git_applies(root: Path, patch: Patch) -> None:
    """Real git takes the diff and arrives at exactly the bytes of the patch."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent), "GIT_CONFIG_GLOBAL": os.devnull}
    diff = render_patch(patch).encode()
    done = subprocess.run(["git", "apply", "-"], cwd=root, input=diff, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr.decode() + diff.decode()
    for change in patch.changes:
        path = root / change.path
        assert (path.read_bytes() if path.exists() else None) == change.after


@pytest.mark.parametrize(
    ("before", "search", "replace"),
    [
        ("a\nb\nc\n", "b", "B"),
        ("a\r\nb\r\nc\r\n", "b", "B\nB2"),
        ("a\r\nb\nc", "c", "C\nD"),
        ("a\nb", "b", ""),
        ("a\nb", "a", "x"),
        ("é\nb\n", "b", "ü"),
        ("\n" * 30 + "x\n" + "\n" * 30 + "y\n", "x", "X"),
    ],
)
def test_git_applies_edits(put, tmp_path: Path, before: str, search: str, replace: str) -> None:
    put("dir/a file.txt", before)
    git_applies(
        tmp_path, resolve_patch([EditBlock("dir/a file.txt", search=search, replace=replace)], tmp_path)
    )


def test_git_applies_create_delete_rename_and_modes(put, tmp_path: Path) -> None:
    put("old.sh", "#!/bin/sh\necho\n", 0o755)
    put("gone.txt", "x")
    patch = resolve_patch(
        [
            EditBlock("old.sh", EditKind.RENAME, new_path="new.sh"),
            EditBlock("gone.txt", EditKind.DELETE),
            EditBlock("made.txt", EditKind.CREATE, replace="a\nb"),
            EditBlock("empty.txt", EditKind.CREATE),
        ],
        tmp_path,
    )
    text = render_patch(patch)
    assert "new file mode 100755" in text and "deleted file mode 100755" in text
    assert "\\ No newline at end of file" in text and "--- /dev/null" in text
    git_applies(tmp_path, patch)
    assert (tmp_path / "new.sh").stat().st_mode & 0o111


def test_stats_agree_with_unidiff(put, tmp_path: Path) -> None:
    put("a.py", "".join(f"line {i}\n" for i in range(60)))
    edits = [
        EditBlock("a.py", search="line 3", replace="x\ny"),
        EditBlock("a.py", search="line 50\nline 51", replace="z"),
        EditBlock("b.py", EditKind.CREATE, replace="-- a\n++ b\n"),
    ]
    patch = resolve_patch(edits, tmp_path)
    parsed = PatchSet(render_patch(patch))
    stats = patch_stats(patch)
    assert (stats.files, stats.added, stats.removed) == (2, parsed.added, parsed.removed) == (2, 5, 3)


def test_odd_encodings_are_readable() -> None:
    latin = FileChange("l.txt", b"caf\xe9\nx\n", b"caf\xe9\ny\n")
    wide = FileChange("w.txt", "é\r\n".encode("utf-16"), "ü\r\n".encode("utf-16"))
    broken = FileChange("b.txt", "é è ü".encode() + b"\xff\nx\n", "é è ü".encode() + b"\xff\ny\n")
    binary = FileChange("z.bin", b"\0", None)
    text = render_patch(Patch((), (latin, wide, broken, binary)))
    text.encode("utf-8")
    assert (
        " café" in text
        and "+\ufeffü" in text
        and "\ufffd" in text
        and "Binary files a/z.bin and /dev/null" in text
    )


TEXT = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "b", "-- x", "++ y", "@@ -1 +1 @@", " c", "é"]),
        st.sampled_from(["\n", "\r\n"]),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, TEXT, st.booleans(), st.booleans())
def test_a_rendered_diff_read_back_gives_the_same_bytes(
    tmp_path: Path, old, new, old_ended, new_ended
) -> None:
    """render → parse → apply is the identity for files with one kind of line ending."""

    def text(lines: list[tuple[str, str]]) -> bytes:
        return "".join(line + "\n" for line, _ in lines).encode()

    before, after = text(old), text(new)
    if before == after or not before or not after:
        return
    (tmp_path / "f.txt").write_bytes(before)
    parsed = parse_answer(
        "```diff\n" + render_patch(Patch((), (FileChange("f.txt", before, after),))) + "```\n"
    )
    assert not parsed.problems
    patch = resolve_patch(parsed.edits, tmp_path)
    assert patch.changes[0].after == after


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, TEXT, st.booleans(), st.booleans())
def test_git_applies_any_diff(tmp_path: Path, old, new, old_ended: bool, new_ended: bool) -> None:
    def text(lines: list[tuple[str, str]], ended: bool) -> bytes:
        raw = "".join(line + end for line, end in lines).encode()
        return raw if ended else raw.rstrip(b"\r\n")

    before, after = text(old, old_ended), text(new, new_ended)
    if before == after:
        return
    (tmp_path / "f.txt").write_bytes(before)
    git_applies(tmp_path, Patch((), (FileChange("f.txt", before, after, 0o644),)))
