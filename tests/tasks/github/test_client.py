"""The API client against a real server: limits, pages, refusals, broken answers."""

import socket
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from codeforge.errors import ExitCode
from codeforge.tasks.github.address import Endpoint
from codeforge.tasks.github.cache import AnswerCache
from codeforge.tasks.github.client import GitHubClient, Patience
from codeforge.tasks.github.failures import (
    ForbiddenError,
    GitHubError,
    NotFoundError,
    RateLimitedError,
    ServerFailedError,
)
from tests.tasks.github.conftest import Time
from tests.tasks.github.server import TOKEN, Answer, GitHubServer

PATH = "/things"
DONE = Answer({"done": True})


@pytest.fixture
def client(github: GitHubServer, time: Time) -> Iterator[GitHubClient]:
    with GitHubClient(github.endpoint(), sleep=time.sleep, clock=time.clock) as made:
        yield made


def test_an_answer(client: GitHubClient, github: GitHubServer) -> None:
    github.script[PATH] = [DONE]
    assert client.get(PATH, {"state": "closed"}) == {"done": True}
    (request,) = github.requests
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["x-github-api-version"] and request.query == {"state": "closed"}


def test_without_a_token_none_is_sent(github: GitHubServer) -> None:
    github.script[PATH] = [DONE]
    with GitHubClient(github.endpoint("")) as client:
        client.get(PATH)
    assert "authorization" not in github.requests[0].headers


@pytest.mark.parametrize(
    ("headers", "status", "body", "naps"),
    [
        ({"Retry-After": "7"}, 429, {"message": "slow down"}, [7.0]),
        ({"Retry-After": "0"}, 403, {"message": "You have exceeded a secondary rate limit"}, [0.0]),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000030"}, 403, {"message": "no"}, [31.0]),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "999000"}, 429, {}, [1.0]),
        ({}, 403, {"message": "You have exceeded a secondary rate limit. Please wait."}, [60.0]),
        ({}, 429, b"", [60.0]),
        ({"Retry-After": formatdate(1_000_012, usegmt=True)}, 429, {}, [12.0]),
    ],
)
def test_a_limit_is_waited_for(
    client: GitHubClient,
    github: GitHubServer,
    time: Time,
    headers: dict[str, str],
    status: int,
    body: object,
    naps: list[float],
) -> None:
    github.script[PATH] = [Answer(body, status, headers), DONE]
    assert client.get(PATH) == {"done": True}
    assert time.naps == naps


def test_a_secondary_limit_again_and_again_is_waited_for_longer(
    client: GitHubClient, github: GitHubServer, time: Time
) -> None:
    github.script[PATH] = [Answer({}, 429)] * 4 + [DONE]
    client.get(PATH)
    assert time.naps == [60.0, 60.0, 120.0, 180.0]


def test_the_last_request_of_the_budget_delays_the_next_one(
    client: GitHubClient, github: GitHubServer, time: Time
) -> None:
    last = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000020"}
    github.script[PATH] = [Answer({"n": 1}, headers=last), Answer({"n": 2})]
    assert client.get(PATH) == {"n": 1}
    assert time.naps == []
    assert client.get(PATH) == {"n": 2}
    assert time.naps == [21.0]


@pytest.mark.parametrize("reset", ["1100000", "9" * 400, "nan", "-5", ""])
def test_a_limit_for_too_long_is_told(
    client: GitHubClient, github: GitHubServer, time: Time, reset: str
) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    github.script[PATH] = [Answer({"message": "API rate limit exceeded"}, 403, headers)] * 40
    with pytest.raises(RateLimitedError, match=r"renewed at about \d\d:\d\d UTC") as told:
        client.get(PATH)
    assert "goes on where it stopped" in told.value.hint
    assert sum(time.naps) <= 900


def test_graphql_tells_of_its_limit_in_an_answer_of_200(
    client: GitHubClient, github: GitHubServer, time: Time
) -> None:
    limited = Answer({"errors": [{"type": "RATE_LIMITED", "message": "no"}]})
    github.script["/graphql"] = [limited, Answer({"data": {"x": 1}})]
    assert client.graphql("query { x }", {"a": 1}) == {"x": 1}
    assert time.naps == [60.0]
    assert github.requests[-1].body == {"query": "query { x }", "variables": {"a": 1}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (401, {"message": "Bad credentials"}, GitHubError, "does not accept the token"),
        (403, {"message": "Resource not accessible by token"}, ForbiddenError, "may not read /things"),
        (404, {"message": "Not Found"}, NotFoundError, "has no /things"),
        (410, {}, NotFoundError, "has no /things"),
        (451, {}, NotFoundError, "has no /things"),
        (422, {"message": "No commit found for SHA: x"}, NotFoundError, "has no /things"),
        (422, {"message": "Validation Failed"}, GitHubError, r"refused /things \(422\).*Validation Failed"),
    ],
)
def test_a_refusal_is_not_tried_again(
    client: GitHubClient,
    github: GitHubServer,
    time: Time,
    status: int,
    body: object,
    kind: type[GitHubError],
    says: str,
) -> None:
    github.script[PATH] = [Answer(body, status)] * 3
    with pytest.raises(kind, match=says) as told:
        client.get(PATH)
    assert len(github.requests) == 1 and time.naps == []
    assert told.value.exit_code is ExitCode.ENVIRONMENT


def test_a_refusal_that_repeats_the_token_does_not_show_it(
    client: GitHubClient, github: GitHubServer
) -> None:
    github.script[PATH] = [Answer({"message": f"token {TOKEN} is bad"}, 403)]
    with pytest.raises(ForbiddenError) as told:
        client.get(PATH)
    assert TOKEN not in told.value.message


@pytest.mark.parametrize("broken", [Answer({}, 500), Answer(b"oh", 502), Answer({}, 503), Answer(b"{cut")])
def test_a_failing_server_is_tried_again(
    client: GitHubClient, github: GitHubServer, time: Time, broken: Answer
) -> None:
    github.script[PATH] = [broken, broken, DONE]
    assert client.get(PATH) == {"done": True}
    assert len(time.naps) == 2


def test_a_server_that_goes_on_failing(client: GitHubClient, github: GitHubServer) -> None:
    github.script[PATH] = [Answer({}, 502)] * 9
    with pytest.raises(ServerFailedError, match="answers 502") as told:
        client.get(PATH)
    assert len(github.requests) == Patience().attempts
    assert "--offline" in told.value.hint


def test_answers_that_are_never_json(client: GitHubClient, github: GitHubServer) -> None:
    github.script[PATH] = [Answer(b"<html>")] * 9
    with pytest.raises(GitHubError, match="no JSON"):
        client.get(PATH)


@pytest.mark.parametrize("body", [[], "text", 3, None])
def test_json_of_another_form(client: GitHubClient, github: GitHubServer, body: object) -> None:
    github.script |= {PATH: [Answer(body)], "/graphql": [Answer(body), Answer({"data": [1]})]}
    with pytest.raises(GitHubError, match="form"):
        client.get(PATH)
    with pytest.raises(GitHubError, match="form"):
        client.graphql("query { x }", {})
    with pytest.raises(GitHubError, match="form"):
        client.graphql("query { x }", {})


def test_a_list_of_another_form(client: GitHubClient, github: GitHubServer) -> None:
    github.script[PATH] = [Answer({"message": "hello"})]
    with pytest.raises(GitHubError, match="form"):
        list(client.pages(PATH))


def test_nobody_listens(time: Time) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    endpoint = Endpoint(url, f"{url}/graphql", url, "t")
    with (
        GitHubClient(endpoint, sleep=time.sleep, clock=time.clock) as client,
        pytest.raises(GitHubError, match="can't be reached: ConnectError") as told,
    ):
        client.get(PATH)
    assert len(time.naps) == Patience().attempts - 1
    assert "--offline" in told.value.hint


def test_pages(client: GitHubClient, github: GitHubServer) -> None:
    here = f"{github.url}{PATH}"
    github.script[PATH] = [
        Answer([1, 2], headers={"Link": f'<{here}?page=2>; rel="next", <{here}?page=3>; rel="last"'}),
        Answer([3], headers={"Link": f'<{here}?page=1>; rel="prev", <{here}?page=3>; rel="next"'}),
        Answer([4], headers={"Link": f'<{here}?page=1>; rel="first"'}),
    ]
    assert list(client.pages(PATH)) == [[1, 2], [3], [4]]
    assert [request.query.get("page") for request in github.requests] == [None, "2", "3"]
    assert github.requests[0].query["per_page"] == "100"


def test_a_list_in_circles_ends(client: GitHubClient, github: GitHubServer) -> None:
    again = Answer([1], headers={"Link": f'<{github.url}{PATH}?page=2>; rel="next"'})
    github.script[PATH] = [again] * 9
    with pytest.raises(GitHubError, match="can't be right"):
        list(client.pages(PATH))


def test_the_token_goes_nowhere_else(client: GitHubClient, github: GitHubServer) -> None:
    github.script[PATH] = [Answer([1], headers={"Link": '<https://elsewhere.invalid/x>; rel="next"'})]
    with pytest.raises(GitHubError, match="elsewhere"):
        list(client.pages(PATH))


def test_kept_answers_are_asked_about_and_not_fetched_again(
    github: GitHubServer, time: Time, tmp_path: Path
) -> None:
    following = f'<{github.url}{PATH}?page=2>; rel="next"'
    github.script[PATH] = [
        Answer([1], headers={"ETag": '"a"', "Link": following}),
        Answer([2], headers={"ETag": '"b"'}),
        Answer(status=304),
        Answer([3], headers={"ETag": '"c"'}),
    ]
    for pages in ([[1], [2]], [[1], [3]]):
        with (
            AnswerCache(tmp_path / "answers.db") as cache,
            GitHubClient(github.endpoint(), cache=cache, sleep=time.sleep) as client,
        ):
            assert list(client.pages(PATH)) == pages
    assert [r.headers.get("if-none-match") for r in github.requests] == [None, None, '"a"', '"b"']


def test_unchanged_though_nothing_was_kept(client: GitHubClient, github: GitHubServer) -> None:
    github.script[PATH] = [Answer(status=304)]
    with pytest.raises(GitHubError, match="form"):
        client.get(PATH)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "Something went wrong while executing your query"}, ServerFailedError),
        ({"type": "RESOURCE_LIMITS_EXCEEDED", "message": "too much"}, ServerFailedError),
        ({"type": "FORBIDDEN", "message": "no"}, ForbiddenError),
        ({"type": "UNPROCESSABLE", "message": "no"}, GitHubError),
        ("only text", ServerFailedError),
    ],
)
def test_errors_of_graphql(
    client: GitHubClient, github: GitHubServer, error: object, kind: type[GitHubError]
) -> None:
    github.script["/graphql"] = [Answer({"data": None, "errors": [error]})]
    with pytest.raises(GitHubError) as told:
        client.graphql("query { x }", {})
    assert type(told.value) is kind


def test_what_graphql_does_not_find_is_none(client: GitHubClient, github: GitHubServer) -> None:
    answer = {"data": {"x": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}
    github.script["/graphql"] = [Answer(answer)]
    assert client.graphql("query { x }", {}) == {"x": None}
