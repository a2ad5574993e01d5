"""The changes that a history is made of: single commits, and merges with what they bring in."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from codeforge.git import GitRepo
from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.references import (
    Origins,
    closing_references,
    merged_pull,
    only_joins,
    origins,
    squashed_pull,
    title_of,
)

_FORMAT = "%H%x1f%P%x1f%cI%x1f%an%x1f%B"
# They bring dependencies and formatting up to date: nobody asked for it in words.
_BOTS = frozenset({"dependabot", "dependabot-preview", "pre-commit-ci", "pre-commit-ci-lite", "renovate"})
_SYNCING = ("Merge branch ", "Merge remote-tracking branch ", "Merge tag ")


class Commit(NamedTuple):
    """A commit: id, parents, when it was committed, who wrote it, message."""

    sha: str
    parents: tuple[str, ...]
    committed_at: datetime
    author: str
    message: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the main line.

    Attributes:
        sha: the commit that made it; for a merged pull request, the merge.
        base: its first parent: the tree in which the change was still to be made.
        committed_at: when.
        message: the commit's message.
        inner: for a merge the messages of the commits that it brings in, oldest first.
        pull: the pull request that the message names.
        closes: the issues that the messages close.
        undone: why it is no task ("a revert", "reverted later", "a repeated commit", "by a bot"), or "".
    """

    sha: str
    base: str
    committed_at: datetime
    message: str
    inner: tuple[str, ...]
    pull: int | None
    closes: tuple[int, ...]
    undone: str


def read_commits(repo: GitRepo, ref: str) -> list[Commit]:
    """All commits that `ref` reaches, children before parents."""
    options = ("-z", "--topo-order", "--no-show-signature", "--encoding=UTF-8", f"--format={_FORMAT}")
    raw = repo.raw("log", *options, ref, "--")
    return [_commit(record) for record in raw.decode("utf-8", "replace").split("\0") if record]


def changes(commits: Sequence[Commit], name: RepositoryName) -> list[Change]:
    """The changes of the main line of `commits` (as `read_commits` gives them), newest first.

    A merge of a pull request, or one whose message closes an issue, is one change with all that it brings in.
    Any other merge only joins branches: the commits of both are changes of their own.
    """
    if not commits:
        return []
    by_sha = {commit.sha: commit for commit in commits}
    units = {c.sha for c in commits if len(c.parents) > 1 and _is_change(c, name)}
    spine = _spine(commits[0].sha, by_sha, units)
    inner = _inner(commits, by_sha, spine, units)
    told = {commit.sha: origins(commit.message, name) for commit in commits}
    taken_back = _taken_back(told)
    return [
        _change(commit, inner.get(commit.sha, ()), name, told, taken_back)
        for commit in commits
        if commit.sha in spine and commit.parents and (len(commit.parents) == 1 or commit.sha in units)
    ]


class _TakenBack(NamedTuple):
    """By what was taken back, the commits that did it."""

    commits: Mapping[str, frozenset[str]]
    pulls: Mapping[int, frozenset[str]]


def _commit(record: str) -> Commit:
    sha, parents, committed, author, message = record.lstrip("\n").split("\x1f", 4)
    return Commit(sha, tuple(parents.split()), datetime.fromisoformat(committed), author, message.strip("\n"))


def _is_change(merge: Commit, name: RepositoryName) -> bool:
    if only_joins(title_of(merge.message)):
        return False
    return merged_pull(merge.message) is not None or bool(closing_references(merge.message, name))


def _spine(head: str, by_sha: Mapping[str, Commit], units: Collection[str]) -> set[str]:
    """The commits reached by first parents, and through both sides of merges that only join branches."""
    spine: set[str] = set()
    waiting = [head]
    while waiting:
        sha = waiting.pop()
        while sha in by_sha and sha not in spine:
            spine.add(sha)
            parents = by_sha[sha].parents
            if sha not in units:
                waiting.extend(parents[1:])
            if not parents:
                break
            sha = parents[0]
    return spine


def _inner(
    commits: Sequence[Commit], by_sha: Mapping[str, Commit], spine: Collection[str], units: Collection[str]
) -> dict[str, tuple[Commit, ...]]:
    """By merge, what it brings in: what its further parents reach and nothing before it did."""
    place = {commit.sha: number for number, commit in enumerate(commits)}
    taken: set[str] = set()
    found: dict[str, tuple[Commit, ...]] = {}
    for merge in reversed(commits):  # parents first, so that an older merge takes what is its own
        if merge.sha not in spine or merge.sha not in units:
            continue
        waiting = list(merge.parents[1:])
        brought: list[str] = []
        while waiting:
            sha = waiting.pop()
            if sha in spine or sha in taken or sha not in by_sha:
                continue
            taken.add(sha)
            brought.append(sha)
            waiting.extend(by_sha[sha].parents)
        brought.sort(key=lambda sha: -place[sha])
        found[merge.sha] = tuple(by_sha[sha] for sha in brought)
    return found


def _change(
    commit: Commit,
    inner: Sequence[Commit],
    name: RepositoryName,
    told: Mapping[str, Origins],
    taken_back: _TakenBack,
) -> Change:
    messages = [each.message for each in inner if not each.message.startswith(_SYNCING)]
    closed = (number for text in (commit.message, *messages) for number in closing_references(text, name))
    pull = merged_pull(commit.message) if len(commit.parents) > 1 else squashed_pull(commit.message)
    return Change(
        commit.sha,
        commit.parents[0],
        commit.committed_at,
        commit.message,
        tuple(messages),
        pull,
        tuple(dict.fromkeys(closed)),
        _undone([commit, *inner], pull, told, taken_back),
    )


def _undone(
    commits: Sequence[Commit], pull: int | None, told: Mapping[str, Origins], taken_back: _TakenBack
) -> str:
    """Why a change is no task; `commits` are its own and those that it brings in."""
    own = {commit.sha for commit in commits}
    work = [commit for commit in commits if len(commit.parents) == 1] or commits[:1]
    if _is_revert(commits[0], told) or all(_is_revert(commit, told) for commit in work):
        return "a revert"
    later = [taken_back.commits.get(sha, frozenset()) for sha in own]
    if pull is not None:
        later.append(taken_back.pulls.get(pull, frozenset()))
    if any(not by <= own for by in later):  # a branch may take back a step of its own
        return "reverted later"
    if any(_full(short, told) for short in told[commits[0].sha].picked):
        return "a repeated commit"
    return "by a bot" if all(commit.author.removesuffix("[bot]") in _BOTS for commit in work) else ""


def _is_revert(commit: Commit, told: Mapping[str, Origins]) -> bool:
    own = told[commit.sha]
    return bool(own.reverts or own.reverted_pulls) or title_of(commit.message).startswith('Revert "')


def _taken_back(told: Mapping[str, Origins]) -> _TakenBack:
    commits: dict[str, frozenset[str]] = {}
    pulls: dict[int, frozenset[str]] = {}
    for sha, each in told.items():
        for whole in filter(None, (_full(short, told) for short in each.reverts)):
            commits[whole] = commits.get(whole, frozenset()) | {sha}
        for number in each.reverted_pulls:
            pulls[number] = pulls.get(number, frozenset()) | {sha}
    return _TakenBack(commits, pulls)


def _full(short: str, told: Mapping[str, Origins]) -> str:
    """The known commit that an id, maybe cut, names; "" for none."""
    if short in told:
        return short
    return next((sha for sha in told if sha.startswith(short)), "") if len(short) < 40 else ""
