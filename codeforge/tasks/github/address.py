"""Which repository on which server: names, addresses and tokens."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from codeforge.errors import UsageError

PUBLIC_API = "https://api.github.com"
PUBLIC_SERVER = "https://github.com"
API_VARIABLE = "GITHUB_API_URL"
SERVER_VARIABLE = "GITHUB_SERVER_URL"
TOKEN_VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
ENTERPRISE_TOKEN_VARIABLES = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", *TOKEN_VARIABLES)

_NAME = re.compile(r"(?:https?://[^/\s]+/)?([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100})")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class RepositoryName:
    """`owner/name`, as GitHub spells it."""

    owner: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "RepositoryName":
        """From `OWNER/REPO` or the repository's address.

        Raises:
            UsageError: it is neither.
        """
        match = _NAME.fullmatch(text.strip().rstrip("/").removesuffix(".git"))
        if match is None or match[2] in (".", ".."):
            raise UsageError(
                f"{text!r} does not name a GitHub repository.",
                kept="Nothing was changed.",
                hint="Write OWNER/REPO, such as pallets/click.",
            )
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def slug(self) -> str:
        """`owner__name`: for file names and task ids."""
        return f"{self.owner}__{self.name}"

    def is_same(self, other: str) -> bool:
        """Whether `other` (`owner/name`) is this repository; GitHub ignores case."""
        return other.casefold() == str(self).casefold()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A GitHub server.

    Attributes:
        api: the REST address, without a slash at its end.
        graphql: the GraphQL address.
        server: the address that repositories are cloned from.
        token: what it is asked with; "" for none. Never shown.
    """

    api: str
    graphql: str
    server: str
    token: str = field(default="", repr=False)

    @classmethod
    def resolve(cls, api_url: str = "", environment: Mapping[str, str] | None = None) -> "Endpoint":
        """The server that `api_url` names, else the one of GITHUB_API_URL and GITHUB_SERVER_URL (as GitHub's
        own runners set them), else the public one; with the token of the environment that is meant for it.

        Raises:
            UsageError: the address is none, or the token would be sent in the clear.
        """
        env = os.environ if environment is None else environment
        api = (api_url or env.get(API_VARIABLE) or PUBLIC_API).rstrip("/")
        parts = urlsplit(api)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{api!r} is no address of a GitHub API.", hint=f"such as {PUBLIC_API}")
        names = TOKEN_VARIABLES if api == PUBLIC_API else ENTERPRISE_TOKEN_VARIABLES
        token = next((env[name].strip() for name in names if env.get(name, "").strip()), "")
        if token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise UsageError(
                f"The token would be sent to {parts.hostname} unencrypted.",
                kept="Nothing was sent.",
                hint="Use an https address, or --offline.",
            )
        server = env.get(SERVER_VARIABLE) or (PUBLIC_SERVER if api == PUBLIC_API else _server_of(api))
        return cls(api, _graphql_of(api), server.rstrip("/"), token)


def _graphql_of(api: str) -> str:
    """GitHub Enterprise has REST under `/api/v3` and GraphQL under `/api/graphql`."""
    return f"{api.removesuffix('/v3')}/graphql"


def _server_of(api: str) -> str:
    parts = urlsplit(api)
    return f"{parts.scheme}://{parts.netloc}"
