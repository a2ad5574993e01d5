"""An archive of its own for every test."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codeforge.archive.model import CandidateRecord, SessionStatus
from codeforge.archive.store import Archive
from codeforge.archive.writer import SessionWriter

TASK = {"id": "t1", "repo": "/repo/one", "base_commit": "c0ffee", "issue": "sorting is wrong\nsee test"}


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "codeforge.db"


@pytest.fixture
def archive(database_path: Path) -> Iterator[Archive]:
    with Archive.open(database_path) as opened:
        yield opened


@pytest.fixture
def start(archive: Archive) -> Callable[[], SessionWriter]:
    return lambda: archive.start_session("fix", TASK, model="qwen", versions={"prompt": "p1"})


@pytest.fixture
def finished(archive: Archive, start: Callable[[], SessionWriter]) -> str:
    """A session with two messages, a step, a candidate in two states and a result; its id."""
    writer = start()
    writer.message("user", "please fix naïve sort \ud800 \x00")
    writer.step("localize", {"found": ["a.py:sort"]}, 0.25)
    writer.message("assistant", "SEARCH/REPLACE")
    record = CandidateRecord("c1", None, {"model": "qwen", "seed": 1}, [{"path": "a.py"}], "--- a\n+++ b\n")
    writer.candidate(record)
    writer.step("check", {"exit_code": 0}, 1.5, {"prompt_tokens": 10})
    writer.candidate(
        CandidateRecord(
            "c1",
            None,
            record.origin,
            record.edits,
            record.diff,
            [{"stage": "full"}],
            {"total": 1.0},
            "selected",
        )
    )
    writer.finish(SessionStatus.SOLVED, {"candidate": "c1"})
    return writer.id


@pytest.fixture
def raw(archive: Archive, database_path: Path) -> Iterator[sqlite3.Connection]:
    """The database without codeforge, to tamper with."""
    connection = sqlite3.connect(database_path, isolation_level=None)
    yield connection
    connection.close()
