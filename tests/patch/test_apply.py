from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeforge.errors import CodeforgeError, PatchRefusedError, PermissionDeniedError
from codeforge.patch.apply import EditsRefusedError, resolve_patch, write_patch
from codeforge.patch.model import EditBlock, EditKind
from codeforge.patch.textfile import TEMPORARY_PREFIX


def snapshot(root: Path) -> dict[str, tuple[bytes, int] | str]:
    """Every file (bytes and mode) and link below `root`, codeforge's own folder apart."""
    found: dict[str, tuple[bytes, int] | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] == ".codeforge":
            continue
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = (path.read_bytes(), path.stat().st_mode)
        else:
            found[name] = "folder"
    return found


def run(root: Path, *edits: EditBlock, scope: tuple[str, ...] = ()) -> tuple[str, ...]:
    patch = resolve_patch(edits, root, scope=scope)
    write_patch(patch, root)
    return patch.notes


def test_several_edits_of_several_files(put, tmp_path: Path) -> None:
    put("a.py", "x = 1\r\ny = 2\r\n", 0o755)
    put("b.py", "z = 3")
    run(
        tmp_path,
        EditBlock("a.py", search="x = 1", replace="x = 10\nw = 0"),
        EditBlock("a.py", search="w = 0", replace="w = 5"),
        EditBlock("b.py", search="z = 3", replace="z = 30"),
        EditBlock("new/dir/c.py", EditKind.CREATE, replace="c = 1\n"),
    )
    assert (tmp_path / "a.py").read_bytes() == b"x = 10\r\nw = 5\r\ny = 2\r\n"
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "b.py").read_bytes() == b"z = 30"
    assert (tmp_path / "new/dir/c.py").read_bytes() == b"c = 1\n"
    assert not list(tmp_path.rglob(TEMPORARY_PREFIX + "*"))


def test_pins_are_lines_of_the_file_before_the_patch(put, tmp_path: Path) -> None:
    put("a", "1\nx\n2\nx\n3\nx\n")
    run(
        tmp_path,
        EditBlock("a", search="x", replace="A\nA\nA", near_line=2),
        EditBlock("a", replace="I", near_line=5),
        EditBlock("a", search="x", replace="C", near_line=6),
        EditBlock("a", search="x", replace="", near_line=4),
    )
    assert (tmp_path / "a").read_text() == "1\nA\nA\nA\n2\nI\n3\nC\n"


def test_insertion_needs_a_place(put, tmp_path: Path) -> None:
    put("a", "1\n2\n")
    run(tmp_path, EditBlock("a", replace="0", near_line=1), EditBlock("a", replace="3", near_line=3))
    assert (tmp_path / "a").read_text() == "0\n1\n2\n3\n"
    for edit in (EditBlock("a", replace="x"), EditBlock("a", replace="x", near_line=9)):
        with pytest.raises(EditsRefusedError):
            resolve_patch([edit], tmp_path)


def test_every_refusal_is_listed_and_nothing_written(put, tmp_path: Path) -> None:
    put("a.py", "x\nx\n")
    put("src/util.py", "u\n")
    put("ro.py", "r\n", 0o444)
    put("bin", b"\0\1")
    before = snapshot(tmp_path)
    edits = [
        EditBlock("a.py", search="x", replace="y"),
        EditBlock("util.py", search="u", replace="y"),
        EditBlock("../a.py", search="u", replace="y"),
        EditBlock("ro.py", search="r", replace="y"),
        EditBlock("bin", search="r", replace="y"),
        EditBlock("src/util.py", EditKind.CREATE, replace="y"),
        EditBlock("src/util.py", search="u", replace="u"),
        EditBlock("src/util.py", EditKind.RENAME, new_path="a.py"),
        EditBlock("a.py/b.py", EditKind.CREATE, replace="y"),
        EditBlock("none.py", EditKind.DELETE),
    ]
    with pytest.raises(EditsRefusedError) as caught:
        resolve_patch([EditBlock("src/util.py", search="u", replace="fine"), *edits], tmp_path)
    assert [item.index for item in caught.value.refusals] == list(range(1, 11))
    message = caught.value.message
    assert "lines 1 and 2" in message and "did you mean src/util.py?" in message and "read-only" in message
    assert "binary" in message and snapshot(tmp_path) == before


def test_scope(put, tmp_path: Path) -> None:
    put("src/a.py", "x\n")
    put("tests/t.py", "x\n")
    resolve_patch([EditBlock("src/a.py", search="x", replace="y")], tmp_path, scope=["src/"])
    resolve_patch([EditBlock("src/a.py", search="x", replace="y")], tmp_path, scope=["*.py", "!tests/"])
    for edit in (
        EditBlock("tests/t.py", search="x", replace="y"),
        EditBlock("src/a.py", EditKind.RENAME, new_path="tests/a.py"),
    ):
        with pytest.raises(PermissionDeniedError, match="tests/"):
            resolve_patch([edit], tmp_path, scope=["src/**"])


def test_a_link_does_not_lead_out_of_the_scope(put, tmp_path: Path) -> None:
    put("tests/t.py", "x\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/l.py").symlink_to("../tests/t.py")
    with pytest.raises(PermissionDeniedError):
        resolve_patch([EditBlock("src/l.py", search="x", replace="y")], tmp_path, scope=["src/"])


def test_links_keep_and_their_targets_change(put, tmp_path: Path) -> None:
    put("real.txt", "x\n")
    (tmp_path / "link.txt").symlink_to("real.txt")
    notes = run(
        tmp_path,
        EditBlock("link.txt", search="x", replace="y"),
        EditBlock("real.txt", search="y", replace="z"),
    )
    assert (tmp_path / "link.txt").is_symlink() and (tmp_path / "real.txt").read_text() == "z\n"
    assert any("real.txt" in item for item in notes)
    with pytest.raises(PatchRefusedError, match="link"):
        resolve_patch([EditBlock("link.txt", EditKind.DELETE)], tmp_path)


def test_rename_delete_and_create_in_one_patch(put, tmp_path: Path) -> None:
    put("old.sh", "a\n", 0o755)
    put("gone.txt", "g")
    run(
        tmp_path,
        EditBlock("old.sh", EditKind.RENAME, new_path="bin/new.sh"),
        EditBlock("bin/new.sh", search="a", replace="b"),
        EditBlock("gone.txt", EditKind.DELETE),
        EditBlock("gone.txt", EditKind.CREATE, replace="back"),
    )
    assert sorted(snapshot(tmp_path)) == ["bin", "bin/new.sh", "gone.txt"]
    assert (tmp_path / "bin/new.sh").read_text() == "b\n"
    assert (tmp_path / "bin/new.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "gone.txt").read_bytes() == b"back"


def test_an_empty_file_may_be_filled(put, tmp_path: Path) -> None:
    put("__init__.py", "")
    run(tmp_path, EditBlock("__init__.py", EditKind.CREATE, replace="x = 1\n"))
    assert (tmp_path / "__init__.py").read_text() == "x = 1\n"


def test_encodings_are_kept(put, tmp_path: Path) -> None:
    put("l1.py", b"# coding: latin-1\nx = '\xe9'\ny = 1\n")
    put("u16.txt", "a\r\nb\r\n".encode("utf-16"))
    put("bom.py", b"\xef\xbb\xbfx\ny\n")
    put("bad.txt", "ok é è\nbroken ".encode() + b"\xff\n")
    run(
        tmp_path,
        EditBlock("l1.py", search="y = 1", replace="y = 'ü'"),
        EditBlock("u16.txt", search="b", replace="ß"),
        EditBlock("bom.py", search="x\ny", replace="z\ny"),
        EditBlock("bad.txt", search="ok é è\nbroken \ufffd", replace="fine é\nbroken \ufffd"),
    )
    assert (tmp_path / "l1.py").read_bytes() == b"# coding: latin-1\nx = '\xe9'\ny = '\xfc'\n"
    assert (tmp_path / "u16.txt").read_bytes() == "a\r\nß\r\n".encode("utf-16")
    assert (tmp_path / "bom.py").read_bytes() == b"\xef\xbb\xbfz\ny\n"
    assert (tmp_path / "bad.txt").read_bytes() == "fine é\nbroken ".encode() + b"\xff\n"
    for edit in (
        EditBlock("l1.py", search="y = 'ü'", replace="y = '→'"),
        EditBlock("bad.txt", search="broken \ufffd", replace="mended \ufffd"),
        EditBlock("bom.py", search="z", replace="\0"),
    ):
        with pytest.raises(EditsRefusedError):
            resolve_patch([edit], tmp_path)


def test_writing_refuses_what_changed_meanwhile(put, tmp_path: Path) -> None:
    put("a", "1\n")
    put("b", "1\n")
    patch = resolve_patch([EditBlock(name, search="1", replace="2") for name in "ab"], tmp_path)
    put("b", "1 \n")
    with pytest.raises(PatchRefusedError, match="changed since the patch was made: b"):
        write_patch(patch, tmp_path)
    assert (tmp_path / "a").read_text() == "1\n"


LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "b", "  a", "\tb", "x = 1", "é", "\u2028", "a  ", "def f():", "\x0c"]),
        st.sampled_from(["\n", "\r\n", "\r"]),
    ),
    max_size=12,
)
TEXTS = st.lists(st.sampled_from(["", "a", "b", " a", "x = 1", "new", "é", "def f():"]), max_size=4).map(
    "\n".join
)
EDITS = st.builds(
    EditBlock,
    path=st.sampled_from(["f", "f", "f", "g", "h"]),
    kind=st.sampled_from([EditKind.REPLACE] * 6 + [EditKind.CREATE, EditKind.DELETE, EditKind.RENAME]),
    search=TEXTS,
    replace=TEXTS,
    new_path=st.sampled_from(["g", "h", "d/e"]),
    near_line=st.none() | st.integers(1, 8),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    LINES,
    st.booleans(),
    st.sampled_from(
        [("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("latin-1", b""), ("utf-16-le", b"\xff\xfe")]
    ),
    st.integers(0, 12),
    st.integers(1, 3),
    TEXTS,
)
def test_lines_outside_the_edit_keep_their_bytes(
    tmp_path: Path,
    lines: list[tuple[str, str]],
    ended: bool,
    encoding: tuple[str, bytes],
    at: int,
    count: int,
    replace: str,
) -> None:
    """Whatever the file, an edit of `count` lines from `at` leaves the bytes before and after alone."""
    codec, bom = encoding
    lines = [(text.replace("\u2028", "u") if codec == "latin-1" else text, end) for text, end in lines]
    if not ended and lines and lines[-1][0]:
        lines[-1] = (lines[-1][0], "")
    raw = bom + "".join(text + end for text, end in lines).encode(codec)
    (tmp_path / "f").write_bytes(raw)
    named = lines[at : at + count]
    # "\r" followed by an empty line ended by "\n" is one "\r\n": not the lines we think
    if not named or any(a[1] == "\r" and b == ("", "\n") for a, b in pairwise(lines)):
        return
    search = "".join(text + "\n" for text, _ in named)
    try:
        patch = resolve_patch([EditBlock("f", search=search, replace=replace, near_line=at + 1)], tmp_path)
    except CodeforgeError:
        return
    after = patch.changes[0].after if patch.changes else raw
    assert after is not None
    head = bom + "".join(text + end for text, end in lines[:at]).encode(codec)
    tail = "".join(text + end for text, end in lines[at + count :]).encode(codec)
    assert after.startswith(head) and after.endswith(tail) and len(after) >= len(head) + len(tail)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.lists(EDITS, max_size=4), st.booleans())
def test_a_refused_patch_changes_nothing_and_an_accepted_one_is_what_it_says(
    tmp_path: Path, lines: list[tuple[str, str]], edits: list[EditBlock], second: bool
) -> None:
    for name in "fghde":
        path = tmp_path / name
        if path.is_dir():
            (path / "e").unlink(missing_ok=True)
        path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()
    (tmp_path / "f").write_bytes("".join(text + end for text, end in lines).encode())
    if second:
        (tmp_path / "g").write_bytes(b"a\nb")
    before = snapshot(tmp_path)
    try:
        patch = resolve_patch(edits, tmp_path)
        assert snapshot(tmp_path) == before
        write_patch(patch, tmp_path)
    except CodeforgeError:
        assert snapshot(tmp_path) == before
        return
    for change in patch.changes:
        path = tmp_path / change.path
        assert (path.read_bytes() if path.exists() else None) == change.after
    untouched = set(before) - {change.path for change in patch.changes}
    now = snapshot(tmp_path)
    assert all(now[name] == before[name] for name in untouched)


def test_a_read_only_folder_is_refused(put, tmp_path: Path) -> None:
    put("d/a", "1\n")
    (tmp_path / "d").chmod(0o555)
    try:
        with pytest.raises(EditsRefusedError, match="read-only"):
            resolve_patch([EditBlock("d/a", search="1", replace="2")], tmp_path)
    finally:
        (tmp_path / "d").chmod(0o755)
