"""A fork shares the first links of the chain, and both sessions verify."""

import sqlite3

import pytest

from codeforge.archive.model import SessionStatus
from codeforge.archive.store import Archive
from codeforge.errors import UsageError


@pytest.mark.parametrize("at_seq", range(7))
def test_a_fork_keeps_the_chain(archive: Archive, finished: str, at_seq: int) -> None:
    parent = archive.session(finished)
    writer = archive.fork(finished, at_seq)
    writer.step("note", {"went": "on"})
    writer.finish(SessionStatus.NO_PATCH, {})
    fork = archive.session(writer.id)
    shared = at_seq + 1
    assert [step.hash for step in fork.steps[:shared]] == [step.hash for step in parent.steps[:shared]]
    assert [step.kind for step in fork.steps[shared:]] == ["fork", "note", "finish"]
    assert fork.summary.parent_session == finished
    assert fork.summary.forked_at_seq == at_seq
    assert fork.task == parent.task
    assert fork.messages == parent.messages[: len(fork.messages)]
    assert archive.verify(writer.id).problems == ()
    assert archive.session(finished) == parent


def test_a_candidate_has_the_state_it_had_then(archive: Archive, finished: str) -> None:
    assert archive.session(archive.fork(finished, 5).id).candidates[0].status == "proposed"
    assert archive.session(archive.fork(finished, 6).id).candidates[0].status == "selected"
    assert archive.session(archive.fork(finished, 3).id).candidates == ()


def test_a_fork_can_be_forked(archive: Archive, finished: str) -> None:
    fork = archive.fork(finished, 4)
    again = archive.fork(fork.id, 5)
    assert archive.verify(again.id).problems == ()
    assert archive.session(again.id).summary.parent_session == fork.id


@pytest.mark.parametrize("at_seq", [-1, 7, 100])
def test_the_finish_and_what_is_not_there_are_refused(archive: Archive, finished: str, at_seq: int) -> None:
    with pytest.raises(UsageError, match="can't be forked") as caught:
        archive.fork(finished, at_seq)
    assert "0 to 6" in caught.value.hint
    assert archive.count() == 1


def test_a_changed_session_is_not_forked(archive: Archive, finished: str, raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE steps SET elapsed_s = 9 WHERE seq = 5")
    with pytest.raises(UsageError, match="was changed"):
        archive.fork(finished, 2)
    assert archive.count() == 1
