"""The git facade: everything codeforge asks of git, and the one thing it writes (a commit of named paths).

Reads never take locks and never refresh the user's index. Paths are relative to the repository root,
with forward slashes; names that are not UTF-8 keep their bytes as surrogate escapes (`os.fsencode`).
"""

import os
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, UsageError

READ_TIMEOUT_S = 60.0
COMMIT_TIMEOUT_S = 900.0

# Left over from a hook or an alias, these would point git at another repository than the one asked for.
_FOREIGN_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)

_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}

_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")


class GitError(EnvironmentUnavailableError):
    """git is missing, the repository can't be used, or git refused a command."""


@dataclass(frozen=True, slots=True)
class GitRepo:
    """One working tree of one repository.

    Attributes:
        root: the top of the working tree, absolute, links resolved.
        git_dir: this working tree's git directory (for a linked worktree, not the common one).
        common_dir: the directory with the objects and the refs.
    """

    root: Path
    git_dir: Path
    common_dir: Path

    @classmethod
    def discover(cls, path: Path) -> "GitRepo":
        """The repository around `path` (a folder in it, or a file).

        Raises:
            UsageError: `path` does not exist.
            GitError: git is missing, or there is no usable repository; the hint says what to do.
        """
        folder = _folder_of(path)
        # HEAD comes last: one process tells everything, and git stops at the first thing that is wrong.
        args = ("--is-bare-repository", "--is-inside-git-dir", "--absolute-git-dir", "--git-common-dir")
        done = _git(folder, "rev-parse", *args, "--show-toplevel", "HEAD")
        lines = os.fsdecode(done.stdout).splitlines()
        error = _text(done.stderr)
        if done.returncode != 0:
            raise _discovery_error(folder, lines, error)
        if len(lines) != 6:
            raise GitError(
                f"The path of the repository around {folder} holds a line break.",
                kept="Nothing was changed.",
                hint="Move the repository to a folder without a line break in its name.",
            )
        return cls(Path(lines[4]), Path(lines[2]), Path(os.path.normpath(folder / lines[3])))

    @property
    def objects_dir(self) -> Path:
        """Where the objects lie (shared by all worktrees)."""
        return self.common_dir / "objects"

    def head_commit(self) -> str:
        """The full id of the commit that is checked out."""
        return self.text("rev-parse", "--verify", "HEAD^{commit}").strip()

    def branch(self) -> str | None:
        """The checked-out branch's short name; `None` when HEAD is detached."""
        done = _git(self.root, "symbolic-ref", "-q", "--short", "HEAD")
        return _text(done.stdout).strip() if done.returncode == 0 else None

    def list_files(self) -> list[str]:
        """Tracked and untracked files that are not ignored and exist now, sorted.

        Populated submodules and nested repositories are listed with their own rules. Symbolic links
        are listed, never followed.
        """
        raw = self.raw("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        real_folders: dict[str, bool] = {"": True}
        found: list[str] = []
        for name in dict.fromkeys(_split(raw)):
            path = name.rstrip("/")
            if not _reached_without_links(self.root, path, real_folders):
                continue
            try:
                mode = os.lstat(f"{self.root}/{path}").st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not stat.S_ISDIR(mode):
                found.append(path)
            elif (nested := _nested(self.root / path)) is not None:
                found.extend(f"{path}/{inner}" for inner in nested.list_files())
        return sorted(found)

    def ignored_entries(self) -> list[str]:
        """Ignored files and folders, each folder once and ending in `/`, not what lies in it."""
        raw = self.raw("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return sorted(_split(raw))

    def dirty_paths(self) -> frozenset[str]:
        """Paths that differ from HEAD (staged, unstaged, deleted, conflicted) or are untracked."""
        raw = self.raw("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        return frozenset(entry[3:] for entry in _split(raw))

    def is_tracked(self, path: str) -> bool:
        """Whether `path` itself (a file or a link) is in the index."""
        return path in _split(self.raw("ls-files", "-z", "--cached", "--", path))

    def operation_in_progress(self) -> str | None:
        """ "a merge", "a rebase", … when one is unfinished."""
        for name, operation in _OPERATIONS.items():
            if (self.git_dir / name).exists():
                return operation
        return None

    def commit_paths(self, paths: Sequence[str], message: str) -> str:
        """Commit the present content of exactly `paths`, and return the new commit's id.

        Anything else that is staged stays staged and uncommitted. Hooks run. New and deleted files
        are handled. If git or a hook refuses, the index is as it was before.

        Raises:
            UsageError: nothing to commit in `paths`, or a path is ignored.
            GitError: an unfinished merge or rebase, no identity, a hook or git refused.
        """
        self._refuse_during_operation()
        self._require_identity()
        known = set(_split(self.raw("ls-files", "-z", "--cached", "--", *paths)))
        new = [path for path in paths if path not in known and os.path.lexists(self.root / path)]
        chosen = [path for path in paths if path in known or path in new]
        if not chosen:
            raise _nothing_to_commit(paths)
        self._refuse_ignored(new)
        if new:
            self.raw("add", "--intent-to-add", "--", *new, locks=True)
        committed = False
        try:
            self._commit(chosen, message)
            committed = True
        finally:
            if new and not committed:
                _git(self.root, "update-index", "--force-remove", "--", *new, locks=True)
        return self.head_commit()

    def raw(self, *args: str, locks: bool = False) -> bytes:
        """Run a git command at the root and return its output; `GitError` if it fails."""
        done = _git(self.root, *args, locks=locks)
        if done.returncode != 0:
            raise GitError(
                f"git {args[0]} failed: {_text(done.stderr).strip() or f'exit status {done.returncode}'}",
                kept="Nothing was changed.",
                hint=f"Run 'git {args[0]}' in {self.root} to see what is wrong.",
            )
        return done.stdout

    def text(self, *args: str) -> str:
        """`raw`, decoded."""
        return _text(self.raw(*args))

    def _commit(self, paths: Sequence[str], message: str) -> None:
        # The user's locale and settings stay: hooks are the user's programs and print for the user.
        command = ["git", "--literal-pathspecs", "commit", "--quiet", "--only", "--file=-", "--", *paths]
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=_environment(read_only=False, locale=None),
                input=message.encode("utf-8", "replace"),
                capture_output=True,
                timeout=COMMIT_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(
                f"git commit did not end within {COMMIT_TIMEOUT_S:.0f} s (a hook hangs?).",
                kept="The files keep their changes; nothing was committed.",
                hint="Commit by hand, or look at the hooks of this repository.",
            ) from error
        if done.returncode == 0:
            return
        output = "\n".join(part for part in (_text(done.stdout).strip(), _text(done.stderr).strip()) if part)
        if not self.raw("diff", "HEAD", "--name-only", "-z", "--", *paths):
            raise _nothing_to_commit(paths)
        hooks = self._active_hooks()
        who = f"a hook ({', '.join(hooks)}) or git itself" if hooks else "git"
        raise GitError(
            f"The commit was refused by {who}:\n{output or f'exit status {done.returncode}'}",
            kept="The files keep their changes; nothing was committed, and what was staged before still is.",
            hint="Fix what the output names, then commit these paths by hand: git commit --only -- "
            + " ".join(paths),
        )

    def _active_hooks(self) -> list[str]:
        folder = self.root / os.fsdecode(self.raw("rev-parse", "--git-path", "hooks")).rstrip("\n")
        return [name for name in _HOOKS if os.access(folder / name, os.X_OK)]

    def _refuse_during_operation(self) -> None:
        operation = self.operation_in_progress()
        if operation is not None:
            raise GitError(
                f"{operation[0].upper()}{operation[1:]} is in progress in {self.root}; "
                "codeforge does not commit in the middle of it.",
                kept="Nothing was committed.",
                hint="Finish or abort it first (git status says how).",
            )

    def _require_identity(self) -> None:
        for variable in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            if _git(self.root, "var", variable).returncode != 0:
                raise GitError(
                    "git does not know who you are, so it can't commit.",
                    kept="Nothing was committed; the files keep their changes.",
                    hint='Run: git config --global user.name "Your Name" && '
                    "git config --global user.email you@example.com",
                )

    def _refuse_ignored(self, new: Sequence[str]) -> None:
        if not new:
            return
        listed = self.raw("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *new)
        ignored = list(_split(listed))
        if ignored:
            raise UsageError(
                f"git ignores {', '.join(ignored)}, so it can't be committed.",
                kept="Nothing was committed; the files keep their changes.",
                hint=f"Add it yourself if you want it: git add -f {' '.join(ignored)}",
            )


def _git(cwd: Path, *args: str, locks: bool = False) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", *args]
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            env=_environment(read_only=not locks, locale="C"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=READ_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitError(
            "git is not installed (or not on PATH).",
            kept="Nothing was changed.",
            hint="Install git (Debian/Ubuntu: apt install git; macOS: xcode-select --install).",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise GitError(
            f"git {args[0]} did not answer within {READ_TIMEOUT_S:.0f} s.",
            kept="Nothing was changed.",
            hint=f"Run 'git {args[0]}' in {cwd}; a slow network file system is the usual reason.",
        ) from error


def _environment(*, read_only: bool, locale: str | None) -> Mapping[str, str]:
    env = {key: value for key, value in os.environ.items() if key not in _FOREIGN_VARIABLES}
    env.update(GIT_TERMINAL_PROMPT="0", GIT_PAGER="cat", GIT_EDITOR="true")
    if read_only:
        env["GIT_OPTIONAL_LOCKS"] = "0"
    if locale is not None:
        env["LC_ALL"] = locale
    return env


def _discovery_error(folder: Path, lines: Sequence[str], error: str) -> CodeforgeError:
    kept = "Nothing was changed."
    if "dubious ownership" in error:
        where = next((line.strip() for line in error.splitlines() if "safe.directory" in line), "")
        return GitError(
            f"git does not trust the repository around {folder}: another user owns it.",
            kept=kept,
            hint=f"If you trust it, run: {where or f'git config --global --add safe.directory {folder}'}",
        )
    if "not a git repository" in error and not lines:
        hint = (
            "Run codeforge inside a git repository, or make one: git init && git add . && git commit -m start"
        )
        return GitError(f"{folder} is not in a git repository.", kept=kept, hint=hint)
    if lines and lines[0] == "true":
        hint = "Make a working tree (git clone, or git worktree add) and run codeforge there."
        return GitError(f"{folder} is a bare repository: it has no files to work on.", kept=kept, hint=hint)
    if len(lines) > 1 and lines[1] == "true":
        hint = "Go to the working tree (the folder that holds .git) and run codeforge there."
        return GitError(f"{folder} is inside a .git directory, not a working tree.", kept=kept, hint=hint)
    # rev-parse prints a name that it can't resolve, so only the message tells an unborn branch.
    if "HEAD" in error and len(lines) >= 5:
        hint = "Make the first commit: git add . && git commit -m start"
        return GitError(f"The repository at {lines[4]} has no commits yet.", kept=kept, hint=hint)
    return GitError(
        f"git can't use the repository around {folder}: {error.strip() or 'no reason given'}",
        kept=kept,
        hint="Run 'git status' there to see what is wrong.",
    )


def _folder_of(path: Path) -> Path:
    full = path.absolute()
    if full.is_dir():
        return full
    if full.exists():
        return full.parent
    raise UsageError(f"{path} does not exist.", kept="Nothing was changed.", hint="Check the path.")


def _nothing_to_commit(paths: Iterable[str]) -> UsageError:
    return UsageError(
        f"There is nothing to commit in {', '.join(paths) or 'an empty list of paths'}.",
        kept="Nothing was changed.",
        hint="git status shows what differs from the last commit.",
    )


def _nested(folder: Path) -> GitRepo | None:
    """The repository whose top is `folder` (a populated submodule or an embedded clone)."""
    if not os.path.lexists(folder / ".git"):
        return None
    try:
        repo = GitRepo.discover(folder)
    except GitError:
        return None  # an embedded repository without commits holds nothing that git could name
    return repo if repo.root == folder.resolve() else None


def _reached_without_links(root: Path, path: str, known: dict[str, bool]) -> bool:
    """Whether every folder above `path` is a real folder: a tracked path behind a link is gone, to git."""
    parent = path.rpartition("/")[0]
    if parent not in known:
        full = root / parent
        known[parent] = (
            _reached_without_links(root, parent, known) and full.is_dir() and not full.is_symlink()
        )
    return known[parent]


def _split(raw: bytes) -> Iterable[str]:
    return [os.fsdecode(name) for name in raw.split(b"\0") if name]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
