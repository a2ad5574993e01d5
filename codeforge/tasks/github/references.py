"""References to issues and pull requests in commit messages and texts."""

import re
from typing import NamedTuple

from codeforge.tasks.github.address import RepositoryName

KEYWORD = r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
"""The words that close an issue (GitHub docs, "Linking a pull request to an issue")."""

REFERENCE = (
    r"(?:(?:(?P<repo{n}>[A-Za-z0-9-]{{1,39}}/[A-Za-z0-9._-]{{1,100}})?#|GH-"
    r"|https?://[^\s/]{{1,100}}/(?P<url{n}>[A-Za-z0-9-]{{1,39}}/[A-Za-z0-9._-]{{1,100}})/(?:issues|pull)/)"
    r"(?P<number{n}>\d{{1,7}})(?![\w])(?:#[\w-]*\w)?)"
)


def reference(n: int = 0) -> str:
    """A pattern of one reference; its groups end in `n`."""
    return REFERENCE.format(n=n)


_SEPARATOR = r"(?:\s{0,3},\s{0,3}(?:and\s{1,3}|&\s{0,3})?|\s{1,3}(?:and|&)\s{1,3})"
_CLOSING = re.compile(
    rf"(?<![\w-]){KEYWORD}(?:\s{{0,2}}:)?\s{{1,3}}(?:(?:issue|bug|ticket)s?\s{{1,2}})?", re.I
)
_ONE = re.compile(reference(), re.I)
_NEXT = re.compile(_SEPARATOR + reference(), re.I)
_MERGE = re.compile(r"(?:Merge pull request|Merge|Auto merge of) #(\d{1,7})\b")
_MERGE_LINE = re.compile(r"(?:Merge pull request|Merge|Auto merge of) #\d{1,7}[^\n]*(?:\n+|\Z)")
_BRANCH = r"['\"`]?[\w./-]+['\"`]?(?:\s+branch)?"
_JOIN = re.compile(
    rf"merge\s+(?:branch\s+)?(?:{_BRANCH}\s+(?:in|into|to|with)\s+{_BRANCH}"
    r"|(?:from\s+)?(?:master|main|trunk|develop|[\w.-]+/(?:master|main|trunk|develop)))"
    r"(?:\s+after\s.*|\s*\(.*\))?\s*\Z",
    re.I,
)
_SQUASH = re.compile(r"\(#(\d{1,7})\)\s*$")
_REVERTED_COMMIT = re.compile(r"This reverts commit ([0-9a-f]{7,40})\b")
_REVERTED_PULL = re.compile(r"^Reverts (\S{1,140})?#(\d{1,7})\b", re.M)
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{7,40})\)")


class Origins(NamedTuple):
    """Where a commit's content comes from, by its message.

    Attributes:
        reverts: commits that it takes back (full or short ids).
        reverted_pulls: pull requests that it takes back.
        picked: commits that it repeats.
    """

    reverts: tuple[str, ...]
    reverted_pulls: tuple[int, ...]
    picked: tuple[str, ...]


def closing_references(text: str, name: RepositoryName) -> tuple[int, ...]:
    """Numbers of `name`'s issues that `text` closes ("Fixes #1, #2", "closes owner/repo#3", "Resolves:
    GH-4"), in order, each once. Issues of other repositories don't count."""
    found: dict[int, None] = {}
    for keyword in _CLOSING.finditer(text):
        match = _ONE.match(text, keyword.end())
        while match:
            repo = match["repo0"] or match["url0"]
            if repo is None or name.is_same(repo):
                found[int(match["number0"])] = None
            match = _NEXT.match(text, match.end())
    return tuple(found)


def merged_pull(message: str) -> int | None:
    """The pull request that a merge commit names ("Merge pull request #5 from …")."""
    match = _MERGE.match(message)
    return int(match[1]) if match else None


def title_of(message: str) -> str:
    """A commit's first line; for the merge of a pull request that one's title."""
    return _MERGE_LINE.sub("", message, count=1).lstrip("\n").partition("\n")[0].strip()


def only_joins(title: str) -> bool:
    """Whether a pull request of this title only brings one branch up to date with another one."""
    return _JOIN.match(title) is not None


def squashed_pull(message: str) -> int | None:
    """The pull request that a squashed commit names at the end of its first line ("Fix it (#5)")."""
    match = _SQUASH.search(message.partition("\n")[0])
    return int(match[1]) if match else None


def origins(message: str, name: RepositoryName) -> Origins:
    """What a message says about taking back or repeating other commits."""
    return Origins(
        tuple(_REVERTED_COMMIT.findall(message)),
        tuple(int(n) for repo, n in _REVERTED_PULL.findall(message) if not repo or name.is_same(repo)),
        tuple(_PICKED.findall(message)),
    )
