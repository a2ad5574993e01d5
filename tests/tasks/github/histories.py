"""Real git histories, made commit by commit."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from codeforge.git import GitRepo

Files = Mapping[str, str | bytes | None]

_SETTINGS = ("-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", "-c", "merge.ff=false")


class History:
    """A repository that grows. Commits are an hour apart, from 2024-01-01 00:00 UTC on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._hours = 0
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    @property
    def repo(self) -> GitRepo:
        """The repository as codeforge sees it."""
        return GitRepo.discover(self.root)

    def git(self, *arguments: str, stdin: bytes = b"", author: str = "Ann") -> str:
        """Run git and return its output."""
        date = f"{1704067200 + 3600 * self._hours} +0000"
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_EMAIL": "ann@example.invalid",
            "GIT_COMMITTER_NAME": "Cora",
            "GIT_COMMITTER_EMAIL": "cora@example.invalid",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
        }
        command = ["git", *_SETTINGS, *arguments]
        done = subprocess.run(command, cwd=self.root, input=stdin, capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str | bytes, files: Files, *, author: str = "Ann") -> str:
        """Write (`None`: delete) files, commit them, and return the commit's id."""
        for path, content in files.items():
            target = self.root / path
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A")
        raw = message if isinstance(message, bytes) else message.encode()
        self.git("commit", "-q", "--allow-empty", "-F", "-", stdin=raw, author=author)
        return self._done()

    def branch(self, name: str) -> None:
        """Make a branch here and go to it."""
        self.git("checkout", "-q", "-b", name)

    def go_to(self, name: str) -> None:
        """Check a branch out."""
        self.git("checkout", "-q", name)

    def merge(self, branch: str, message: str) -> str:
        """Merge a branch with a merge commit, and return its id."""
        self.git("merge", "-q", "--no-ff", "-m", message, branch)
        return self._done()

    def cherry_pick(self, commit: str) -> str:
        """Repeat a commit here, saying so, and return the new one's id."""
        self.git("cherry-pick", "-x", commit)
        return self._done()

    def revert(self, commit: str) -> str:
        """Take a commit back, and return the new one's id."""
        self.git("revert", "--no-edit", commit)
        return self._done()

    def _done(self) -> str:
        self._hours += 1
        return self.git("rev-parse", "HEAD")
