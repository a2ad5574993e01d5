"""`codeforge sessions` as a user runs it."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from codeforge.archive.model import CandidateRecord, SessionStatus
from codeforge.archive.store import Archive
from codeforge.cli import sessions
from codeforge.errors import UsageError
from codeforge.paths import database_path


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "160")


def _run(*arguments: str, stdin: str = "") -> Result:
    app = typer.Typer()
    sessions.register(app)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["sessions", *arguments], input=stdin)


@pytest.fixture
def session_id() -> str:
    with Archive.open(database_path()) as archive:
        task = {"repo": "/r", "issue": "sort is\nwrong [bold]\x1b[31m \udcff"}
        writer = archive.start_session("fix", task, model="qwen", versions={})
        writer.message("user", "please \ud800")
        writer.step("check", {"exit_code": 0}, 1.25)
        writer.candidate(CandidateRecord("c1", None, {}, [], "--- a\n+++ b\n+[red]\x1b[0m\n"))
        writer.finish(SessionStatus.SOLVED, {"candidate": "c1"})
        return writer.id


def test_an_empty_list() -> None:
    assert "No sessions yet" in _run("list").output
    assert json.loads(_run("list", "--json").stdout) == {"schema_version": 1, "sessions": [], "total": 0}


def test_list(session_id: str) -> None:
    result = _run("list")
    assert result.exit_code == 0
    for part in (session_id, "fix", "solved", "sort is wrong [bold]"):
        assert part in result.stdout
    assert "\x1b" not in result.stdout
    document = json.loads(_run("list", "--json").stdout)
    assert document["schema_version"] == 1
    (session,) = document["sessions"]
    assert (session["id"], session["status"], session["repo"]) == (session_id, "solved", "/r")


def test_list_says_what_it_leaves_out(session_id: str) -> None:
    with Archive.open(database_path()) as archive:
        newest = [archive.start_session("fix", {}, model="m", versions={}).id for _ in range(3)][-1]
    document = json.loads(_run("list", "--json", "--limit", "1").stdout)
    assert [session["id"] for session in document["sessions"]] == [newest]
    assert document["total"] == 4
    assert "1 of 4 sessions" in _run("list", "-n", "1").stdout
    assert len(json.loads(_run("list", "--json", "-n", "1", "--all").stdout)["sessions"]) == 4


def test_show(session_id: str) -> None:
    result = _run("show", session_id[:-2])
    assert result.exit_code == 0
    for part in (session_id, "qwen", "user: please", "exit_code=0", "1.25", "Candidate c1", "+[red]"):
        assert part in result.stdout
    assert "\x1b" not in result.stdout
    record = json.loads(_run("show", "last", "--json").stdout)["session"]
    assert [step["kind"] for step in record["steps"]] == ["start", "message", "check", "candidate", "finish"]
    assert record["messages"][0]["content"] == "please \ud800"
    assert isinstance(_run("show", "ZZZ").exception, UsageError)


def test_export_import_verify_fork(session_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = _run("export", session_id).stdout
    file = tmp_path / "session.jsonl"
    assert _run("export", session_id, "-o", str(file)).exit_code == 0
    assert file.read_text(encoding="utf-8") == printed
    assert len([json.loads(line) for line in printed.splitlines()]) == 8

    fork = _run("fork", session_id, "--at", "2").stdout.strip()
    assert (
        json.loads(_run("show", fork, "--json").stdout)["session"]["summary"]["parent_session"] == session_id
    )
    assert isinstance(_run("fork", session_id, "--at", "9").exception, UsageError)

    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "elsewhere"))
    assert _run("import", str(file)).stdout.strip() == session_id
    assert _run("import", "-", stdin=printed).stdout.strip() == session_id
    assert _run("verify", session_id).exit_code == 0
    assert json.loads(_run("verify", session_id, "--json").stdout)["ok"] is True


def test_export_to_a_place_that_cannot_be_written(session_id: str, tmp_path: Path) -> None:
    result = _run("export", session_id, "-o", str(tmp_path / "no" / "file"))
    assert "can't be written" in str(result.exception)


def test_verify_fails_on_a_changed_session(session_id: str) -> None:
    import sqlite3

    with sqlite3.connect(database_path()) as connection:
        connection.execute("UPDATE steps SET elapsed_s = 5 WHERE seq = 2")
    connection.close()
    result = _run("verify", session_id)
    assert result.exit_code == 1
    assert "step 2 (check)" in result.stdout
    assert json.loads(_run("verify", session_id, "--json").stdout)["ok"] is False


def test_a_damaged_database_is_told_on_stderr() -> None:
    database_path().parent.mkdir()
    database_path().write_bytes(b"garbage" * 1000)
    result = _run("list", "--json")
    assert json.loads(result.stdout)["sessions"] == []
    assert "kept as" in result.stderr
