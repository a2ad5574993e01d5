"""Commits as git tells them: which ones a commit reaches, what each says and which files it changed.

Merges are left out: what they bring is in the commits that they merge. Nothing is ever fetched, though a
partial clone would do so by itself.
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codeforge.git import GitError, GitRepo

BATCH = 1000
"""How many commits one git process is asked for (their ids are its arguments)."""
SMALL_BATCH = 50
"""The same, where file contents are missing."""

_START = b"\x02"
_FORMAT = "--format=%x02%H%x00%ct%x00%B"
# Whatever the user's settings say, so that the output is the same everywhere.
_PLAIN = (
    "--encoding=UTF-8",
    "--no-color",
    "--no-notes",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--submodule=short",
    "-O/dev/null",
)
_PLAIN_PATCH = ("--unified=0", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
_RENAMES = ("-M", "-l400")
_EXACT_RENAMES = "-M100%"
_LATEST = 1 << 62


class Change(NamedTuple):
    """A file that a commit changed: its path then, and the path before when git sees a rename, else ""."""

    path: str
    old: str


class Commit(NamedTuple):
    """One commit.

    Attributes:
        sha: its full id.
        time: when it was committed, in seconds since 1970.
        message: subject and body; bytes that are not UTF-8 are replaced.
        changes: in git's order.
    """

    sha: str
    time: int
    message: str
    changes: Sequence[Change]


class Commits:
    """Reads the commits of a repository.

    Every method raises `GitError` when git is missing or can't answer.
    """

    def __init__(self, repo: GitRepo) -> None:
        self._repo = repo

    def head(self) -> str:
        """The full id of the commit that is checked out."""
        return self.text("rev-parse", "--verify", "HEAD^{commit}").strip()

    def boundary(self) -> frozenset[str]:
        """The commits at which a shallow clone was cut: git tells them as if they had added every file."""
        try:
            return frozenset((self._repo.common_dir / "shallow").read_text(encoding="ascii").split())
        except FileNotFoundError:
            return frozenset()

    def reachable(self, sha: str, most: int) -> list[str]:
        """The newest `most` commits that `sha` reaches, itself among them, by date, newest first."""
        return self.text("rev-list", "--no-merges", f"--max-count={most}", sha).split()

    def difference(self, old: str, new: str) -> tuple[frozenset[str], list[str]]:
        """The commits that only `old` reaches, and those that only `new` reaches, by date, newest first."""
        listed = self.text("rev-list", "--no-merges", "--left-right", f"{old}...{new}").split()
        return (
            frozenset(entry[1:] for entry in listed if entry.startswith("<")),
            [entry[1:] for entry in listed if entry.startswith(">")],
        )

    def files(self, sha: str) -> frozenset[str]:
        """The paths of all files of a commit."""
        listed = self.raw("ls-tree", "-r", "-z", "--name-only", "--full-tree", sha)
        return frozenset(os.fsdecode(listed).split("\0")) - {""}

    def read(self, shas: Sequence[str]) -> Iterator[Commit]:
        """Read commits, in the order given.

        Where file contents are missing here, renames with changes are not seen.
        """
        for start in range(0, len(shas), BATCH):
            yield from _parse(self._names(shas[start : start + BATCH]).split(b"\0"))

    def patches(self, shas: Sequence[str], marker: str, attributes: str) -> bytes:
        """The changes of commits without context lines, each commit's behind a line of `marker` and its id.

        Commits whose file contents are missing here are left out.

        Args:
            shas: commits without merges.
            marker: a text that starts no line of a patch.
            attributes: a file of gitattributes which says what functions look like in each language.
        """
        settings = ("-c", f"core.attributesFile={attributes}", "-c", "core.quotePath=false")
        show = (*settings, "show", "--root", f"--format={marker}%H", *_RENAMES, *_PLAIN, *_PLAIN_PATCH)
        if not shas:
            return b""
        try:
            return self.raw(*show, *shas)
        except GitError:
            if len(shas) == 1:
                return b""
        return b"".join(self.patches((sha,), marker, attributes) for sha in shas)

    def _names(self, shas: Sequence[str]) -> bytes:
        log = (
            "log",
            "--no-walk=unsorted",
            "-z",
            "--root",
            "--name-status",
            "--no-relative",
            *_PLAIN,
            _FORMAT,
        )
        try:
            return self.raw(*log, *_RENAMES, *shas)
        except GitError:  # renames with changes are found by comparing contents, and some may be missing
            if len(shas) <= SMALL_BATCH:
                return self.raw(*log, _EXACT_RENAMES, *shas)
        parts = (shas[start : start + SMALL_BATCH] for start in range(0, len(shas), SMALL_BATCH))
        return b"".join(map(self._names, parts))

    def raw(self, *arguments: str) -> bytes:
        """The output of a git command that may not reach for the network."""
        try:
            return self._repo.raw("-c", "protocol.allow=never", *arguments)
        except GitError as error:
            command = next(word for word in arguments if not word.startswith("-") and "=" not in word)
            message = error.message.replace("git -c ", f"git {command} ", 1)
            raise GitError(message, kept=error.kept, hint=error.hint) from error

    def text(self, *arguments: str) -> str:
        """`raw`, decoded."""
        return self.raw(*arguments).decode("utf-8", "replace")


def _parse(parts: Sequence[bytes]) -> Iterator[Commit]:
    """Commits from git's NUL-separated parts: id, time, message, and for each file its status and path(s)."""
    place = 0
    while parts[place].startswith(_START):
        sha, time, message = parts[place : place + 3]
        place += 3
        changes: list[Change] = []
        while parts[place] and not parts[place].startswith(_START):
            renamed = parts[place].lstrip(b"\n")[:1] in (b"R", b"C")
            names = [os.fsdecode(name) for name in parts[place + 1 : place + 2 + renamed]]
            changes.append(Change(names[-1], names[0] if renamed else ""))
            place += 2 + renamed
        yield Commit(
            sha[1:].decode("ascii"),
            min(int(time or b"0"), _LATEST),
            message.decode("utf-8", "replace"),
            changes,
        )
