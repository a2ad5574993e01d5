"""What changes closed: by their messages, and by a server that answers as GitHub does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.cache import AnswerCache
from codeforge.tasks.github.client import GitHubClient
from codeforge.tasks.github.failures import GitHubError, RateLimitedError
from codeforge.tasks.github.history import Change, changes, read_commits
from codeforge.tasks.github.lookups import BATCH, CachedLookup, FallbackLookup, GraphQlLookup, RestLookup
from codeforge.tasks.github.pairing import ApiPairing, Lookup, MessagePairing, Paired, TextSource
from tests.tasks.github.conftest import Time
from tests.tasks.github.histories import History
from tests.tasks.github.server import NAME, Answer, GitHubServer, Pull

SHOP = RepositoryName.parse(NAME)


@pytest.fixture
def client(github: GitHubServer, time: Time) -> Iterator[GitHubClient]:
    with GitHubClient(github.endpoint(), sleep=time.sleep, clock=time.clock) as made:
        yield made


@pytest.fixture(params=[GraphQlLookup, RestLookup])
def lookup(request: pytest.FixtureRequest, client: GitHubClient) -> Lookup:
    made: Lookup = request.param(client, SHOP)
    return made


def read(history: History) -> list[Change]:
    return changes(read_commits(history.repo, "HEAD"), SHOP)


def pair(lookup: Lookup, found: list[Change]) -> list[Paired]:
    return ApiPairing(lookup, SHOP, {change.sha: change for change in found}).pair(found)


def test_by_messages(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Fix the total\n\nFix #12", {"a.py": "2\n"})
    squashed = history.commit("Closes #3 (#15)", {"a.py": "3\n"})
    history.commit("Tidy up", {"a.py": "4\n"})
    two, one = MessagePairing().pair(read(history))
    assert (one.change.sha, one.pull, one.issues, one.text) == (fix, None, (12,), "Fix the total")
    assert (two.change.sha, two.pull, two.issues, two.text) == (squashed, 15, (3,), "")
    assert {one.paired_by, two.paired_by} == {"message"} and one.text_source is TextSource.COMMIT


def test_the_issue_speaks_where_there_is_one(history: History, github: GitHubServer, lookup: Lookup) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Round prices (#15)", {"a.py": "2\n"})
    github.issues[12] = ("Wrong total", "It is 3. See #4.")
    github.issues[4] = ("Other", "")
    github.pulls[15] = Pull("Round prices", "Fixes #12, bob/shop#4", fix, (fix,))
    (paired,) = pair(lookup, read(history))
    assert (paired.pull, paired.issues, paired.text_source) == (15, (12,), TextSource.ISSUE)
    assert paired.text == "Wrong total\n\nIt is 3."
    assert paired.paired_by == "api"


def test_issues_that_were_linked_by_hand(
    history: History, github: GitHubServer, client: GitHubClient
) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Round prices (#15)", {"a.py": "2\n"})
    github.issues |= {12: ("Wrong total", ""), 13: ("Wrong tax", "")}
    github.pulls[15] = Pull("Round prices", "closes #13", fix, (fix,), closes=(12,))
    (paired,) = pair(GraphQlLookup(client, SHOP), read(history))
    assert (paired.issues, paired.text) == ((12, 13), "Wrong total\n\nWrong tax")


def test_the_pull_request_speaks_without_an_issue(
    history: History, github: GitHubServer, lookup: Lookup
) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("fix")
    inner = history.commit("wip", {"a.py": "2\n"})
    history.go_to("main")
    merge = history.merge("fix", "Merge pull request #15 from ann/fix")
    github.pulls[15] = Pull("Round prices", "They are cut.", merge, (inner, merge))
    (paired,) = pair(lookup, read(history))
    assert (paired.change.sha, paired.pull, paired.text) == (merge, 15, "Round prices\n\nThey are cut.")
    assert paired.text_source is TextSource.PULL_REQUEST


def test_a_number_of_a_pull_request_is_no_issue(
    history: History, github: GitHubServer, lookup: Lookup
) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Round prices\n\nFixes #15", {"a.py": "2\n"})
    github.pulls[15] = Pull("Round all prices", "", "0" * 40)
    (paired,) = pair(lookup, read(history))
    assert (paired.change.sha, paired.pull, paired.issues) == (fix, 15, ())
    assert paired.text == "Round all prices"


def test_what_github_does_not_know_counts_as_its_message_says(history: History, lookup: Lookup) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.commit("Round prices\n\nFixes #400", {"a.py": "2\n"})
    history.commit("Tidy up", {"a.py": "3\n"})
    (paired,) = pair(lookup, read(history))
    assert (paired.paired_by, paired.issues, paired.text) == ("message", (400,), "Round prices")


def test_a_pull_request_without_words_leaves_the_commits(
    history: History, github: GitHubServer, lookup: Lookup
) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Round prices (#15)", {"a.py": "2\n"})
    github.pulls[15] = Pull("", "", fix, (fix,))
    (paired,) = pair(lookup, read(history))
    assert (paired.text, paired.text_source) == ("Round prices", TextSource.COMMIT)


def test_pull_requests_elsewhere_or_unmerged_do_not_count(
    history: History, github: GitHubServer, lookup: Lookup
) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Tidy up", {"a.py": "2\n"})
    github.pulls[1] = Pull("In a fork", "", fix, (fix,), home="bob/shop")
    github.pulls[2] = Pull("Still open", "", "", (fix,), merged=False)
    assert pair(lookup, read(history)) == []


def test_a_commit_in_several_pull_requests(history: History, github: GitHubServer, lookup: Lookup) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Round prices", {"a.py": "2\n"})
    github.pulls[14] = Pull("Release 2", "", "0" * 40, (fix,))
    github.pulls[15] = Pull("Round prices", "", fix, (fix,))
    (paired,) = pair(lookup, read(history))
    assert paired.pull == 15


def test_a_rebased_pull_request_is_one_change(history: History, github: GitHubServer, lookup: Lookup) -> None:
    base = history.commit("start", {"a.py": "1\n"})
    one = history.commit("step one, fixes #12", {"a.py": "2\n"})
    two = history.commit("step two", {"b.py": "1\n"})
    last = history.commit("step three", {"a.py": "3\n"})
    github.issues[12] = ("Wrong total", "")
    github.pulls[15] = Pull("Round prices", "", last, (one, two, last))
    (paired,) = pair(lookup, read(history))
    assert (paired.change.sha, paired.change.base, paired.issues) == (last, base, (12,))
    assert paired.text == "Wrong total"


def test_a_list_of_several_pages(history: History, github: GitHubServer, client: GitHubClient) -> None:
    history.commit("start", {"a.py": "1\n"})
    fix = history.commit("Round prices (#5)", {"a.py": "2\n"})
    github.page_size = 2
    github.pulls = {n: Pull(f"Pull {n}", "", "", (fix,)) for n in range(1, 6)}
    (paired,) = pair(RestLookup(client, SHOP), read(history))
    assert paired.pull == 5
    assert len(github.asked(f"/repos/{NAME}/commits/{fix}/pulls")) == 3


def test_graphql_asks_for_many_commits_at_once(github: GitHubServer, client: GitHubClient) -> None:
    shas = [f"{n:040x}" for n in range(BATCH + 1)]
    github.pulls[1] = Pull("All", "", "", tuple(shas))
    assert len(GraphQlLookup(client, SHOP).pulls_of(shas)) == BATCH + 1
    assert len(github.requests) == 2


def test_a_query_that_is_too_much_is_halved(github: GitHubServer, client: GitHubClient) -> None:
    shas = [f"{n:040x}" for n in range(4)]
    github.pulls[1] = Pull("All", "", "", tuple(shas))
    too_much = Answer({"data": None, "errors": [{"message": "Something went wrong while executing"}]})
    github.script["/graphql"] = [too_much]
    assert list(GraphQlLookup(client, SHOP).pulls_of(shas)) == shas
    assert len(github.requests) == 3


def test_where_graphql_is_refused_rest_goes_on(github: GitHubServer, client: GitHubClient) -> None:
    github.issues[12] = ("Wrong total", "")
    github.script["/graphql"] = [Answer({"message": "not accessible"}, 403)]
    told: list[str] = []
    lookup = FallbackLookup(GraphQlLookup(client, SHOP), RestLookup(client, SHOP), told.append)
    assert lookup.items([12])[12].title == "Wrong total"
    assert lookup.items([13]) == {}
    assert len(told) == 1 and "REST" in told[0]
    assert len(github.asked("/graphql")) == 1


@pytest.mark.parametrize("node", [{}, {"number": "x"}, [1], "text", {"number": None, "title": 1}])
def test_answers_of_another_form(
    history: History, github: GitHubServer, client: GitHubClient, node: object
) -> None:
    path = f"/repos/{NAME}/commits/abc/pulls"
    merged = {"merged_at": "x", "base": {"repo": {"full_name": NAME}}}
    github.script[path] = [Answer([{**node, **merged} if isinstance(node, dict) else node])]
    with pytest.raises(GitHubError, match="form"):
        RestLookup(client, SHOP).pulls_of(["abc"])
    pulls = {
        "associatedPullRequests": {"nodes": [{"merged": True, "baseRepository": {"nameWithOwner": NAME}}]}
    }
    for inside in (pulls, {"associatedPullRequests": [1]}, "text"):
        github.script["/graphql"] = [Answer({"data": {"repository": {"c0": inside}}})]
        with pytest.raises(GitHubError, match="form"):
            GraphQlLookup(client, SHOP).pulls_of(["abc"])


def test_kept_answers(github: GitHubServer, client: GitHubClient, tmp_path: Path, time: Time) -> None:
    github.issues[12] = ("Wrong total", "é")
    github.pulls[15] = Pull("Round prices", "", "abc", ("abc",), closes=(12,))
    with AnswerCache(tmp_path / "answers.db", clock=time.clock) as cache:
        online = CachedLookup(GraphQlLookup(client, SHOP), cache, "here", 60.0)
        kept = CachedLookup(None, cache, "here", 60.0)
        assert not kept.knows_something() and kept.pulls_of(["abc"]) == {} and kept.items([12]) == {}
        pulls, items = online.pulls_of(["abc", "def"]), online.items([12, 99])
        asked = len(github.requests)
        assert (kept.pulls_of(["abc", "def"]), kept.items([12, 99])) == (pulls, items)
        assert kept.knows_something() and not CachedLookup(None, cache, "elsewhere", 60.0).knows_something()
        assert len(github.requests) == asked
        assert (online.pulls_of(["abc"]), online.items([12])) == ({"abc": pulls["abc"]}, {12: items[12]})
        assert len(github.requests) == asked
        online.items([99])  # it may be there by now
        time.now += 61
        online.items([12])
        assert len(github.requests) == asked + 2


def test_what_came_before_a_limit_is_kept(github: GitHubServer, client: GitHubClient, tmp_path: Path) -> None:
    github.issues |= {1: ("One", ""), 2: ("Two", "")}
    with AnswerCache(tmp_path / "answers.db") as cache:
        lookup = CachedLookup(RestLookup(client, SHOP), cache, "here", 60.0)
        lookup.items([1])
        late = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9000000"}
        github.script[f"/repos/{NAME}/issues/2"] = [Answer({}, 403, late)] * 9
        with pytest.raises(RateLimitedError):
            lookup.items([1, 2])
        assert lookup.items([1])[1].title == "One"
