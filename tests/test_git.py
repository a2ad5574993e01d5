"""The git facade, against real repositories."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codeforge.errors import UsageError
from codeforge.git import GitError, GitRepo

Git = Callable[..., str]


@pytest.fixture(autouse=True)
def _own_git_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n"
        '[protocol "file"]\n\tallow = always\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def git_in(folder: Path) -> Git:
    def git(*args: str) -> str:
        return subprocess.run(
            ["git", *args], cwd=folder, check=True, capture_output=True, encoding="utf-8"
        ).stdout

    return git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "pkg").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "pkg" / "b.txt").write_text("b\n")
    (folder / ".gitignore").write_text("*.log\nbuild/\n")
    git = git_in(folder)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    return folder


def snapshot_of_git_dir(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted((folder / ".git").rglob("*"))
        if path.is_file()
    }


class TestDiscover:
    def test_from_the_top_a_subfolder_and_a_file(self, root: Path) -> None:
        for place in (root, root / "pkg", root / "pkg" / "b.txt"):
            repo = GitRepo.discover(place)
            assert (repo.root, repo.git_dir, repo.common_dir) == (root, root / ".git", root / ".git")

    def test_missing_path(self, root: Path) -> None:
        with pytest.raises(UsageError, match="does not exist"):
            GitRepo.discover(root / "nowhere")

    def test_not_a_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "plain").mkdir()
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
        with pytest.raises(GitError, match="not in a git repository") as caught:
            GitRepo.discover(tmp_path / "plain")
        assert "git init" in caught.value.hint

    def test_no_commits(self, tmp_path: Path) -> None:
        (tmp_path / "new").mkdir()
        git_in(tmp_path / "new")("init", "-q")
        with pytest.raises(GitError, match="no commits yet") as caught:
            GitRepo.discover(tmp_path / "new")
        assert "commit" in caught.value.hint

    def test_bare(self, tmp_path: Path) -> None:
        git_in(tmp_path)("init", "-q", "--bare", "bare.git")
        with pytest.raises(GitError, match="bare repository"):
            GitRepo.discover(tmp_path / "bare.git")

    def test_inside_the_git_folder(self, root: Path) -> None:
        with pytest.raises(GitError, match=r"inside a \.git directory"):
            GitRepo.discover(root / ".git" / "refs")

    def test_git_missing(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(root))
        with pytest.raises(GitError, match="not installed") as caught:
            GitRepo.discover(root)
        assert "Install git" in caught.value.hint

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
    def test_dubious_ownership(self, root: Path) -> None:
        os.chown(root, 12345, 12345)
        os.chown(root / ".git", 12345, 12345)
        with pytest.raises(GitError, match="does not trust") as caught:
            GitRepo.discover(root)
        assert "safe.directory" in caught.value.hint

    def test_foreign_environment_is_ignored(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
        repo = GitRepo.discover(root)
        assert repo.root == root
        assert "a.txt" in repo.list_files()

    def test_linked_worktree(self, root: Path, tmp_path: Path) -> None:
        git_in(root)("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
        repo = GitRepo.discover(tmp_path / "linked" / "pkg")
        assert repo.root == tmp_path / "linked"
        assert repo.git_dir == root / ".git" / "worktrees" / "linked"
        assert repo.common_dir == root / ".git"
        assert repo.branch() == "side"

    def test_branch_and_detached_head(self, root: Path) -> None:
        repo = GitRepo.discover(root)
        assert repo.branch() == "main"
        git = git_in(root)
        git("checkout", "-q", "--detach")
        assert repo.branch() is None
        assert repo.head_commit() == git("rev-parse", "HEAD").strip()


class TestReading:
    def test_list_files(self, root: Path) -> None:
        (root / "new.txt").write_text("n")
        (root / "noise.log").write_text("n")
        (root / "build").mkdir()
        (root / "build" / "out.o").write_text("n")
        (root / "a.txt").unlink()
        (root / "link").symlink_to("pkg")
        os.mkfifo(root / "pipe")
        assert GitRepo.discover(root).list_files() == [".gitignore", "link", "new.txt", "pkg/b.txt"]

    @pytest.mark.parametrize(
        "name", ["naïve ü.txt", "tab\tand\nnewline", '"quoted"', "-dash", ":(top)x", "*"]
    )
    def test_strange_names(self, root: Path, name: str) -> None:
        (root / name).write_text("x")
        repo = GitRepo.discover(root)
        assert name in repo.list_files()
        assert repo.dirty_paths() == {name}
        repo.commit_paths([name], "odd")
        assert repo.is_tracked(name)
        assert repo.dirty_paths() == frozenset()

    def test_name_that_is_not_utf8(self, root: Path) -> None:
        (root / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"x")
        [name] = GitRepo.discover(root).dirty_paths()
        assert os.fsencode(name) == b"caf\xe9.txt"

    def test_a_tracked_path_behind_a_link_is_gone(self, root: Path, tmp_path: Path) -> None:
        (root / "pkg" / "b.txt").unlink()
        (root / "pkg").rmdir()
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "b.txt").write_text("secret")
        (root / "pkg").symlink_to(tmp_path / "outside")
        assert GitRepo.discover(root).list_files() == [".gitignore", "a.txt", "pkg"]

    def test_submodule_files_are_listed(self, root: Path, tmp_path: Path) -> None:
        library = tmp_path / "library"
        library.mkdir()
        (library / "lib.c").write_text("int x;")
        (library / ".gitignore").write_text("*.o\n")
        git = git_in(library)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "lib")
        git_in(root)("submodule", "--quiet", "add", str(library), "vendor/library")
        (root / "vendor" / "library" / "new.c").write_text("int y;")
        (root / "vendor" / "library" / "x.o").write_text("")
        files = GitRepo.discover(root).list_files()
        assert [name for name in files if name.startswith("vendor")] == [
            "vendor/library/.gitignore",
            "vendor/library/lib.c",
            "vendor/library/new.c",
        ]
        assert ".gitmodules" in files

    def test_ignored_entries_are_collapsed(self, root: Path) -> None:
        (root / "build" / "deep").mkdir(parents=True)
        (root / "build" / "deep" / "out.o").write_text("")
        (root / "pkg" / "noise.log").write_text("")
        assert GitRepo.discover(root).ignored_entries() == ["build/", "pkg/noise.log"]

    def test_dirty_paths(self, root: Path) -> None:
        git = git_in(root)
        (root / "c.txt").write_text("c")
        (root / "d.txt").write_text("d")
        git("add", "c.txt")
        (root / "a.txt").write_text("changed")
        (root / "pkg" / "b.txt").unlink()
        assert GitRepo.discover(root).dirty_paths() == {"a.txt", "pkg/b.txt", "c.txt", "d.txt"}

    def test_reads_write_nothing(self, root: Path) -> None:
        (root / "a.txt").touch()  # makes the index stale, which `git status` would like to refresh
        before = snapshot_of_git_dir(root)
        repo = GitRepo.discover(root)
        repo.list_files()
        repo.ignored_entries()
        repo.dirty_paths()
        repo.is_tracked("a.txt")
        assert snapshot_of_git_dir(root) == before

    def test_is_tracked(self, root: Path) -> None:
        (root / "new.txt").write_text("n")
        repo = GitRepo.discover(root)
        assert repo.is_tracked("a.txt")
        assert not repo.is_tracked("new.txt")
        assert not repo.is_tracked("pkg")
        assert not repo.is_tracked("*.txt")


class TestCommit:
    def test_only_the_named_paths(self, root: Path) -> None:
        git = git_in(root)
        (root / "a.txt").write_text("changed\n")
        (root / "new.txt").write_text("new\n")
        (root / "pkg" / "b.txt").unlink()
        (root / "staged.txt").write_text("staged\n")
        git("add", "staged.txt")
        (root / "unstaged.txt").write_text("u\n")
        repo = GitRepo.discover(root)
        sha = repo.commit_paths(["a.txt", "new.txt", "pkg/b.txt"], "Fix: 100 % ünïcode\n\n# kept line")
        assert sha == git("rev-parse", "HEAD").strip()
        changed = git("show", "--name-status", "--format=", "HEAD").splitlines()
        assert changed == ["M\ta.txt", "A\tnew.txt", "D\tpkg/b.txt"]
        assert git("log", "-1", "--format=%B").strip() == "Fix: 100 % ünïcode\n\n# kept line"
        assert git("status", "--porcelain").splitlines() == ["A  staged.txt", "?? unstaged.txt"]

    def test_from_a_linked_worktree_and_detached(self, root: Path, tmp_path: Path) -> None:
        git_in(root)("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
        repo = GitRepo.discover(tmp_path / "linked")
        (repo.root / "a.txt").write_text("x\n")
        sha = repo.commit_paths(["a.txt"], "detached")
        assert repo.head_commit() == sha
        assert GitRepo.discover(root).head_commit() != sha

    def test_refused_by_a_hook(self, root: Path) -> None:
        hook = root / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho 'lint: line 3 is bad' >&2\nexit 1\n")
        hook.chmod(0o755)
        git = git_in(root)
        (root / "staged.txt").write_text("staged\n")
        git("add", "staged.txt")
        (root / "new.txt").write_text("n\n")
        (root / "a.txt").write_text("changed\n")
        before, head = git("status", "--porcelain"), git("rev-parse", "HEAD")
        with pytest.raises(GitError, match="line 3 is bad") as caught:
            GitRepo.discover(root).commit_paths(["a.txt", "new.txt"], "no")
        assert "pre-commit" in caught.value.message
        assert "nothing was committed" in caught.value.kept
        assert (git("status", "--porcelain"), git("rev-parse", "HEAD")) == (before, head)
        assert (root / "new.txt").read_text() == "n\n"

    def test_hooks_run(self, root: Path) -> None:
        hook = root / ".git" / "hooks" / "commit-msg"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho 'Signed' >> \"$1\"\n")
        hook.chmod(0o755)
        (root / "a.txt").write_text("changed\n")
        GitRepo.discover(root).commit_paths(["a.txt"], "message")
        assert git_in(root)("log", "-1", "--format=%B").split() == ["message", "Signed"]

    def test_no_identity(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
        (root / "a.txt").write_text("changed\n")
        with pytest.raises(GitError, match="who you are") as caught:
            GitRepo.discover(root).commit_paths(["a.txt"], "m")
        assert "user.email" in caught.value.hint

    def test_in_the_middle_of_a_merge_and_a_rebase(self, root: Path) -> None:
        git = git_in(root)
        git("checkout", "-q", "-b", "other")
        (root / "a.txt").write_text("other\n")
        git("commit", "-qam", "other")
        git("checkout", "-q", "main")
        (root / "a.txt").write_text("main\n")
        git("commit", "-qam", "main")
        repo = GitRepo.discover(root)
        for command, word in ((("merge", "other"), "merge"), (("rebase", "other"), "rebase")):
            with pytest.raises(subprocess.CalledProcessError):
                git(*command)
            with pytest.raises(GitError, match=f"A {word} is in progress"):
                repo.commit_paths(["a.txt"], "m")
            assert repo.list_files() == [".gitignore", "a.txt", "pkg/b.txt"]
            git(word, "--abort")

    def test_nothing_to_commit(self, root: Path) -> None:
        repo = GitRepo.discover(root)
        head = repo.head_commit()
        for paths in (["a.txt"], [], ["never-was.txt"]):
            with pytest.raises(UsageError, match="nothing to commit"):
                repo.commit_paths(paths, "m")
        assert repo.head_commit() == head

    def test_ignored_path(self, root: Path) -> None:
        (root / "x.log").write_text("x")
        with pytest.raises(UsageError, match=r"ignores x\.log"):
            GitRepo.discover(root).commit_paths(["x.log"], "m")
        assert git_in(root)("status", "--porcelain") == ""

    def test_mode_change_and_link(self, root: Path) -> None:
        (root / "a.txt").chmod(0o755)
        (root / "ln").symlink_to("a.txt")
        GitRepo.discover(root).commit_paths(["a.txt", "ln"], "modes")
        listed = git_in(root)("ls-tree", "HEAD", "a.txt", "ln").split()
        assert "100755" in listed and "120000" in listed
        assert stat.S_ISLNK((root / "ln").lstat().st_mode)

    def test_crlf_is_committed_under_autocrlf(self, root: Path) -> None:
        git = git_in(root)
        git("config", "core.autocrlf", "true")
        (root / "a.txt").write_bytes(b"a\r\nb\r\n")
        GitRepo.discover(root).commit_paths(["a.txt"], "crlf")
        assert (root / "a.txt").read_bytes() == b"a\r\nb\r\n"
        assert git("cat-file", "blob", "HEAD:a.txt") == "a\nb\n"
