"""What is written is read back, by id, prefix and list; finished sessions stay as they are."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from codeforge.archive.ids import is_id, new_id
from codeforge.archive.model import CandidateRecord, SessionStatus
from codeforge.archive.store import Archive
from codeforge.archive.writer import SessionWriter
from codeforge.errors import UsageError

Start = Callable[[], SessionWriter]


def test_a_session_reads_back_whole(archive: Archive, finished: str) -> None:
    record = archive.session(finished)
    assert record.summary.status is SessionStatus.SOLVED
    assert record.summary.issue.startswith("sorting is wrong")
    assert record.task["base_commit"] == "c0ffee"
    assert record.result == {"candidate": "c1"}
    assert [(m.role, m.content) for m in record.messages] == [
        ("user", "please fix naïve sort \ud800 \x00"),
        ("assistant", "SEARCH/REPLACE"),
    ]
    kinds = ["start", "message", "localize", "message", "candidate", "check", "candidate", "finish"]
    assert [step.kind for step in record.steps] == kinds
    assert record.steps[5].elapsed_s == 1.5
    assert record.steps[5].tokens == {"prompt_tokens": 10}
    (candidate,) = record.candidates
    assert candidate.status == "selected"
    assert candidate.reward == {"total": 1.0}
    assert candidate.edits == [{"path": "a.py"}]


def test_candidates_keep_their_order_when_their_state_changes(archive: Archive, start: Start) -> None:
    writer = start()
    for name in ("b", "a", "b"):
        writer.candidate(CandidateRecord(name, None, {}, [], ""))
    assert [candidate.id for candidate in archive.session(writer.id).candidates] == ["b", "a"]


def test_equal_contents_are_stored_once(archive: Archive, start: Start, raw: sqlite3.Connection) -> None:
    one, other = start(), start()
    hashes = {writer.message("user", "the same prompt") for writer in (one, other, one)}
    assert len(hashes) == 1
    assert raw.execute("SELECT count(*) FROM messages").fetchone() == (1,)
    assert len(archive.session(one.id).messages) == 2


def test_secrets_never_reach_the_file(
    archive: Archive, database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, value = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2", "very private value"
    monkeypatch.setenv("SOME_API_TOKEN", value)
    text = f"use {secret} and {value}"
    writer = archive.start_session(text, {"issue": text}, model=text, versions={"prompt": text})
    writer.message("user", text)
    writer.step(text, {"output": [text], text: 1})
    writer.candidate(CandidateRecord("c", None, {"op": text}, [text], text, [text], {"diagnosis": text}))
    writer.finish(SessionStatus.ERROR, {"reason": text})
    archive.close()
    files = [path.read_bytes() for path in database_path.parent.iterdir()]
    assert files
    assert not any(word.encode() in data for data in files for word in (secret, value))


def test_lists_are_newest_first_and_limited(archive: Archive) -> None:
    ids = [
        archive.start_session("fix", {"repo": f"/r{number % 2}"}, model="m", versions={}).id
        for number in range(5)
    ]
    assert [s.id for s in archive.sessions()] == ids[::-1]
    assert [s.id for s in archive.sessions(limit=2)] == ids[:2:-1]
    assert [s.id for s in archive.sessions(repo="/r1")] == [ids[3], ids[1]]
    assert (archive.count(), archive.count("/r1"), archive.count("/none")) == (5, 2, 0)


def test_ids_sort_by_time_and_prefixes_find_them(archive: Archive, start: Start) -> None:
    early, late = new_id(1_000.0), new_id(2_000.0)
    assert early < late
    assert is_id(early)
    first, second = start().id, start().id
    assert archive.session(second.lower()).summary.id == second
    assert archive.session("last").summary.id == second
    assert archive.session(first[:-1]).summary.id == first
    for wrong in ("ZZZZ", "", "*", "' OR 1=1 --", "%"):
        with pytest.raises(UsageError, match="There is no session"):
            archive.session(wrong)
    with pytest.raises(UsageError, match="2 sessions start with"):
        archive.session(first[:4])


def test_nothing_is_written_after_the_finish(archive: Archive, finished: str) -> None:
    before = list(archive.export(finished))
    writer = SessionWriter(archive._handle, finished)
    for write in (
        lambda: writer.message("user", "late"),
        lambda: writer.step("note", {}),
        lambda: writer.finish(SessionStatus.ERROR, {}),
    ):
        with pytest.raises(UsageError, match="is finished"):
            write()
    assert list(archive.export(finished)) == before
    assert archive.verify(finished).ok


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt(), SessionStatus.INTERRUPTED), (ValueError("boom"), SessionStatus.ERROR)],
)
def test_leaving_the_block_early_is_recorded(
    archive: Archive, start: Start, error: BaseException, status: SessionStatus
) -> None:
    writer = start()
    with pytest.raises(type(error)), writer:
        raise error
    record = archive.session(writer.id)
    assert record.summary.status is status
    assert type(error).__name__ in str(record.result["reason"])


def test_threads_share_a_writer(archive: Archive, start: Start) -> None:
    writer = start()

    def work(number: int) -> None:
        for index in range(20):
            writer.step("check", {"thread": number, "index": index})
            writer.message("assistant", f"{number}/{index}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record = archive.session(writer.id)
    assert len(record.steps) == 1 + 6 * 20 * 2
    assert len({message.content for message in record.messages}) == 120
    assert archive.verify(writer.id).ok


def test_a_failed_write_leaves_nothing_behind(archive: Archive, start: Start) -> None:
    writer = start()
    with pytest.raises(TypeError):
        writer.step("note", {"thing": object()})
    with pytest.raises(ValueError, match="not running"):
        writer.finish(SessionStatus.RUNNING, {})
    writer.step("note", {"after": True})
    assert [step.kind for step in archive.session(writer.id).steps] == ["start", "note"]


_DIES = """
import os, sys
from pathlib import Path
from codeforge.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
writer = archive.start_session("fix", {}, model="m", versions={})
print(writer.id, archive.session(writer.id).summary.status.value, flush=True)
if sys.argv[2] == "wait":
    sys.stdin.read()
os._exit(1)
"""


def test_a_session_whose_process_died_shows_as_interrupted(archive: Archive, database_path: Path) -> None:
    command = [sys.executable, "-c", _DIES, str(database_path)]
    dead = subprocess.run([*command, "die"], capture_output=True, text=True, check=False)
    dead_id, status = dead.stdout.split()
    assert status == "running"
    with subprocess.Popen(
        [*command, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as live:
        assert live.stdout is not None
        live_id = live.stdout.readline().split()[0]
        statuses = {session.id: session.status for session in archive.sessions()}
        live.communicate("")
    assert statuses == {dead_id: SessionStatus.INTERRUPTED, live_id: SessionStatus.RUNNING}
    assert archive.session(live_id).summary.status is SessionStatus.INTERRUPTED


def test_a_recycled_pid_is_not_the_owner(archive: Archive, start: Start, raw: sqlite3.Connection) -> None:
    writer = start()
    raw.execute("UPDATE sessions SET owner = json_set(owner, '$.started', '1')")
    assert archive.session(writer.id).summary.status is SessionStatus.INTERRUPTED
    assert os.getpid() == raw.execute("SELECT json_extract(owner, '$.pid') FROM sessions").fetchone()[0]


def test_another_machines_session_is_taken_for_dead_only_after_a_long_silence(
    archive: Archive, start: Start, raw: sqlite3.Connection
) -> None:
    writer = start()
    raw.execute("UPDATE sessions SET owner = json_set(owner, '$.host', 'elsewhere')")
    assert archive.session(writer.id).summary.status is SessionStatus.RUNNING
    raw.execute("UPDATE sessions SET last_at = '2020-01-01T00:00:00+00:00'")
    assert archive.session(writer.id).summary.status is SessionStatus.INTERRUPTED
