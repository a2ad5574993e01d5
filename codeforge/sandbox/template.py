"""The user's working tree as it is now, captured once; workspaces are copies of it."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError
from codeforge.git import GitRepo
from codeforge.sandbox.ignored import IgnoredEntries, sort_ignored
from codeforge.sandbox.isolation import supports_mounts
from codeforge.sandbox.model import Isolation
from codeforge.sandbox.scratch_git import make_git_dir, object_places
from codeforge.sandbox.snapshot import copy_entry


@dataclass(frozen=True, slots=True)
class Survey:
    """What is there to capture.

    Attributes:
        repo: the user's repository.
        files: tracked files with their changes and untracked ones, relative, sorted.
        ignored: what is to become of the ignored entries.
        size: bytes to copy.
    """

    repo: GitRepo
    files: tuple[str, ...]
    ignored: IgnoredEntries
    size: int

    @classmethod
    def of(cls, repo: GitRepo) -> "Survey":
        """Look at the working tree of `repo`; only reads."""
        with ThreadPoolExecutor(1) as threads:
            listing = threads.submit(repo.ignored_entries)
            files = repo.list_files()
            ignored = sort_ignored(repo.root, listing.result())
        size = sum(_size(repo.root / path) for path in (*files, *ignored.copied))
        return cls(repo, tuple(files), ignored, size)


@dataclass(frozen=True, slots=True)
class WorkspaceTemplate:
    """One capture of the user's tree.

    Attributes:
        repo: the repository it was taken from; only read.
        head: the commit that was checked out.
        tree: the capture. Not to be changed.
        files: what was captured and is not ignored, relative, sorted.
        ignored: what became of the ignored entries.
        objects: the folders with the user's git objects, in the order of their mount points.
        isolation: how commands are to be caged.
        left_out: paths that could not be captured, with the reason.
    """

    repo: GitRepo
    head: str
    tree: Path
    files: tuple[str, ...]
    ignored: IgnoredEntries
    objects: tuple[Path, ...]
    isolation: Isolation
    left_out: tuple[str, ...]

    @property
    def mounts(self) -> bool:
        """Whether cages can mount: ignored folders are then mount points, else links."""
        return supports_mounts(self.isolation)

    @classmethod
    def capture(cls, survey: Survey, tree: Path, isolation: Isolation) -> "WorkspaceTemplate":
        """Copy what the survey found to the new folder `tree`.

        Sockets, pipes and unreadable files are left out. The user's tree and `.git` are only read.

        Raises:
            EnvironmentUnavailableError: the copy can't be written (full disk).
        """
        repo, ignored = survey.repo, survey.ignored
        mounts = supports_mounts(isolation)
        try:
            tree.mkdir()
            # The time goes into waiting for git processes and for the disk, so they overlap.
            with ThreadPoolExecutor(1) as threads:
                commit = threads.submit(_copy_git, repo, tree, () if mounts else ignored.shown)
                captured, left_out = _copy_files(repo.root, tree, [*survey.files, *ignored.copied])
                for path in ignored.shown:
                    _make_place(repo.root, tree, path, mounts=mounts)
                head = commit.result()
        except OSError as error:
            raise EnvironmentUnavailableError(
                f"The working tree can't be copied to {tree}: {error.strerror or error}.",
                kept="Your files are unchanged.",
                hint="Free some space there, or set CODEFORGE_DATA_DIR to another place.",
            ) from error
        kept = tuple(path for path in survey.files if path in captured)
        return cls(
            repo, head, tree, kept, ignored, object_places(repo), isolation, (*left_out, *ignored.left_out)
        )


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:  # removed since it was listed
        return 0


def _copy_git(repo: GitRepo, tree: Path, links: Sequence[str]) -> str:
    head = repo.head_commit()
    make_git_dir(repo, head, tree, links)
    return head


def _copy_files(root: Path, tree: Path, paths: Iterable[str]) -> tuple[set[str], list[str]]:
    captured: set[str] = set()
    left_out: list[str] = []
    made: set[str] = {""}
    for path in paths:
        _make_folders(root, tree, path.rpartition("/")[0], made)
        try:
            if copy_entry(root / path, tree / path):
                captured.add(path)
            else:
                left_out.append(f"{path}: neither a file nor a link")
        except FileNotFoundError:
            continue  # removed since it was listed
        except PermissionError:
            left_out.append(f"{path}: not readable")
    return captured, left_out


def _make_folders(root: Path, tree: Path, folder: str, made: set[str]) -> None:
    if folder not in made:
        _make_folders(root, tree, folder.rpartition("/")[0], made)
        copy_entry(root / folder, tree / folder)
        made.add(folder)


def _make_place(root: Path, tree: Path, path: str, *, mounts: bool) -> None:
    """A place for a read-only view of the user's `path`: an empty mount point, or a link to it."""
    place = tree / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if not mounts:
        place.symlink_to(os.fspath(root / path))
    elif (root / path).is_dir():
        place.mkdir()
    else:
        place.touch()
