"""Scratch trees in which candidates are checked. The user's tree and `.git` are only ever read."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import TracebackType

from codeforge.errors import EnvironmentUnavailableError, PatchRefusedError
from codeforge.git import GitRepo
from codeforge.patch.model import FileChange, Patch
from codeforge.sandbox import snapshot
from codeforge.sandbox.cage import Cage
from codeforge.sandbox.isolation import available_isolation
from codeforge.sandbox.model import Isolation
from codeforge.sandbox.scratch import ScratchFolder, default_scratch_root
from codeforge.sandbox.scratch_git import mount_point
from codeforge.sandbox.template import Survey, WorkspaceTemplate

_DEFAULT_MODE = 0o644


class Workspace:
    """One private copy of the template. Use it in one thread at a time.

    Attributes:
        tree: the copy (host path).
        reports: a folder beside it that commands may write reports to; emptied by `reset`.
        template: what it is a copy of.
    """

    def __init__(self, template: WorkspaceTemplate, folder: Path, pool: "WorkspacePool") -> None:
        self.template = template
        self.tree = folder / "tree"
        self.reports = folder / "reports"
        self._folder = folder
        self._pool = pool
        self._written: set[str] = set()
        try:
            self.reports.mkdir(parents=True)
            self._stamps = snapshot.copy_tree(template.tree, self.tree)
        except OSError as error:
            self.discard()
            raise _no_room(self.tree, error) from error

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Give it back to the pool. Don't use it afterwards."""
        self._pool.take_back(self)

    def write(self, patch: Patch) -> None:
        """Write the bytes of `patch.changes` into the tree.

        Raises:
            PatchRefusedError: a path leads outside the tree, into `.git`, or into a folder that is
                shown read-only. Nothing was written.
            EnvironmentUnavailableError: the disk is full. Reset the workspace before using it again.
        """
        targets = [(change, self._target(change.path)) for change in patch.changes]
        for _, target in targets:
            self._written.add(target.relative_to(self.tree).as_posix())
            self._written.add(target.resolve().relative_to(self.tree).as_posix())
        try:
            for change, target in targets:
                if change.after is None:
                    self._delete(target)
            for change, target in targets:
                if change.after is not None:
                    _write_file(target, change, change.after)
        except OSError as error:
            raise _no_room(self.tree, error) from error

    def reset(self) -> int:
        """Make the tree equal to the template again; returns how many paths had to be touched."""
        for leftover in self.reports.iterdir():
            snapshot.remove(leftover)
        touched = snapshot.restore(self.template.tree, self.tree, self._stamps, self._written)
        self._written.clear()
        return touched

    def changed_paths(self) -> list[str]:
        """Files and folders that now differ from the template, `.git` not counted, sorted."""
        different = {*snapshot.differences(self.tree, self._stamps), *self._really_written()}
        return sorted(path for path in different if path != ".git" and not path.startswith(".git/"))

    def cage(self, *, network: bool = False, env: Mapping[str, str] | None = None) -> Cage:
        """The cage for commands in this tree.

        Where mounts work the tree stands in the place of the user's repository, so that absolute paths and
        editable installs lead to it; elsewhere commands run at the tree's own path, first on PYTHONPATH.
        """
        snapshot.settle(self._stamps.values())
        repo, template = self.template.repo, self.template
        if not template.mounts:
            variables = {"PYTHONPATH": self._python_path(), **(env or {})}
            return Cage(self.tree, (self.tree, self.reports), network=network, env=variables)
        shown = [(place, repo.root / mount_point(number)) for number, place in enumerate(template.objects)]
        shown += [(repo.root / path, repo.root / path) for path in template.ignored.shown]
        return Cage(
            cwd=self.tree,
            writable=(self.tree, self.reports),
            mount_as=((self.tree, repo.root),),
            read_only_mounts=tuple((host, inside) for host, inside in shown if host.exists()),
            network=network,
            env=dict(env or {}),
        )

    def discard(self) -> None:
        """Remove the tree from the disk."""
        snapshot.remove(self._folder)

    def _python_path(self) -> str:
        places = [self.tree, *([self.tree / "src"] if (self.tree / "src").is_dir() else [])]
        before = os.environ.get("PYTHONPATH")
        return os.pathsep.join([*map(os.fspath, places), *([before] if before else [])])

    def _target(self, path: str) -> Path:
        """The place of `path`, which must lie in the tree after links are resolved."""
        parts = PurePosixPath(path).parts
        if not path or path.startswith("/") or "\0" in path or ".." in parts:
            raise _refused(path, "is not a path inside the repository")
        if parts[0] == ".git":
            raise _refused(path, "belongs to git")
        for shown in self.template.ignored.shown:
            if path == shown or path.startswith(f"{shown}/"):
                raise _refused(path, f"lies in {shown}, which git ignores and commands see read-only")
        target = (self.tree / path).resolve()
        if not target.is_relative_to(self.tree) or target == self.tree:
            raise _refused(path, "leads outside the repository through a link")
        if target.is_relative_to(self.tree / ".git"):
            raise _refused(path, "leads into .git through a link")
        # A delete is of the link, not of what it leads to.
        return (self.tree / path).parent.resolve() / parts[-1]

    def _delete(self, target: Path) -> None:
        target.unlink(missing_ok=True)
        for folder in target.parents:
            if folder == self.tree or any(folder.iterdir()):
                break
            folder.rmdir()  # git keeps no empty folders either

    def _really_written(self) -> list[str]:
        """Of the paths given to `write`, those whose bytes differ: their stamps may be too coarse to tell."""
        return [
            path for path in self._written if _content(self.tree / path) != _content(self._original(path))
        ]

    def _original(self, path: str) -> Path:
        return self.template.tree / path


class WorkspacePool:
    """Workspaces of one capture, for several threads. A context manager; closing removes everything."""

    def __init__(self, template: WorkspaceTemplate, scratch: ScratchFolder) -> None:
        self.template = template
        self._scratch = scratch
        self._lock = threading.Lock()
        self._idle: list[Workspace] = []
        self._made = 0
        self._closed = False

    @classmethod
    def open(
        cls, repo: GitRepo, *, scratch_root: Path | None = None, isolation: Isolation | None = None
    ) -> "WorkspacePool":
        """Capture the working tree of `repo` as it is now.

        Args:
            repo: the user's repository; only read.
            scratch_root: where scratch folders lie; by default in memory or below codeforge's data folder.
            isolation: how commands will be caged; by default the strongest that works here.

        Raises:
            EnvironmentUnavailableError: the capture can't be made.
        """
        chosen = isolation or available_isolation()
        survey = Survey.of(repo)
        scratch = ScratchFolder(scratch_root or default_scratch_root(repo.root, survey.size))
        try:
            template = WorkspaceTemplate.capture(survey, scratch.path / "template", chosen)
        except BaseException:
            scratch.close()
            raise
        return cls(template, scratch)

    def __enter__(self) -> "WorkspacePool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def acquire(self) -> Workspace:
        """A workspace equal to the template: one that was given back, or a new copy."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the workspace pool is closed")
            if self._idle:
                return self._idle.pop()
            self._made += 1
            folder = self._scratch.path / f"workspace-{self._made}"
        return Workspace(self.template, folder, self)

    def take_back(self, workspace: Workspace) -> None:
        """Reset `workspace` and keep it for the next `acquire`; one that can't be reset is removed."""
        try:
            workspace.reset()
        except OSError:
            workspace.discard()
            return
        with self._lock:
            if not self._closed and workspace not in self._idle:
                self._idle.append(workspace)

    def close(self) -> None:
        """Remove all scratch trees. May be called twice."""
        with self._lock:
            self._closed = True
            self._idle.clear()
        self._scratch.close()


def _write_file(target: Path, change: FileChange, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    new = not target.exists()
    if not new and not os.access(target, os.W_OK):
        target.chmod(target.stat().st_mode | 0o200)
    target.write_bytes(content)
    if change.mode is not None or new:
        target.chmod((change.mode if change.mode is not None else _DEFAULT_MODE) & 0o777)


def _content(path: Path) -> bytes | Path | None:
    if path.is_symlink():
        return path.readlink()
    return path.read_bytes() if path.is_file() else None


def _no_room(tree: Path, error: OSError) -> EnvironmentUnavailableError:
    return EnvironmentUnavailableError(
        f"The scratch tree {tree} can't be written: {error.strerror or error}.",
        kept="Your files are unchanged.",
        hint="Free some space there, or set CODEFORGE_DATA_DIR to another place.",
    )


def _refused(path: str, reason: str) -> PatchRefusedError:
    return PatchRefusedError(
        f"{path!r} {reason}.",
        kept="Nothing was written.",
        hint="Paths are relative to the top of the repository.",
    )
