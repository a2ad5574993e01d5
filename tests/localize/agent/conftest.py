"""A small shop in a real repository, ranked by the real ranker, and scripted models."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codeforge.localize.agent.events import AgentEvent
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex
from codeforge.localize.ranker import Localizer, LocateAnswer, LocateQuery
from codeforge.localize.tools.workspace import OpenIndex
from codeforge.models.protocol import ChatRequest, ChatStream
from codeforge.models.replay import ReplayModel, ReplaySettings, Reply

ISSUE = "The total of a cart applies the discount twice; see `apply_discount`."
DISCOUNT = "src/shop/pricing.py:apply_discount"
TOTAL = "src/shop/cart.py:Cart.total"


class Scripted(ReplayModel):
    """A replay that keeps the requests; texts, or replies as they are."""

    def __init__(self, *replies: str | Reply, context_window: int = 1 << 20, local: bool = False) -> None:
        settings = ReplaySettings(local=local, context_window=context_window)
        given = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
        super().__init__("replay:test", given, settings)
        self.requests: list[ChatRequest] = []

    def stream(self, request: ChatRequest) -> ChatStream:
        self.requests.append(request)
        return super().stream(request)


class Events(list[AgentEvent]):
    """What happened, and what of it is of a kind."""

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]


def call(tool: str, **arguments: object) -> str:
    """A call as a model without tool calling writes it."""
    return json.dumps({"thought": "so", "tool": tool, "arguments": arguments})


def finish(*ids: str) -> str:
    """A call of `finish`."""
    return call("finish", locations=[{"id": identity, "reason": f"why {identity}"} for identity in ids])


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def ranked(shop: Path) -> LocateAnswer:
    return Localizer(shop).locate_all(LocateQuery(ISSUE, limit=10))


@pytest.fixture
def open_index(shop: Path) -> Iterator[OpenIndex]:
    opener: Callable[[], Any] = lambda: CodeIndex.open(shop, list_files(shop))  # noqa: E731
    yield opener
