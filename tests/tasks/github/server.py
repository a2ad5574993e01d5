"""A server on this machine that answers as GitHub's API does."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from codeforge.tasks.github.address import Endpoint

NAME = "ann/shop"
TOKEN = "ghp_" + "a1B2" * 9


@dataclass(frozen=True)
class Answer:
    """What is sent back; `body` is JSON data, or bytes as they are."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What was asked."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass
class Pull:
    """A merged pull request of the server's."""

    title: str
    body: str = ""
    merge_commit: str = ""
    commits: tuple[str, ...] = ()
    closes: tuple[int, ...] = ()
    home: str = NAME
    merged: bool = True


@dataclass
class GitHubServer:
    """A repository's issues and pull requests, by number.

    `script` goes before them: by path the answers that are given next, one a request.
    """

    issues: dict[int, tuple[str, str]] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    script: dict[str, list[Answer]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    page_size: int = 100
    full_name: str = NAME
    url: str = ""

    def endpoint(self, token: str = TOKEN) -> Endpoint:
        """Where it is."""
        return Endpoint(self.url, f"{self.url}/graphql", self.url, token)

    def asked(self, path: str) -> list[Request]:
        """The requests for a path."""
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request) -> Answer:
        """What a request is answered."""
        self.requests.append(request)
        if waiting := self.script.get(request.path):
            return waiting.pop(0)
        if request.path == "/graphql":
            return self._graphql(request.body["query"])
        if request.path == f"/repos/{NAME}":
            return Answer({"full_name": self.full_name})
        if match := re.fullmatch(r"/repos/[\w-]+/[\w-]+/commits/(\w+)/pulls", request.path):
            found = [self._rest_pull(n) for n, pull in self.pulls.items() if match[1] in pull.commits]
            return self._page(found, request)
        if (match := re.fullmatch(r"/repos/[\w-]+/[\w-]+/issues/(\d+)", request.path)) and (
            node := self._rest_item(int(match[1]))
        ):
            return Answer(node)
        return Answer({"message": "Not Found"}, 404)

    def _page(self, found: list[Any], request: Request) -> Answer:
        page = int(request.query.get("page", "1"))
        rest = found[page * self.page_size :]
        following = f'<{self.url}{request.path}?page={page + 1}>; rel="next", <{self.url}/x>; rel="last"'
        start = (page - 1) * self.page_size
        return Answer(found[start : start + self.page_size], headers={"Link": following} if rest else {})

    def _rest_pull(self, number: int) -> dict[str, Any]:
        pull = self.pulls[number]
        return {
            "number": number,
            "title": pull.title,
            "body": pull.body or None,
            "merged_at": "2024-01-01T00:00:00Z" if pull.merged else None,
            "merge_commit_sha": pull.merge_commit,
            "base": {"repo": {"full_name": pull.home}},
        }

    def _rest_item(self, number: int) -> dict[str, Any] | None:
        if number in self.issues:
            title, body = self.issues[number]
            return {"number": number, "title": title, "body": body}
        if number in self.pulls:
            return {**self._rest_pull(number), "pull_request": {}}
        return None

    def _graphql(self, query: str) -> Answer:
        found: dict[str, Any] = {}
        errors = []
        for key, sha in re.findall(r'(c\d+): object\(oid: "(\w+)"\)', query):
            nodes = [self._node(n) for n, pull in self.pulls.items() if sha in pull.commits]
            found[key] = {"associatedPullRequests": {"nodes": nodes}}
        for key, number in re.findall(r"(i\d+): issueOrPullRequest\(number: (\d+)\)", query):
            node = self._rest_item(int(number))
            kind = "PullRequest" if int(number) in self.pulls else "Issue"
            found[key] = node and {**node, "__typename": kind}
            if node is None:
                errors.append({"type": "NOT_FOUND", "path": ["repository", key], "message": "no such"})
        return Answer({"data": {"repository": found}} | ({"errors": errors} if errors else {}))

    def _node(self, number: int) -> dict[str, Any]:
        pull = self.pulls[number]
        closes = [
            {"number": n, "title": title, "body": body, "repository": {"nameWithOwner": NAME}}
            for n in pull.closes
            for title, body in [self.issues[n]]
        ]
        return {
            "number": number,
            "title": pull.title,
            "body": pull.body,
            "merged": pull.merged,
            "mergeCommit": {"oid": pull.merge_commit} if pull.merge_commit else None,
            "baseRepository": {"nameWithOwner": pull.home},
            "closingIssuesReferences": {"nodes": closes},
        }


@contextmanager
def running(server: GitHubServer) -> Iterator[GitHubServer]:
    """Serve on a free port of 127.0.0.1 until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet for an answer

        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(json.loads(raw))

        def _reply(self, body: Any) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            headers = {key.lower(): value for key, value in self.headers.items()}
            answer = server.answer(Request(self.command, parts.path, query, headers, body))
            raw = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response_only(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            if answer.status == 304:
                raw = b""
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
