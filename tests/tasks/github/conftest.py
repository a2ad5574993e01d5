"""A history to grow, a GitHub to ask, and a time that passes only in sleep."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tasks.github.histories import History
from tests.tasks.github.server import GitHubServer, running


class Time:
    """Stands still but for sleep."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.naps: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "shop")


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with running(GitHubServer()) as server:
        yield server
