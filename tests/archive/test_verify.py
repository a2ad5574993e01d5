"""Any change to a recorded session is detected."""

import sqlite3

import pytest

from codeforge.archive.store import Archive
from codeforge.errors import EnvironmentUnavailableError

TAMPERINGS = {
    "step content": "UPDATE payloads SET body = replace(body, '\"exit_code\":0', '\"exit_code\":1')",
    "step content, not ASCII": "UPDATE payloads SET body = body || 'é'",
    "step kind": "UPDATE steps SET kind = 'note' WHERE seq = 2",
    "step time": "UPDATE steps SET elapsed_s = 9 WHERE seq = 5",
    "step tokens": "UPDATE steps SET tokens = '1' WHERE seq = 5",
    "step date": "UPDATE steps SET at = '2020' WHERE seq = 5",
    "step swapped": (
        "UPDATE steps SET content_hash = (SELECT hash FROM payloads WHERE body LIKE '%found%') WHERE seq = 5"
    ),
    "last step gone": "DELETE FROM steps WHERE seq = 7",
    "middle step gone": "DELETE FROM steps WHERE seq = 5",
    "all steps gone": "DELETE FROM steps",
    "step content gone": "DELETE FROM payloads WHERE body LIKE '%exit_code%'",
    "message content": "UPDATE messages SET body = replace(body, 'please', 'do not')",
    "message gone": "DELETE FROM messages WHERE body LIKE '%please%'",
    "message link gone": "DELETE FROM session_messages WHERE seq = 1",
    "message order": "UPDATE session_messages SET seq = seq + 10 WHERE seq = 0",
    "candidate state": "UPDATE candidates SET status = 'refused'",
    "candidate reward": "UPDATE candidates SET reward_total = 0.5",
    "candidate parent": "UPDATE candidates SET parent_id = 'c0'",
    "candidate gone": "DELETE FROM candidates",
    "status": "UPDATE sessions SET status = 'no_patch'",
    "summary": "UPDATE sessions SET summary = '{}'",
    "task": "UPDATE sessions SET task = replace(task, 'sorting', 'hiding')",
    "repo": "UPDATE sessions SET repo = '/repo/two'",
    "model": "UPDATE sessions SET model = 'gpt'",
    "versions": "UPDATE sessions SET versions = '{}'",
    "start date": "UPDATE sessions SET started_at = '2020'",
    "finish date": "UPDATE sessions SET finished_at = '2020'",
    "lineage": "UPDATE sessions SET parent_session = 'X'",
}


def test_an_untouched_session_verifies(archive: Archive, finished: str) -> None:
    report = archive.verify(finished)
    assert report.ok
    assert (report.steps, report.messages, report.problems) == (8, 2, ())


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_detected(archive: Archive, finished: str, raw: sqlite3.Connection, name: str) -> None:
    assert raw.execute(TAMPERINGS[name]).rowcount > 0
    report = archive.verify(finished)
    assert not report.ok
    assert report.problems


def test_a_session_that_cannot_be_read_says_how_to_look_at_it(
    archive: Archive, finished: str, raw: sqlite3.Connection
) -> None:
    raw.execute(TAMPERINGS["step content gone"])
    with pytest.raises(EnvironmentUnavailableError, match="can't be read") as caught:
        archive.session(finished)
    assert "sessions verify" in caught.value.hint
