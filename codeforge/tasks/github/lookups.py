"""The API's answers: by GraphQL (dozens of commits a request), or by REST where GraphQL is refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.cache import AnswerCache
from codeforge.tasks.github.client import GitHubClient
from codeforge.tasks.github.failures import ForbiddenError, NotFoundError, ServerFailedError, other_form
from codeforge.tasks.github.pairing import Item, Lookup, Pull

_Answer = TypeVar("_Answer")

BATCH = 25
"""Commits of one GraphQL query: well below its limits of nodes and time."""

_MOST_ISSUES = 10

_COMMIT = f"""... on Commit {{ associatedPullRequests(first: 5) {{ nodes {{
  number title body merged mergeCommit {{ oid }} baseRepository {{ nameWithOwner }}
  closingIssuesReferences(first: {_MOST_ISSUES}) {{ nodes {{
    number title body repository {{ nameWithOwner }}
  }} }}
}} }} }}"""

_PARAMETERS = "$owner: String!, $name: String!"
_ITEM = """__typename ... on Issue { number title body } ... on PullRequest { number title body }"""


@dataclass(frozen=True, slots=True)
class GraphQlLookup:
    """Asks by GraphQL (docs.github.com/graphql: Commit.associatedPullRequests,
    PullRequest.closingIssuesReferences, Repository.issueOrPullRequest). It needs a token."""

    client: GitHubClient
    name: RepositoryName

    def pulls_of(self, shas: Sequence[str]) -> dict[str, list[Pull]]:
        """As `Lookup` says."""
        fields = {f"c{n}": f'object(oid: "{sha}") {{ {_COMMIT} }}' for n, sha in enumerate(shas)}
        answer = self._ask(fields)
        found = {}
        with _as_documented("a GraphQL query for commits"):
            for n, sha in enumerate(shas):
                commit = answer.get(f"c{n}")
                if commit and commit.get("associatedPullRequests"):
                    nodes = _nodes(commit["associatedPullRequests"])
                    found[sha] = [self._pull(node) for node in nodes if self._is_merged_here(node)]
        return found

    def items(self, numbers: Sequence[int]) -> dict[int, Item]:
        """As `Lookup` says."""
        answer = self._ask({f"i{n}": f"issueOrPullRequest(number: {n}) {{ {_ITEM} }}" for n in numbers})
        found = (answer.get(f"i{n}") for n in numbers)
        with _as_documented("a GraphQL query for issues"):
            return {
                node["number"]: _item(node, node["__typename"] == "PullRequest") for node in found if node
            }

    def _ask(self, fields: Mapping[str, str]) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        waiting = _batches(list(fields))
        while waiting:
            names = waiting.pop(0)
            inside = "\n".join(f"{name}: {fields[name]}" for name in names)
            query = f"query({_PARAMETERS}) {{ repository(owner: $owner, name: $name) {{ {inside} }} }}"
            try:
                data = self.client.graphql(query, {"owner": self.name.owner, "name": self.name.name})
            except ServerFailedError:
                if len(names) == 1:
                    raise
                half = len(names) // 2  # long texts make GitHub run out of time
                waiting[:0] = [names[:half], names[half:]]
                continue
            answers |= data.get("repository") or {}
        return answers

    def _is_merged_here(self, node: Mapping[str, Any]) -> bool:
        home = (node.get("baseRepository") or {}).get("nameWithOwner", "")
        return bool(node.get("merged")) and self.name.is_same(home)

    def _pull(self, node: Mapping[str, Any]) -> Pull:
        linked = _nodes(node.get("closingIssuesReferences") or {})
        here = [each for each in linked if self.name.is_same(each["repository"]["nameWithOwner"])]
        merge = (node.get("mergeCommit") or {}).get("oid", "")
        return Pull(_item(node, is_pull=True), merge, tuple(_item(each, is_pull=False) for each in here))


@dataclass(frozen=True, slots=True)
class RestLookup:
    """Asks by REST, commit by commit. It does not tell which issues are linked by hand: the texts do."""

    client: GitHubClient
    name: RepositoryName

    def pulls_of(self, shas: Sequence[str]) -> dict[str, list[Pull]]:
        """As `Lookup` says."""
        found = {}
        for sha in shas:
            try:
                pages = list(self.client.pages(f"/repos/{self.name}/commits/{sha}/pulls"))
            except NotFoundError:
                continue  # it was never pushed
            with _as_documented(f"the pull requests of {sha}"):
                nodes = [node for page in pages for node in page if self._is_merged_here(node)]
                found[sha] = [
                    Pull(_item(node, is_pull=True), node.get("merge_commit_sha") or "", ()) for node in nodes
                ]
        return found

    def items(self, numbers: Sequence[int]) -> dict[int, Item]:
        """As `Lookup` says."""
        found = {}
        for number in numbers:
            try:
                node = self.client.get(f"/repos/{self.name}/issues/{number}")
            except NotFoundError:
                continue
            with _as_documented(f"issue {number}"):
                found[number] = _item(node, is_pull="pull_request" in node)
        return found

    def _is_merged_here(self, node: Mapping[str, Any]) -> bool:
        home = ((node.get("base") or {}).get("repo") or {}).get("full_name", "")
        return bool(node.get("merged_at")) and self.name.is_same(home)


@dataclass(slots=True)
class FallbackLookup:
    """The first lookup until it is refused, then the second."""

    first: Lookup
    second: Lookup
    tell: Callable[[str], None]
    _refused: bool = field(default=False)

    def pulls_of(self, shas: Sequence[str]) -> dict[str, list[Pull]]:
        """As `Lookup` says."""
        return self._either(lambda lookup: lookup.pulls_of(shas))

    def items(self, numbers: Sequence[int]) -> dict[int, Item]:
        """As `Lookup` says."""
        return self._either(lambda lookup: lookup.items(numbers))

    def _either(self, ask: Callable[[Lookup], _Answer]) -> _Answer:
        if not self._refused:
            try:
                return ask(self.first)
            except (ForbiddenError, NotFoundError) as error:
                self._refused = True
                self.tell(f"{error.message} Going on by REST, which is slower.")
        return ask(self.second)


@dataclass(frozen=True, slots=True)
class CachedLookup:
    """What `inner` answers, kept in `cache`; what is younger than `max_age_s` seconds is not asked again.

    What GitHub doesn't know is not kept: it may come to know it. Without `inner` only what is kept is known.
    """

    inner: Lookup | None
    cache: AnswerCache
    where: str
    """The server and the repository, for keys."""
    max_age_s: float

    def pulls_of(self, shas: Sequence[str]) -> dict[str, list[Pull]]:
        """As `Lookup` says."""
        kept = {sha: self.cache.get_fresh(self._key("pulls", sha), self.max_age_s) for sha in shas}
        found = {sha: [_pull_from(each) for each in known.body] for sha, known in kept.items() if known}
        missing = [sha for sha in shas if sha not in found]
        asked = self.inner.pulls_of(missing) if self.inner and missing else {}
        for sha, pulls in asked.items():
            self.cache.put(self._key("pulls", sha), [asdict(pull) for pull in pulls])
        return found | asked

    def items(self, numbers: Sequence[int]) -> dict[int, Item]:
        """As `Lookup` says."""
        kept = {n: self.cache.get_fresh(self._key("item", n), self.max_age_s) for n in numbers}
        found = {number: Item(**known.body) for number, known in kept.items() if known}
        missing = [number for number in numbers if number not in found]
        asked = self.inner.items(missing) if self.inner and missing else {}
        for number, item in asked.items():
            self.cache.put(self._key("item", number), asdict(item))
        return found | asked

    def knows_something(self) -> bool:
        """Whether any answer of the repository is kept."""
        return any(self.cache.holds(self._key(kind, "")) for kind in ("pulls", "item"))

    def _key(self, kind: str, which: object) -> str:
        return f"{kind} {self.where} {which}"


@contextmanager
def _as_documented(what: str) -> Iterator[None]:
    """Around what reads an answer.

    Raises:
        GitHubError: the answer lacks something, or has it in another form.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise other_form(what) from error


def _pull_from(kept: Mapping[str, Any]) -> Pull:
    closes = tuple(Item(**each) for each in kept["closes"])
    return Pull(Item(**kept["item"]), kept["merge_commit"], closes)


def _item(node: Mapping[str, Any], is_pull: bool) -> Item:
    return Item(int(node["number"]), str(node.get("title") or ""), str(node.get("body") or ""), is_pull)


def _nodes(connection: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [node for node in connection.get("nodes") or [] if node]


def _batches(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[at : at + BATCH] for at in range(0, len(names), BATCH)]
