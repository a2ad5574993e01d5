"""What can go wrong with GitHub, in words for the user."""

from collections.abc import Mapping, Sequence
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.redact import redact


class GitHubError(EnvironmentUnavailableError):
    """GitHub can't be reached, or refused a request."""


class ServerFailedError(GitHubError):
    """GitHub answers, but not with what was asked for: it fails, or the question is too much for it."""


class RateLimitedError(GitHubError):
    """The rate limit is used up for longer than we may wait."""


class NotFoundError(GitHubError):
    """There is no such thing, or the token may not see it."""


class ForbiddenError(GitHubError):
    """The token may not do this."""


def other_form(what: str) -> GitHubError:
    """An answer that can't be read."""
    return GitHubError(
        f"GitHub's answer to {what} has not the form that GitHub documents.",
        hint="Check the address of the API (--api-url, GITHUB_API_URL), or use --offline.",
    )


def graphql_refusal(errors: Sequence[Mapping[str, Any]]) -> GitHubError:
    """What the `errors` of a GraphQL answer say."""
    text = redact("; ".join(str(each.get("message", each)) for each in errors[:3]))
    kinds = {str(each.get("type")) for each in errors}
    # Too long a query ends as an error without a type ("Something went wrong while executing …").
    untold = "None" in kinds or "RESOURCE_LIMITS_EXCEEDED" in kinds
    failed = ServerFailedError if untold else GitHubError
    kind = ForbiddenError if "FORBIDDEN" in kinds else failed
    return kind(f"GitHub refused a GraphQL query: {text}")


def refusal(status: int, path: str, text: str) -> GitHubError:
    """What an answer of status 4xx says."""
    detail = " ".join(redact(text).split())[:200]
    if status == 401:
        return GitHubError(
            "GitHub does not accept the token.",
            hint="Set GITHUB_TOKEN or GH_TOKEN anew, or use --offline to go by commit messages.",
        )
    if status == 403:
        return ForbiddenError(
            f"The token may not read {path}: {detail}", hint="It needs read access to the repository."
        )
    if status in (404, 410, 451) or (status == 422 and "no commit found" in text.lower()):
        return NotFoundError(
            f"GitHub has no {path} (or the token may not see it).", hint="Check OWNER/REPO and the token."
        )
    return GitHubError(f"GitHub refused {path} ({status}): {detail}")
