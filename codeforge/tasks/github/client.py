"""Requests to GitHub's API: retries, rate limits, pages."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from codeforge import __version__
from codeforge.tasks.github.address import Endpoint
from codeforge.tasks.github.cache import AnswerCache
from codeforge.tasks.github.failures import (
    GitHubError,
    RateLimitedError,
    ServerFailedError,
    graphql_refusal,
    other_form,
    refusal,
)
from codeforge.tasks.github.limits import SECONDARY_WAIT_S, wait_for_reset, wait_of

if TYPE_CHECKING:
    import ssl

    import httpx
    from tenacity import RetryCallState

PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try.

    Attributes:
        attempts: at a request that fails.
        max_wait_s: most seconds of waiting for a limit.
        timeout_s: seconds for an answer.
    """

    attempts: int = 5
    max_wait_s: float = 900.0
    timeout_s: float = 30.0


class _Page(NamedTuple):
    """An answer's JSON, and the address of the next page of its list ("" for none)."""

    body: Any
    following: str


class GitHubClient:
    """The API of one server. Use it as a context manager.

    Args:
        cache: keeps answers to GETs; GitHub is asked whether they changed, which costs nothing of the rate
            limit (GitHub docs, "Use conditional requests"). `None` keeps nothing.
        tell: is told of waits.
        sleep, clock: of the time module, but for tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        patience: Patience | None = None,
        cache: AnswerCache | None = None,
        tell: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        import httpx

        self._endpoint = endpoint
        self._patience = patience or Patience()
        self._cache = cache
        self._tell = tell
        self._sleep = sleep
        self._clock = clock
        self._renewed_at: dict[bool, float] = {}
        headers = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": f"codeforge/{__version__}",
        }
        if endpoint.token:
            headers["Authorization"] = f"Bearer {endpoint.token}"
        timeout = httpx.Timeout(self._patience.timeout_s, connect=min(10.0, self._patience.timeout_s))
        # httpx drops the token when a redirect leads to another host.
        self._http = httpx.Client(headers=headers, timeout=timeout, follow_redirects=True, verify=_tls())

    def __enter__(self) -> "GitHubClient":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str, params: Mapping[str, str | int] | None = None) -> dict[str, Any]:
        """The JSON object that answers a GET of `path` ("/repos/o/r").

        Raises:
            NotFoundError, ForbiddenError, RateLimitedError, GitHubError: what the server or the network says.
        """
        body = self._page(self._endpoint.api + path, params).body
        if not isinstance(body, dict):
            raise other_form(path)
        return body

    def pages(self, path: str, params: Mapping[str, str | int] | None = None) -> Iterator[list[Any]]:
        """The pages of a list, by `Link: rel="next"`. Raises as `get` does."""
        page = self._page(self._endpoint.api + path, {"per_page": PAGE_SIZE, **(params or {})})
        seen: set[str] = set()
        while True:
            if not isinstance(page.body, list):
                raise other_form(path)
            yield page.body
            if not page.following:
                return
            if page.following in seen or not self._is_ours(page.following):
                raise GitHubError(f"GitHub's list {path} goes on at {page.following}, which can't be right.")
            seen.add(page.following)
            page = self._page(page.following)

    def graphql(self, query: str, variables: Mapping[str, object]) -> dict[str, Any]:
        """The data that answers a GraphQL query; what is not found is `None` in it. Raises as `get` does."""
        body = {"query": query, "variables": dict(variables)}
        answer = self._send("POST", self._endpoint.graphql, json=body).json()
        if not isinstance(answer, dict) or not isinstance(answer.get("data") or {}, dict):
            raise other_form("a GraphQL query")
        errors = [
            e for e in answer.get("errors") or [] if not isinstance(e, dict) or e.get("type") != "NOT_FOUND"
        ]
        if errors:
            raise graphql_refusal([each if isinstance(each, dict) else {"message": each} for each in errors])
        data: dict[str, Any] = answer.get("data") or {}
        return data

    def _page(self, url: str, params: Mapping[str, str | int] | None = None) -> _Page:
        import httpx

        whole = httpx.URL(url, params=params) if params else httpx.URL(url)
        key = f"GET {whole}"
        kept = self._cache.get(key) if self._cache else None
        headers = {"If-None-Match": kept.etag} if kept and kept.etag else {}
        response = self._send("GET", str(whole), headers=headers)
        if response.status_code == 304:
            if kept is None:
                raise other_form(whole.path)
            return _Page(kept.body, kept.following)
        body = response.json()
        following = str(response.links.get("next", {}).get("url", ""))
        etag = response.headers.get("etag", "")
        if self._cache and etag:
            self._cache.put(key, body, etag=etag, following=following)
        return _Page(body, following)

    def _is_ours(self, url: str) -> bool:
        """The token is for this server alone."""
        import httpx

        one, other = httpx.URL(url), httpx.URL(self._endpoint.api)
        return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)

    def _send(self, method: str, url: str, **arguments: Any) -> "httpx.Response":
        import tenacity

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_TryAgainError),
            stop=self._stop,
            wait=self._wait,
            before_sleep=self._before_sleep,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(self._once, method, url, **arguments)
        except _TryAgainError as error:
            raise self._given_up(error) from error

    def _once(self, method: str, url: str, **arguments: Any) -> "httpx.Response":
        import httpx

        resource = method == "POST"  # GraphQL has a budget of its own
        renewed_in = self._renewed_at.get(resource, 0.0) - self._clock()
        if renewed_in > 0:
            raise _TryAgainError("GitHub's rate limit is used up", renewed_in, limited=True)
        try:
            response = self._http.request(method, url, **arguments)
            text = response.text
        except httpx.TransportError as error:
            raise _TryAgainError(f"{type(error).__name__}: {error}") from error
        except (httpx.InvalidURL, httpx.TooManyRedirects) as error:
            raise GitHubError(f"GitHub sent us in circles: {error}") from error
        now, headers = self._clock(), response.headers
        renewed = wait_for_reset(headers, now)
        if renewed is not None:
            self._renewed_at[resource] = now + renewed
        wait = wait_of(response.status_code, headers, text, now)
        if wait is not None:
            raise _TryAgainError("GitHub's rate limit is used up", wait, limited=True)
        self._check(response, text)
        return response

    def _check(self, response: "httpx.Response", text: str) -> None:
        """Raise unless the answer is good: JSON, and no error."""
        status = response.status_code
        if status >= 500 or status == 408:
            raise _TryAgainError(f"the server answers {status}", answered=True)
        if status == 304:
            return
        if status >= 400:
            raise refusal(status, response.url.path, text)
        try:
            answer = response.json()
        except ValueError as error:
            raise _TryAgainError("the answer is no JSON (cut off?)") from error
        errors = answer.get("errors") if isinstance(answer, dict) else None
        if any(isinstance(e, dict) and e.get("type") == "RATE_LIMITED" for e in errors or []):
            wait = wait_for_reset(response.headers, self._clock())
            wait = SECONDARY_WAIT_S if wait is None else wait
            raise _TryAgainError("GitHub's rate limit is used up", wait, limited=True)

    def _stop(self, state: "RetryCallState") -> bool:
        error = _error_of(state)
        if error.limited:
            return state.idle_for + self._wait(state) > self._patience.max_wait_s
        return state.attempt_number >= self._patience.attempts

    def _wait(self, state: "RetryCallState") -> float:
        import tenacity

        error = _error_of(state)
        if not error.limited:
            return float(tenacity.wait_random_exponential(multiplier=0.5, max=20)(state))
        # Asked again and again to wait a while, GitHub wants more patience each time.
        return max(error.wait_s, min(state.attempt_number - 1, 6) * error.wait_s)

    def _before_sleep(self, state: "RetryCallState") -> None:
        seconds = state.next_action.sleep if state.next_action else 0.0
        self._tell(f"{_error_of(state).reason}; trying again in {seconds:.0f} s")

    def _given_up(self, error: "_TryAgainError") -> GitHubError:
        if error.limited:
            at = time.strftime("%H:%M UTC", time.gmtime(self._clock() + min(error.wait_s, 86_400.0)))
            return RateLimitedError(
                f"GitHub's rate limit is used up; it is renewed at about {at}.",
                hint="Run the same command again then: it goes on where it stopped.",
            )
        failure = ServerFailedError if error.answered else GitHubError
        return failure(
            f"{self._endpoint.api} can't be reached: {error.reason}",
            hint="Run the same command again later, or with --offline to go by commit messages.",
        )


@cache
def _tls() -> "ssl.SSLContext":
    """Made once: to read all certificates takes a tenth of a second."""
    import httpx

    return httpx.create_ssl_context()


class _TryAgainError(Exception):
    """A request may succeed later: after `wait_s` when a limit refused it, else after a while.

    `answered`: the server was there, and failed.
    """

    def __init__(
        self, reason: str, wait_s: float = 0.0, *, limited: bool = False, answered: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s
        self.limited = limited
        self.answered = answered


def _error_of(state: "RetryCallState") -> _TryAgainError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _TryAgainError)
    return error
