"""Scratch trees: exact copies, exact resets, git inside, and the user's tree never touched."""

import contextlib
import os
import socket
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError, PatchRefusedError
from codeforge.git import GitRepo
from codeforge.patch.model import FileChange, Patch
from codeforge.sandbox import scratch, snapshot
from codeforge.sandbox.landlock import abi_version
from codeforge.sandbox.model import CommandResult, Isolation, Limits
from codeforge.sandbox.runner import available_isolation, run_command
from codeforge.sandbox.scratch import ScratchFolder, default_scratch_root
from codeforge.sandbox.workspace import Workspace, WorkspacePool

LIMITS = Limits(wall_s=60)

BUBBLEWRAP = pytest.param(
    Isolation.BUBBLEWRAP,
    marks=pytest.mark.skipif(available_isolation() is not Isolation.BUBBLEWRAP, reason="no bubblewrap here"),
)
LANDLOCK = pytest.param(
    Isolation.LANDLOCK, marks=pytest.mark.skipif(abi_version() < 1, reason="no Landlock here")
)
EVERY_ISOLATION = pytest.mark.parametrize("isolation", [BUBBLEWRAP, LANDLOCK, Isolation.LIMITS_ONLY])


@pytest.fixture(autouse=True)
def _private_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_file = tmp_path / "gitconfig"
    settings_file.write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n"
        '[protocol "file"]\n\tallow = always\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings_file))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))


def git(folder: Path, *args: str) -> str:
    return subprocess.run(
        ["git", *args],
        cwd=folder,
        check=True,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
    ).stdout


def make_repo(root: Path) -> Path:
    (root / "src" / "pkg").mkdir(parents=True)
    (root / "src" / "pkg" / "__init__.py").write_text("NAME = 'committed'\n")
    (root / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (root / "run.sh").chmod(0o755)
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / "naïve ü.txt").write_text("ü\n")
    (root / "link").symlink_to("src/pkg")
    (root / "dangling").symlink_to("nowhere")
    (root / ".gitignore").write_text(
        ".venv/\n__pycache__/\n.pytest_cache/\nnode_modules/\n*.so\n.env\n_version.py\n*.bin\ndist/\n"
    )
    git(root, "init", "-q")
    git(root, "config", "core.autocrlf", "true")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    git(root, "tag", "v1.0")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo")


@contextlib.contextmanager
def workspace_of(root: Path, isolation: Isolation | None = None) -> Iterator[Workspace]:
    repo = GitRepo.discover(root)
    with WorkspacePool.open(repo, isolation=isolation) as pool, pool.acquire() as workspace:
        yield workspace


def run(workspace: Workspace, command: str, isolation: Isolation | None = None) -> CommandResult:
    return run_command(command, workspace.cage(), LIMITS, isolation=isolation)


def picture(folder: Path, *, times: bool = False) -> dict[str, object]:
    """Everything below `folder`: kind, mode, content, link targets (and times)."""
    seen: dict[str, object] = {}
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(parent) / name
            status = path.lstat()
            content: object = None
            if stat.S_ISLNK(status.st_mode):
                content = path.readlink()
            elif stat.S_ISREG(status.st_mode):
                content = path.read_bytes()
            when = (status.st_mtime_ns, status.st_ctime_ns) if times else None
            seen[str(path.relative_to(folder))] = (status.st_mode, content, when)
    return seen


def change(path: str, after: bytes | None, mode: int | None = None) -> FileChange:
    return FileChange(path, None, after, mode)


def patch(*changes: FileChange) -> Patch:
    return Patch((), changes)


class TestCapture:
    def test_the_tree_as_it_is(self, root: Path) -> None:
        (root / "src" / "pkg" / "__init__.py").write_text("NAME = 'dirty'\n")
        (root / "untracked.py").write_text("x = 1\n")
        (root / "dos.txt").unlink()
        os.mkfifo(root / "pipe")
        with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(root):
            server.bind("sock")
        with workspace_of(root) as workspace:
            tree = workspace.tree
            assert (tree / "src/pkg/__init__.py").read_text() == "NAME = 'dirty'\n"
            assert (tree / "untracked.py").read_text() == "x = 1\n"
            assert (tree / "naïve ü.txt").read_text() == "ü\n"
            assert not (tree / "dos.txt").exists()
            assert not (tree / "pipe").exists() and not (tree / "sock").exists()
            assert (tree / "link").readlink() == Path("src/pkg")
            assert (tree / "dangling").readlink() == Path("nowhere")
            assert (tree / "run.sh").stat().st_mode == (root / "run.sh").stat().st_mode
            assert (tree / "run.sh").stat().st_mtime_ns == (root / "run.sh").stat().st_mtime_ns
            assert "untracked.py" in workspace.template.files

    def test_bytes_and_names_are_kept(self, root: Path) -> None:
        name = os.fsdecode(b"caf\xe9.txt")
        (root / name).write_bytes(bytes(range(256)))
        with workspace_of(root) as workspace:
            assert (workspace.tree / "dos.txt").read_bytes() == b"one\r\ntwo\r\n"
            assert (workspace.tree / name).read_bytes() == bytes(range(256))

    def test_unreadable_files_are_told(self, root: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root reads everything")
        (root / "secret").write_text("s")
        (root / "secret").chmod(0)
        with workspace_of(root) as workspace:
            assert workspace.template.left_out == ("secret: not readable",)

    def test_ignored_entries(self, root: Path) -> None:
        (root / ".venv" / "bin").mkdir(parents=True)
        (root / ".venv" / "pyvenv.cfg").write_text("home = /usr\n")
        (root / "node_modules" / "left-pad").mkdir(parents=True)
        (root / "__pycache__").mkdir()
        (root / "__pycache__" / "x.pyc").write_text("x")
        (root / ".pytest_cache").mkdir()
        (root / "fast.so").write_bytes(b"elf")
        (root / ".env").write_text("A=1")
        (root / "src" / "pkg" / "_version.py").write_text("version = '1'\n")
        (root / "dist").mkdir()
        (root / "dist" / "built.js").write_text("built")
        (root / "big.bin").write_bytes(b"x" * (2 << 20))
        with workspace_of(root) as workspace:
            ignored, tree = workspace.template.ignored, workspace.tree
            assert set(ignored.copied) == {"fast.so", ".env", "src/pkg/_version.py", "dist/built.js"}
            assert set(ignored.shown) == {".venv", "node_modules", "big.bin"}
            assert (tree / "dist" / "built.js").read_text() == "built"
            assert not (tree / "__pycache__").exists() and not (tree / ".pytest_cache").exists()
            assert workspace.changed_paths() == []

    def test_git_and_the_user_tree_are_only_read(self, root: Path) -> None:
        (root / "run.sh").touch()
        before = picture(root, times=True)
        with workspace_of(root) as workspace:
            workspace.write(patch(change("run.sh", b"x"), change("new/deep.txt", b"y")))
            run(workspace, "git add -A; git commit -qm inside; git gc -q; rm -rf src; echo z > ../outside")
        assert picture(root, times=True) == before

    def test_submodule(self, root: Path, tmp_path: Path) -> None:
        library = make_repo(tmp_path / "library")
        git(root, "submodule", "--quiet", "add", str(library), "vendor/library")
        git(root, "commit", "-qm", "with a library")
        (root / "vendor" / "library" / "run.sh").write_text("changed")
        with workspace_of(root) as workspace:
            assert (workspace.tree / "vendor/library/run.sh").read_text() == "changed"
            assert run(workspace, "git status --porcelain").stdout == ""
            assert "vendor/library" in run(workspace, "git ls-files").stdout

    def test_read_only_file_and_folder(self, root: Path) -> None:
        (root / "run.sh").chmod(0o444)
        (root / "src" / "pkg").chmod(0o555)
        try:
            with workspace_of(root) as workspace:
                assert stat.S_IMODE((workspace.tree / "run.sh").stat().st_mode) == 0o444
                workspace.write(patch(change("src/pkg/new.py", b"n"), change("run.sh", b"n")))
                workspace.reset()
                assert not (workspace.tree / "src/pkg/new.py").exists()
        finally:
            (root / "src" / "pkg").chmod(0o755)


class TestGitInside:
    @EVERY_ISOLATION
    def test_status_log_and_files(self, root: Path, isolation: Isolation) -> None:
        (root / "src" / "pkg" / "__init__.py").write_text("NAME = 'dirty'\n")
        (root / "new.py").write_text("n")
        git(root, "add", "new.py")
        head = git(root, "rev-parse", "HEAD")
        with workspace_of(root, isolation) as workspace:
            status = run(workspace, "git status --porcelain --branch", isolation)
            assert status.stdout.splitlines() == ["## main", " M src/pkg/__init__.py", "A  new.py"] or (
                status.stdout.splitlines() == ["## main", "A  new.py", " M src/pkg/__init__.py"]
            )
            assert run(workspace, "git rev-parse HEAD", isolation).stdout == head
            assert run(workspace, "git log --format=%s", isolation).stdout == "one\n"
            assert run(workspace, "git describe --tags", isolation).stdout == "v1.0\n"
            inside = run(workspace, "git ls-files -z", isolation).stdout
            assert inside == git(root, "ls-files", "-z")
            assert run(workspace, "git cat-file blob HEAD:run.sh", isolation).stdout.startswith("#!/bin/sh")
            made = run(workspace, "git commit -qam inside && git log --format=%s -1", isolation)
            assert made.exit_code != 0 or made.stdout == "inside\n"
            workspace.reset()
            assert run(workspace, "git rev-parse HEAD", isolation).stdout == head
        assert git(root, "rev-parse", "HEAD") == head

    @EVERY_ISOLATION
    def test_linked_worktree(self, root: Path, tmp_path: Path, isolation: Isolation) -> None:
        git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
        with workspace_of(tmp_path / "linked", isolation) as workspace:
            out = run(
                workspace, "git branch --show-current; git log --format=%s; git status --porcelain", isolation
            )
            assert out.stdout == "side\none\n"

    @EVERY_ISOLATION
    def test_detached_head(self, root: Path, isolation: Isolation) -> None:
        git(root, "checkout", "-q", "--detach")
        with workspace_of(root, isolation) as workspace:
            out = run(
                workspace, "git branch --show-current; git log --format=%s; git status --porcelain", isolation
            )
            assert out.stdout == "one\n"

    @EVERY_ISOLATION
    def test_objects_that_are_borrowed_already(
        self, root: Path, tmp_path: Path, isolation: Isolation
    ) -> None:
        git(tmp_path, "clone", "-q", "--shared", str(root), "borrower")
        (tmp_path / "borrower" / "more.txt").write_text("m")
        git(tmp_path / "borrower", "add", ".")
        git(tmp_path / "borrower", "commit", "-qm", "two")
        with workspace_of(tmp_path / "borrower", isolation) as workspace:
            out = run(workspace, "git log --format=%s; git fsck --no-dangling", isolation)
            assert out.stdout == "two\none\n"

    def test_shallow_and_packed(self, root: Path, tmp_path: Path) -> None:
        (root / "run.sh").write_text("second")
        git(root, "commit", "-qam", "two")
        git(root, "gc", "-q")
        git(tmp_path, "clone", "-q", "--depth=1", f"file://{root}", "shallow")
        with workspace_of(tmp_path / "shallow") as workspace:
            assert run(workspace, "git log --format=%s").stdout == "two\n"


class TestCage:
    @pytest.mark.skipif(available_isolation() is not Isolation.BUBBLEWRAP, reason="no bubblewrap here")
    def test_the_tree_stands_in_the_users_place(self, root: Path) -> None:
        (root / ".venv").mkdir()
        (root / ".venv" / "pyvenv.cfg").write_text("home = /usr\n")
        (root / "big.bin").write_bytes(b"x" * (2 << 20))
        with workspace_of(root, Isolation.BUBBLEWRAP) as workspace:
            workspace.write(patch(change("run.sh", b"patched")))
            done = run(
                workspace,
                f"pwd; cat {root}/run.sh; echo; cat .venv/pyvenv.cfg; wc -c < big.bin; "
                "echo bad > .venv/pyvenv.cfg || echo refused; "
                "echo bad > .git/codeforge-objects/0/x || echo refused",
            )
            assert done.stdout == f"{root}\npatched\nhome = /usr\n2097152\nrefused\nrefused\n"
        assert (root / "run.sh").read_text().startswith("#!")

    def test_without_mounts(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONPATH", "/elsewhere")
        (root / ".venv").mkdir()
        (root / ".venv" / "pyvenv.cfg").write_text("home = /usr\n")
        with workspace_of(root, Isolation.LIMITS_ONLY) as workspace:
            tree = workspace.tree
            assert workspace.cage().mount_as == ()
            done = run(workspace, "pwd; echo $PYTHONPATH; cat .venv/pyvenv.cfg", Isolation.LIMITS_ONLY)
            assert done.stdout == f"{tree}\n{tree}:{tree}/src:/elsewhere\nhome = /usr\n"
            assert run(workspace, "git status --porcelain", Isolation.LIMITS_ONLY).stdout == ""
            run(workspace, "rm -f .venv; mkdir .venv", Isolation.LIMITS_ONLY)
            workspace.reset()
            assert (tree / ".venv").readlink() == root / ".venv"
        assert (root / ".venv" / "pyvenv.cfg").read_text() == "home = /usr\n"

    def test_imports_come_from_the_tree(self, root: Path) -> None:
        with workspace_of(root) as workspace:
            workspace.write(patch(change("src/pkg/__init__.py", b"NAME = 'candidate'\n")))
            command = f"PYTHONPATH={root}/src {sys.executable} -c 'import pkg; print(pkg.NAME)'"
            if workspace.template.mounts:
                assert run(workspace, command).stdout == "candidate\n"


class TestWrite:
    def test_content_modes_and_folders(self, root: Path) -> None:
        with workspace_of(root) as workspace:
            workspace.write(
                patch(
                    change("new/deep/file.sh", b"\r\n\x00\xff", 0o755),
                    change("plain.txt", b"p"),
                    change("run.sh", b"kept mode"),
                    change("src/pkg/__init__.py", None),
                    change("src/pkg", b"now a file"),
                )
            )
            tree = workspace.tree
            assert (tree / "new/deep/file.sh").read_bytes() == b"\r\n\x00\xff"
            assert stat.S_IMODE((tree / "new/deep/file.sh").stat().st_mode) == 0o755
            assert stat.S_IMODE((tree / "run.sh").stat().st_mode) == 0o755
            assert (tree / "src/pkg").read_bytes() == b"now a file"
            assert workspace.changed_paths() == [
                "new",
                "new/deep/file.sh",
                "plain.txt",
                "run.sh",
                "src/pkg",
                "src/pkg/__init__.py",
            ]
            workspace.reset()
            assert workspace.changed_paths() == []
            assert picture(tree) == picture(workspace.template.tree)

    def test_through_a_link_inside(self, root: Path) -> None:
        with workspace_of(root) as workspace:
            workspace.write(patch(change("link/__init__.py", b"through")))
            assert (workspace.tree / "src/pkg/__init__.py").read_bytes() == b"through"
            assert workspace.changed_paths() == ["src/pkg/__init__.py"]

    @pytest.mark.parametrize(
        "path",
        ["../out.txt", "/etc/passwd", "", ".git/config", "src/../../x", "a\0b", "out/x", "node_modules/x"],
    )
    def test_refused_paths(self, root: Path, tmp_path: Path, path: str) -> None:
        (root / "out").symlink_to(tmp_path)
        (root / "node_modules").mkdir()
        (root / "node_modules" / "big.bin").write_bytes(b"x")
        with workspace_of(root) as workspace:
            before = picture(workspace.tree)
            with pytest.raises(PatchRefusedError):
                workspace.write(patch(change("fine.txt", b"f"), change(path, b"bad")))
            assert picture(workspace.tree) == before


class TestReset:
    def test_after_writing_everywhere(self, root: Path) -> None:
        with workspace_of(root) as workspace:
            before = picture(workspace.tree)
            done = run(
                workspace,
                "set -x; find . -type f -exec sh -c 'echo spoiled >> \"$1\"' _ {} \\; ; rm -rf src link; "
                "ln -s /etc src; mkdir -p deep/__pycache__ link/x; "
                "touch deep/__pycache__/a.pyc; chmod 000 deep; "
                "chmod -x run.sh; mkfifo pipe; git init -q .; rm -rf .git/refs; "
                "mv dos.txt dos2.txt; chmod 500 .; true",
            )
            assert done.exit_code == 0
            assert picture(workspace.tree) != before
            assert workspace.reset() > 0
            assert picture(workspace.tree) == before
            assert workspace.reset() == 0

    def test_forged_times_are_seen(self, root: Path) -> None:
        with workspace_of(root) as workspace:
            path = workspace.tree / "run.sh"
            before, when = path.read_bytes(), path.stat()
            workspace.cage()  # waits for the clock, as before any command
            path.write_bytes(before.replace(b"ran", b"RAN"))
            os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))
            assert path.stat().st_size == when.st_size
            assert workspace.changed_paths() == ["run.sh"]
            workspace.reset()
            assert path.read_bytes() == before

    def test_an_immediate_write_of_the_same_size(self, root: Path) -> None:
        """Quicker than the file system's clock: `write` remembers what it wrote."""
        with workspace_of(root) as workspace:
            for _ in range(50):
                before = (workspace.tree / "run.sh").read_bytes()
                workspace.write(patch(change("run.sh", before.replace(b"ran", b"RAN"))))
                assert workspace.changed_paths() == ["run.sh"]
                workspace.reset()
                assert (workspace.tree / "run.sh").read_bytes() == before

    def test_a_folder_swapped_for_a_link_does_not_lead_the_reset_outside(
        self, root: Path, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "__init__.py").write_text("precious")
        with workspace_of(root) as workspace:
            workspace.write(patch(change("src/pkg/__init__.py", b"x")))
            (workspace.tree / "src/pkg/__init__.py").unlink()
            (workspace.tree / "src/pkg").rmdir()
            (workspace.tree / "src/pkg").symlink_to(outside)
            workspace.reset()
            assert (workspace.tree / "src/pkg/__init__.py").read_text() == "NAME = 'committed'\n"
        assert (outside / "__init__.py").read_text() == "precious"

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        actions=st.lists(
            st.tuples(
                st.sampled_from(["write", "append", "remove", "mkdir", "link", "chmod", "move"]),
                st.sampled_from(["a", "b", "d/a", "d/e/b", "new", "d/new", "d"]),
                st.sampled_from(["b", "d/x", "z"]),
            ),
            max_size=8,
        )
    )
    def test_restore_is_the_identity(
        self, tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, str, str]]
    ) -> None:
        base = tmp_path_factory.mktemp("law")
        source = base / "source"
        (source / "d" / "e").mkdir(parents=True)
        for name in ("a", "b", "d/a", "d/e/b"):
            (source / name).write_text(name)
        stamps = snapshot.copy_tree(source, base / "copy")
        snapshot.settle(stamps.values())
        before = picture(source)
        for action, name, other in actions:
            with contextlib.suppress(OSError):
                _act(action, base / "copy" / name, base / "copy" / other)
        snapshot.restore(source, base / "copy", stamps)
        assert picture(base / "copy") == picture(source) == before
        assert snapshot.differences(base / "copy", stamps) == []


def _act(action: str, path: Path, other: Path) -> None:
    if action == "write":
        path.write_text("X")
    elif action == "append":
        with path.open("a") as file:
            file.write("y")
    elif action == "remove":
        snapshot.remove(path)
    elif action == "mkdir":
        path.mkdir(parents=True)
    elif action == "link":
        path.symlink_to(other)
    elif action == "chmod":
        path.chmod(0o500)
    else:
        path.rename(other)


class TestPool:
    def test_reuse_and_privacy(self, root: Path) -> None:
        with WorkspacePool.open(GitRepo.discover(root)) as pool:
            first, second = pool.acquire(), pool.acquire()
            assert first.tree != second.tree
            first.write(patch(change("run.sh", b"one")))
            assert (second.tree / "run.sh").read_bytes() != b"one"
            first.release()
            third = pool.acquire()
            assert third is first
            assert (third.tree / "run.sh").read_bytes() != b"one"
            folder = first.tree.parent.parent
            assert folder.is_dir()
        assert not folder.exists()
        with pytest.raises(RuntimeError):
            pool.acquire()

    def test_several_threads(self, root: Path) -> None:
        failures: list[str] = []

        def work(number: int) -> None:
            for turn in range(5):
                with pool.acquire() as workspace:
                    text = f"{number}-{turn}".encode()
                    workspace.write(patch(change("mine.txt", text)))
                    if (workspace.tree / "mine.txt").read_bytes() != text or workspace.changed_paths() != [
                        "mine.txt"
                    ]:
                        failures.append(f"{number}-{turn}")

        with WorkspacePool.open(GitRepo.discover(root)) as pool:
            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert failures == []

    def test_stale_folders_are_swept_and_live_ones_kept(self, root: Path, tmp_path: Path) -> None:
        script = textwrap.dedent(
            f"""
            import os, sys
            from pathlib import Path
            from codeforge.git import GitRepo
            from codeforge.sandbox.workspace import WorkspacePool
            repo = GitRepo.discover(Path({str(root)!r}))
            pool = WorkspacePool.open(repo, scratch_root=Path({str(tmp_path / "scratch")!r}))
            pool.acquire()
            print(pool.template.tree.parent, flush=True)
            os.kill(os.getpid(), 9)
            """
        )
        project = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=False
        )
        left = Path(done.stdout.strip())
        assert left.is_dir()
        scratch_root = left.parent
        with WorkspacePool.open(GitRepo.discover(root), scratch_root=scratch_root) as living:
            assert not left.exists()
            ScratchFolder(scratch_root).close()
            assert living.template.tree.is_dir()
        assert [path.name for path in scratch_root.iterdir()] == [".lock"]

    def test_where_scratch_trees_go(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        huge = 1 << 50
        assert default_scratch_root(root, huge) == tmp_path / "data" / "scratch"
        monkeypatch.setenv("CODEFORGE_DATA_DIR", str(root / ".data"))
        assert not default_scratch_root(root, huge).is_relative_to(root)
        monkeypatch.setattr("tempfile.tempdir", str(root))
        with pytest.raises(EnvironmentUnavailableError, match="No place"):
            default_scratch_root(root, huge)

    def test_memory_is_used_only_where_it_is_ours_and_roomy(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        disk = tmp_path / "data" / "scratch"
        monkeypatch.setattr(scratch, "_MEMORY", tmp_path)  # a folder on the disk: no tmpfs is mounted there
        assert default_scratch_root(root, 1) == disk
        monkeypatch.setattr(scratch, "_fits_in_memory", lambda folder, size: True)
        ours = tmp_path / f"codeforge-{os.getuid()}"
        assert default_scratch_root(root, 1) == ours
        ours.symlink_to(root)
        assert default_scratch_root(root, 1) == disk
        ours.unlink()
        ours.mkdir()
        ours.chmod(0o777)
        assert default_scratch_root(root, 1) == disk

    def test_scratch_root_that_can_not_be_made(self, root: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(EnvironmentUnavailableError, match="No scratch folder"):
            WorkspacePool.open(GitRepo.discover(root), scratch_root=tmp_path / "file" / "x")
