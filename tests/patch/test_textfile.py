import codecs
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError, PatchRefusedError
from codeforge.patch.safepath import resolve_target
from codeforge.patch.textfile import decode_bytes, read_bytes, read_text_file, refuse_read_only, stage


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (b"", "utf-8"),
        (b"a\r\nb\nc\rd", "utf-8"),
        (codecs.BOM_UTF8 + b"x\n", "utf-8"),
        ("x\u00e9\r\n".encode("utf-16"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + "x\n".encode("utf-16-be"), "utf-16-be"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\n\xcf\n", "cp1251"),
        (b"# coding: iso-2022-jp\n\x1b$B$\x22\x1b(B\n", "iso2022_jp"),
        (b"# coding: rot13\n\xe9\n", "latin-1"),
        (b"# coding: no-such-codec\nx\n", "utf-8"),
        (b"x = '\xe9'\n", "latin-1"),
        ("é è à".encode() + b"\xff\n", "utf-8"),
        (b"form\x0cfeed\x85 \xe2\x80\xa8sep\n", "latin-1"),
    ],
)
def test_every_encoding_comes_back_byte_for_byte(raw: bytes, encoding: str) -> None:
    file = decode_bytes(raw, "f")
    assert file.to_bytes() == raw
    assert file.encoding == encoding


@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda t: t.encode("utf-8", "ignore"))))
def test_any_bytes_round_trip_or_are_refused(raw: bytes) -> None:
    try:
        file = decode_bytes(raw, "f")
    except PatchRefusedError:
        return
    assert file.to_bytes() == raw
    assert "\r" not in file.text
    file.text.encode("utf-8")  # no lone surrogates


@given(
    st.binary(max_size=60),
    st.sampled_from(["utf-8", "latin-1", "cp1252", "shift_jis", "utf-7", "euc_jp", "hz"]),
)
def test_a_cookie_never_costs_a_byte(tail: bytes, codec: str) -> None:
    raw = b"# coding: " + codec.encode() + b"\n" + tail.replace(b"\0", b"")
    assert decode_bytes(raw, "f").to_bytes() == raw


def test_lines_split_only_at_real_line_ends() -> None:
    file = decode_bytes("a\x0bb\x0c\u2028\x1cc\n".encode(), "f")
    assert len(file.lines) == 1


@pytest.mark.parametrize("raw", [b"a\0b", codecs.BOM_UTF32_LE + b"a\0\0\0", codecs.BOM_UTF16_LE + b"a\0\0\0"])
def test_binary_is_refused(raw: bytes) -> None:
    with pytest.raises(PatchRefusedError, match="binary"):
        decode_bytes(raw, "f")


def test_huge_is_refused(put, tmp_path: Path) -> None:
    put("big.txt", b"x" * 5000)
    with pytest.raises(PatchRefusedError, match="too large"):
        read_bytes(tmp_path, "big.txt", max_bytes=4999)
    assert read_text_file(tmp_path, "big.txt", max_bytes=5000).text == "x" * 5000


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a\\b",
        "C:/x",
        "~/x",
        ".git/config",
        "sub/.GIT/hooks/x",
        "d/",
        ".",
        ".codeforge/config.toml",
        "a\nb",
        "x/.git./config",
    ],
)
def test_bad_paths_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(PatchRefusedError):
        resolve_target(tmp_path, path)


def test_links_must_stay_inside(put, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    put("outside.txt", "secret")
    put("repo/real.txt", "x")
    (root / "out").symlink_to("../outside.txt")
    (root / "in").symlink_to("real.txt")
    (root / "loop").symlink_to("loop")
    (root / "git").symlink_to(".git")
    (root / "updir").symlink_to("..")
    assert resolve_target(root, "in").path == "real.txt"
    for path in ("out", "loop", "git/config", "updir/outside.txt"):
        with pytest.raises(PatchRefusedError):
            resolve_target(root, path)


def test_submodules_fifos_and_folders_are_refused(put, tmp_path: Path) -> None:
    put("sub/.git", "gitdir: ../.git/modules/sub")
    put("sub/a.py", "x")
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (("sub/a.py", "another git repository"), ("pipe", "regular"), ("sub", "directory")):
        with pytest.raises(PatchRefusedError, match=reason):
            resolve_target(tmp_path, path)


def test_read_only_files_and_folders_are_refused_even_for_root(put, tmp_path: Path) -> None:
    put("ro.txt", "x", 0o444)
    put("d/x.txt", "x")
    (tmp_path / "d").chmod(0o555)
    try:
        for path in ("ro.txt", "d/x.txt", "d/new.txt"):
            with pytest.raises(PatchRefusedError, match="read-only"):
                refuse_read_only(resolve_target(tmp_path, path))
    finally:
        (tmp_path / "d").chmod(0o755)


def test_staging_keeps_mode_and_leaves_nothing(put, tmp_path: Path) -> None:
    put("run.sh", "old", 0o750)
    target = resolve_target(tmp_path, "run.sh")
    staged = stage(target, b"new", None)
    staged.replace()
    assert (tmp_path / "run.sh").read_bytes() == b"new"
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in tmp_path.iterdir()] == ["run.sh"]


def test_new_files_obey_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        stage(resolve_target(tmp_path, "n"), b"", None).replace()
    finally:
        os.umask(old)
    assert (tmp_path / "n").stat().st_mode & 0o777 == 0o640


FILE_LIMIT = """
import resource, signal, sys
from pathlib import Path
from codeforge.errors import EnvironmentUnavailableError
from codeforge.patch.apply import resolve_patch, write_patch
from codeforge.patch.model import EditBlock
root = Path(sys.argv[1])
big = "y\\n" * 20000
small = EditBlock("a.txt", search="a\\n", replace="b\\n")
patch = resolve_patch([small, EditBlock("z.txt", search="z\\n", replace=big)], root)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
try:
    write_patch(patch, root)
except EnvironmentUnavailableError as error:
    print("refused", error.kept)
"""


def test_a_write_that_fails_halfway_changes_nothing(put, tmp_path: Path) -> None:
    put("a.txt", "a\n")
    put("z.txt", "z\n")
    done = subprocess.run([sys.executable, "-c", FILE_LIMIT, str(tmp_path)], capture_output=True, text=True)
    assert "refused" in done.stdout, done.stderr
    assert (tmp_path / "a.txt").read_text() == "a\n" and (tmp_path / "z.txt").read_text() == "z\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "z.txt"]


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    """On a real file system of 64 KiB, where this machine lets us mount one."""
    root = tmp_path / "small"
    root.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", root], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        (root / "a.txt").write_text("a\n")
        with pytest.raises(EnvironmentUnavailableError, match=os.strerror(errno.ENOSPC)):
            stage(resolve_target(root, "a.txt"), b"x" * 200_000, None)
        assert [path.name for path in root.iterdir()] == ["a.txt"]
        assert (root / "a.txt").read_text() == "a\n"
    finally:
        subprocess.run(["umount", root], check=True)
