"""Old trees of a repository as files, one after another in the same folder. The repository is only read."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from codeforge.git import GitError, GitRepo

_FILE_MODES = frozenset({"100644", "100755"})
# Content as it is stored: no filters, no links that lead out, none of the user's programs.
_PLAIN = (
    *("-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.symlinks=false"),
    *("-c", "core.fsmonitor=false", "-c", "core.sparseCheckout=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"),
)


class TreeFolder:
    """A folder that holds the tree of one commit at a time; going to a near commit writes only what differs.

    Args:
        repo: where the commits are.
        folder: an empty folder, which is ours until the end; its `tree` is the tree.
    """

    def __init__(self, repo: GitRepo, folder: Path) -> None:
        self._repo = repo
        self._index = folder / "index"
        self.root = folder / "tree"
        self.root.mkdir(parents=True)

    def go_to(self, commit: str) -> list[str]:
        """Make the folder the tree of `commit`, and return its plain files (no links, no submodules), sorted.

        Raises:
            GitError: the commit or something in it is not there.
        """
        listed = self._repo.raw("ls-tree", "-r", "-z", "--full-tree", f"{commit}^{{commit}}")
        self._read_tree(commit)
        return sorted(
            os.fsdecode(name)
            for entry in listed.split(b"\0")
            if entry
            for head, _, name in [entry.partition(b"\t")]
            if head.split()[0].decode() in _FILE_MODES
        )

    def _read_tree(self, commit: str) -> None:
        where = (f"--git-dir={self._repo.git_dir}", f"--work-tree={self.root}")
        command = ["git", *_PLAIN, *where, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit]
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError as error:
            raise GitError("git is not installed (or not on PATH).", hint="Install git.") from error
        if done.returncode != 0:
            reason = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
            raise GitError(f"The tree of {commit[:10]} can't be had from {self._repo.root}: {reason}")

    def _environment(self) -> Mapping[str, str]:
        """An index of our own: that of the repository stays as it is."""
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
        }
        return env | {"GIT_INDEX_FILE": str(self._index), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
