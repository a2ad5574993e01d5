"""Names of repositories, servers, tokens."""

import pytest

from codeforge.errors import UsageError
from codeforge.tasks.github.address import Endpoint, RepositoryName


@pytest.mark.parametrize(
    "text",
    [
        "ann/shop",
        " ann/shop ",
        "ann/shop.git",
        "https://github.com/ann/shop",
        "https://github.com/ann/shop.git/",
    ],
)
def test_names(text: str) -> None:
    assert str(RepositoryName.parse(text)) == "ann/shop"


@pytest.mark.parametrize(
    "text", ["", "shop", "ann/", "/shop", "ann/shop/x", "ann/..", "a b/c", "-x/y", "ann/sh op"]
)
def test_no_names(text: str) -> None:
    with pytest.raises(UsageError, match="does not name a GitHub repository") as told:
        RepositoryName.parse(text)
    assert "OWNER/REPO" in told.value.hint


def test_the_public_server() -> None:
    endpoint = Endpoint.resolve(environment={"GH_TOKEN": " t \n", "GH_ENTERPRISE_TOKEN": "e"})
    assert (endpoint.api, endpoint.graphql) == ("https://api.github.com", "https://api.github.com/graphql")
    assert (endpoint.server, endpoint.token) == ("https://github.com", "t")
    assert "token" not in repr(endpoint)


def test_an_enterprise_server() -> None:
    environment = {"GITHUB_TOKEN": "t", "GH_ENTERPRISE_TOKEN": "e"}
    endpoint = Endpoint.resolve("https://git.example.org/api/v3/", environment)
    assert endpoint.graphql == "https://git.example.org/api/graphql"
    assert (endpoint.server, endpoint.token) == ("https://git.example.org", "e")


def test_the_servers_of_a_runner() -> None:
    environment = {"GITHUB_API_URL": "https://a.example/api/v3", "GITHUB_SERVER_URL": "https://b.example/"}
    endpoint = Endpoint.resolve(environment=environment)
    assert (endpoint.api, endpoint.server) == ("https://a.example/api/v3", "https://b.example")


def test_a_token_is_never_sent_in_the_clear() -> None:
    environment = {"GITHUB_TOKEN": "t"}
    with pytest.raises(UsageError, match="unencrypted"):
        Endpoint.resolve("http://git.example.org/api/v3", environment)
    assert Endpoint.resolve("http://127.0.0.1:8080", environment).token == "t"
    assert Endpoint.resolve("http://git.example.org/api/v3", {}).token == ""


@pytest.mark.parametrize("address", ["nonsense", "ftp://x", "https://"])
def test_no_addresses(address: str) -> None:
    with pytest.raises(UsageError, match="no address"):
        Endpoint.resolve(address, {})
