"""Real repositories with made-up pasts."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codeforge.localize.history.history import History

START = 1_700_000_000


class Past:
    """Writes commits straight into a repository (`git fast-import`): no working tree, dates as wanted.

    Each commit is a minute younger than the one before. Contents are made from the given word, long enough
    for git to recognise a renamed file.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._time = START
        root.mkdir()
        self.git("init", "--quiet", "-b", "main")

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        done = subprocess.run(command, cwd=self.root, check=True, capture_output=True)
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(
        self,
        message: str | bytes,
        files: Mapping[str | bytes, str | bytes] | None = None,
        *,
        gone: Sequence[str] = (),
        moved: Mapping[str, str] | None = None,
        branch: str = "main",
        start: str | None = None,
        merges: str | None = None,
        time: int | None = None,
    ) -> str:
        """Add a commit to `branch` (begun at `start`) and return its id.

        Args:
            files: by path a word from which the content is made, or bytes as they are.
            moved: by old path the new one.
            merges: a second parent.
            time: of the commit, else a minute after the last one.
        """
        self._time += 60
        text = message.encode() if isinstance(message, str) else message
        when = time or self._time
        lines = [b"commit refs/heads/%s" % branch.encode(), b"committer T <t@example.org> %d +0000" % when]
        lines += [b"data %d\n%s" % (len(text), text)]
        parent = start or self._tip(branch)
        lines += [b"from " + parent.encode()] if parent else []
        lines += [b"merge " + merges.encode()] if merges else []
        lines += [b"R %s %s" % (old.encode(), new.encode()) for old, new in (moved or {}).items()]
        lines += [b"D " + path.encode() for path in gone]
        for path, content in (files or {}).items():
            name = _quoted(path.encode() if isinstance(path, str) else path)
            data = content if isinstance(content, bytes) else body(content)
            lines += [b"M 100644 inline " + name, b"data %d\n%s" % (len(data), data)]
        subprocess.run(
            ["git", "fast-import", "--quiet", "--force"],
            cwd=self.root,
            input=b"\n".join(lines) + b"\n",
            check=True,
            capture_output=True,
        )
        return self._tip(branch) or ""

    def at(self, commit: str) -> Path:
        """Check `commit` out (only HEAD moves), and return the root."""
        self.git("update-ref", "--no-deref", "HEAD", commit)
        return self.root

    def lose(self, revision: str) -> None:
        """Remove a file's content from the object store, as a partial clone lacks it."""
        sha = self.git("rev-parse", revision)
        (self.root / ".git" / "objects" / sha[:2] / sha[2:]).unlink()

    def _tip(self, branch: str) -> str | None:
        listed = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return listed or None


def _quoted(path: bytes) -> bytes:
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def body(word: str) -> bytes:
    """A file of twenty lines that no other word's file looks like."""
    return "".join(f"{word * 9} {number}\n" for number in range(20)).encode()


def edited(word: str) -> bytes:
    """The same file with one line more."""
    return body(word) + b"one more line\n"


def answers(history: History) -> object:
    """Everything that a history says, for comparing."""
    text = "The total of a discounted cart is below zero: fox, parser, quiche, commit"
    paths = list(history.recency())
    return (
        len(history),
        dict(history.recency()),
        {path: (history.change_count(path), history.last_changed(path)) for path in paths},
        {path: history.cochanged(path) for path in paths},
        history.similar_commits(text),
        [history.subject(sha) for sha, _ in history.similar_commits(text)],
        dict(history.files_of_similar(text)),
        dict(history.functions_of_similar(text)),
    )


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Past:
    """A repository without commits, and no git settings but the test's."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return Past(tmp_path / "repo")
