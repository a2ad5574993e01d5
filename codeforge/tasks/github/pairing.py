"""Pairing changes with the issues and pull requests that they closed, and choosing the task's text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.history import Change
from codeforge.tasks.github.references import closing_references
from codeforge.tasks.github.text import change_text, issue_text


class TextSource(StrEnum):
    """Whose words the task's text is."""

    ISSUE = "issue"
    PULL_REQUEST = "pull_request"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class Paired:
    """A change with what it closed.

    Attributes:
        pull: the pull request that brought it, if one did.
        issues: the issues that it closed.
        text: what was asked for, without the solution.
        paired_by: "api" or "message".
    """

    change: Change
    pull: int | None
    issues: tuple[int, ...]
    text: str
    text_source: TextSource
    paired_by: str


class Pairing(Protocol):
    """Finds out what changes closed."""

    def pair(self, changes: Sequence[Change]) -> list[Paired]:
        """Those of `changes` that closed something, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class MessagePairing:
    """Goes by commit messages alone: works offline."""

    def pair(self, changes: Sequence[Change]) -> list[Paired]:
        """Those whose messages name an issue that they close, or a pull request."""
        return [by_message(change) for change in changes if change.closes or change.pull is not None]


@dataclass(frozen=True, slots=True)
class Item:
    """An issue or a pull request as GitHub has it."""

    number: int
    title: str
    body: str
    is_pull: bool = False

    @property
    def text(self) -> str:
        """Title and body, cleaned."""
        return issue_text(self.title, self.body)


@dataclass(frozen=True, slots=True)
class Pull:
    """A merged pull request, the commit that merged it ("" when unknown), and the issues linked to it."""

    item: Item
    merge_commit: str
    closes: tuple[Item, ...]


class Lookup(Protocol):
    """What is asked of the API."""

    def pulls_of(self, shas: Sequence[str]) -> dict[str, list[Pull]]:
        """By commit, the merged pull requests that it belongs to; commits unknown to GitHub are absent."""
        ...

    def items(self, numbers: Sequence[int]) -> dict[int, Item]:
        """The issues and pull requests with these numbers; unknown ones are absent."""
        ...


@dataclass(frozen=True, slots=True)
class ApiPairing:
    """Asks GitHub; where it knows nothing of a change, its message counts.

    The commits of a pull request that was merged by rebasing are one change, which stands at the last one.

    Args:
        history: the changes of the main line by commit.
    """

    lookup: Lookup
    name: RepositoryName
    history: Mapping[str, Change] = field(default_factory=dict)
    _known: dict[int, Item | None] = field(default_factory=dict)

    def pair(self, changes: Sequence[Change]) -> list[Paired]:
        """Those that belong to a pull request, or whose messages close an issue."""
        pulls_of = self.lookup.pulls_of([change.sha for change in changes])
        chosen = {change.sha: _choose(change, pulls_of.get(change.sha, [])) for change in changes}
        changes = [
            self._whole(change, chosen[change.sha]) for change in changes if not self._is_part(change, chosen)
        ]
        linked = {change.sha: self._linked(chosen[change.sha]) for change in changes}
        self._learn(changes, chosen, linked)
        found = (self._paired(change, chosen[change.sha], linked[change.sha]) for change in changes)
        return [paired for paired in found if paired is not None]

    def _is_part(self, change: Change, chosen: Mapping[str, Pull | None]) -> bool:
        """Whether a later commit of the main line ends the pull request that brought this one."""
        pull = chosen[change.sha]
        if pull is None or change.pull == pull.item.number or pull.merge_commit == change.sha:
            return False
        return pull.merge_commit in self.history

    def _whole(self, change: Change, pull: Pull | None) -> Change:
        """`change` with the commits before it that the same pull request brought."""
        if pull is None or pull.merge_commit != change.sha or change.pull is not None or change.inner:
            return change
        parts: list[Change] = []
        before = self.history.get(change.base)
        while before is not None and before.pull is None and self._brought(before.sha, pull):
            parts.insert(0, before)
            before = self.history.get(before.base)
        if not parts:
            return change
        closes = dict.fromkeys(number for part in (*parts, change) for number in part.closes)
        messages = tuple(part.message for part in parts)
        return replace(change, base=parts[0].base, inner=messages, closes=tuple(closes))

    def _brought(self, sha: str, pull: Pull) -> bool:
        pulls = self.lookup.pulls_of([sha]).get(sha, [])
        return any(each.item.number == pull.item.number for each in pulls)

    def _linked(self, pull: Pull | None) -> tuple[int, ...]:
        if pull is None:
            return ()
        for item in (pull.item, *pull.closes):
            self._known[item.number] = item
        told = closing_references(f"{pull.item.title}\n{pull.item.body}", self.name)
        return tuple(dict.fromkeys((*(item.number for item in pull.closes), *told)))

    def _learn(
        self, changes: Sequence[Change], chosen: dict[str, Pull | None], linked: dict[str, tuple[int, ...]]
    ) -> None:
        wanted: dict[int, None] = {}
        for change in changes:
            wanted.update(dict.fromkeys((*linked[change.sha], *change.closes)))
            if change.pull is not None and chosen[change.sha] is None:
                wanted[change.pull] = None
        missing = [number for number in wanted if number not in self._known]
        if missing:
            answer = self.lookup.items(missing)
            self._known.update({number: answer.get(number) for number in missing})

    def _paired(self, change: Change, pull: Pull | None, linked: Sequence[int]) -> Paired | None:
        if pull is None and not change.closes and change.pull is None:
            return None
        named = [item for number in (*linked, *change.closes) if (item := self._known.get(number))]
        if pull is None and change.pull is not None and (item := self._known.get(change.pull)):
            named.append(item)
        issues = {item.number: item for item in named if not item.is_pull}
        pulls = [pull.item] if pull else [item for item in named if item.is_pull]
        if not issues and not pulls:
            return by_message(change)  # not GitHub's numbers: those of another tracker
        issue = "\n\n".join(filter(None, (item.text for item in issues.values())))
        told = pulls[0].text if pulls else ""
        number = pulls[0].number if pulls else None
        for text, source in ((issue, TextSource.ISSUE), (told, TextSource.PULL_REQUEST)):
            if text:
                return Paired(change, number, tuple(issues), text, source, "api")
        text = change_text(change.message, change.inner)
        return Paired(change, number, tuple(issues), text, TextSource.COMMIT, "api")


def by_message(change: Change) -> Paired:
    """A change as its messages have it."""
    text = change_text(change.message, change.inner)
    return Paired(change, change.pull, change.closes, text, TextSource.COMMIT, "message")


def _choose(change: Change, pulls: Sequence[Pull]) -> Pull | None:
    """A commit may be in several pull requests (a release branch): the one that its message names, else the
    one that it merges, else the oldest."""

    def distance(pull: Pull) -> tuple[bool, bool, int]:
        return pull.item.number != change.pull, pull.merge_commit != change.sha, pull.item.number

    return min(pulls, key=distance, default=None)
