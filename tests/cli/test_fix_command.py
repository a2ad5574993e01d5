"""`codeforge fix` as a process: exit statuses, JSON, apply and undo, interruption, bad input."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.samples import CALC, GOOD_ANSWER, WRONG_ANSWER

CHECK = "import calc\n\nassert calc.mean([2, 4]) == 3, calc.mean([2, 4])\n"
QUICK = f"{sys.executable} check.py"


@pytest.fixture(autouse=True)
def answers_only(private_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the scripted answers propose anything here."""
    monkeypatch.setenv("CODEFORGE_MUTATIONS", "0")


@pytest.fixture
def broken(repository) -> Path:
    """A repository that a plain script checks: quick, and without a probe."""
    return repository({"calc.py": CALC, "check.py": CHECK})


@pytest.fixture
def replay(tmp_path: Path):
    """Writes a replay file and returns the `--model` value."""

    def write(*answers: str) -> str:
        path = tmp_path / "replies.jsonl"
        path.write_text("".join(json.dumps({"text": answer}) + "\n" for answer in answers))
        return f"replay:{path}"

    return write


def codeforge(root: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codeforge", *arguments],
        cwd=root,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def fix(root: Path, model: str, *more: str, test: str = QUICK) -> subprocess.CompletedProcess[str]:
    return codeforge(root, "fix", "mean is too small", "--test", test, "--model", model, "-n", "1", *more)


def test_json_is_one_document_and_nothing_is_applied(broken: Path, replay) -> None:
    done = fix(broken, replay(GOOD_ANSWER), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    assert document["status"] == "solved"
    assert document["applied"] is False
    assert document["model_calls"] == 1
    assert document["best"]["reward"]["accepted"] is True
    assert (broken / "calc.py").read_text() == CALC


def test_without_a_terminal_nothing_is_asked_or_applied(broken: Path, replay) -> None:
    done = fix(broken, replay(GOOD_ANSWER))
    assert done.returncode == 0
    assert "+    return total / len(values)" in done.stdout
    assert (broken / "calc.py").read_text() == CALC


def test_apply_then_undo_is_the_identity(broken: Path, replay) -> None:
    done = fix(broken, replay(GOOD_ANSWER), "--apply")
    assert done.returncode == 0, done.stderr
    assert "len(values)\n" in (broken / "calc.py").read_text()
    assert codeforge(broken, "undo").returncode == 0
    assert (broken / "calc.py").read_text() == CALC


def test_commit_takes_only_its_files(broken: Path, replay, git_identity) -> None:
    (broken / "other.txt").write_text("mine\n")
    subprocess.run(["git", "add", "other.txt"], cwd=broken, check=True)
    done = fix(broken, replay(GOOD_ANSWER), "--commit")
    assert done.returncode == 0, done.stderr
    shown = ["git", "show", "--stat", "--format=%s", "HEAD"]
    text = subprocess.run(shown, cwd=broken, capture_output=True, text=True, check=True).stdout
    assert "calc.py" in text
    assert "other.txt" not in text
    status = subprocess.run(
        ["git", "status", "--short"], cwd=broken, capture_output=True, text=True, check=True
    )
    assert status.stdout == "A  other.txt\n"


def test_no_patch_exits_with_1_and_changes_nothing(broken: Path, replay) -> None:
    done = fix(broken, replay(WRONG_ANSWER), "--apply")
    assert done.returncode == 1
    assert "no acceptable patch" in done.stdout
    assert (broken / "calc.py").read_text() == CALC


def test_an_empty_model_exits_with_1(broken: Path) -> None:
    assert fix(broken, "replay:empty").returncode == 1


def test_the_issue_can_come_from_a_file_and_from_stdin(broken: Path, replay, tmp_path: Path) -> None:
    issue = tmp_path / "issue.txt"
    issue.write_text("mean is too small\n")
    model = replay(GOOD_ANSWER)
    common = ("--test", QUICK, "--model", model, "-n", "1", "--json")
    from_file = codeforge(broken, "fix", "--issue-file", str(issue), *common)
    from_stdin = codeforge(broken, "fix", "-", *common, stdin="mean is too small\n")
    for done in (from_file, from_stdin):
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["issue"] == "mean is too small"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("fix", "--no-such-option"), 2),
        (("fix", ""), 2),
        (("fix", "x", "--issue-file", "/nonexistent"), 2),
        (("fix", "x", "--dry-run", "--apply"), 2),
        (("fix", "x", "--model", "no-such-model", "--test", "true"), 2),
        (("fix", "x", "--model", "qwen2.5-coder-7b", "--test", "false"), 3),
        (("nonsense",), 2),
    ],
)
def test_usage_and_environment_errors(broken: Path, arguments: tuple[str, ...], status: int) -> None:
    done = codeforge(broken, *arguments)
    assert done.returncode == status, done.stderr
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_errors_are_a_json_document_too(tmp_path: Path) -> None:
    done = codeforge(tmp_path, "fix", "x", "--json")
    document = json.loads(done.stdout)
    assert document["error"]["exit_code"] == done.returncode != 0
    assert document["error"]["message"]


def test_not_a_repository_no_commits_and_bare(tmp_path: Path) -> None:
    for name, command in (
        ("plain", None),
        ("empty", ["git", "init", "-q"]),
        ("bare", ["git", "init", "-q", "--bare"]),
    ):
        root = tmp_path / name
        root.mkdir()
        if command:
            subprocess.run(command, cwd=root, check=True)
        done = codeforge(root, "fix", "x", "--model", "replay:empty")
        assert done.returncode in (2, 3), name
        assert "Traceback" not in done.stderr
        assert "try:" in done.stderr, name


def test_a_read_only_file_is_refused_and_kept(broken: Path, replay) -> None:
    (broken / "calc.py").chmod(0o444)
    done = fix(broken, replay(GOOD_ANSWER), "--apply")
    assert done.returncode != 0
    assert (broken / "calc.py").read_text() == CALC
    assert "read-only" in done.stderr + done.stdout


def test_crlf_bytes_survive(repository, replay) -> None:
    crlf = CALC.replace("\n", "\r\n")
    root = repository({"calc.py": crlf.encode(), "check.py": CHECK})
    done = fix(root, replay(GOOD_ANSWER), "--apply")
    assert done.returncode == 0, done.stderr
    assert (root / "calc.py").read_bytes() == crlf.replace("(len(values) + 1)", "len(values)").encode()


@pytest.mark.parametrize(
    "script",
    [
        "sleep 600",
        "for i in 1 2 3 4; do sleep 601 & done; wait",
        "(setsid nohup sleep 602 >/dev/null 2>&1 &); sleep 602",
        "yes | head -c 200000000; sleep 603",
    ],
    ids=["hang", "fork", "daemon", "flood"],
)
def test_bad_test_commands_end_and_leave_nothing(repository, replay, script: str) -> None:
    root = repository({"calc.py": CALC, "check.sh": script + "\n"})
    started = time.monotonic()
    done = fix(root, replay(GOOD_ANSWER), "--timeout", "2", test="sh check.sh")
    assert done.returncode == 1
    assert "timed out" in done.stderr or "was stopped" in done.stderr
    assert time.monotonic() - started < 200
    left = subprocess.run(
        ["pgrep", "-f", "sleep 60[0-3]"], capture_output=True, text=True, check=False
    ).stdout
    assert left == ""


def start_slow(root: Path, model: str) -> subprocess.Popen[str]:
    """A `fix` that is inside its test command when this returns."""
    started = root.parent / "started"
    (root / "slow.py").write_text("import time\n\nprint('running', flush=True)\ntime.sleep(77)\n")
    command = [
        sys.executable,
        "-m",
        "codeforge",
        "fix",
        "x",
        "--model",
        model,
        "--test",
        f"{sys.executable} slow.py",
    ]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("checks:"):
            break
    time.sleep(1.5)
    assert not started.exists()
    return process


def sessions(root: Path) -> list[dict[str, object]]:
    return json.loads(codeforge(root, "sessions", "list", "--json").stdout)["sessions"]


def test_ctrl_c_exits_with_130_and_keeps_the_session(broken: Path) -> None:
    process = start_slow(broken, "replay:empty")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert [session["status"] for session in sessions(broken)] == ["interrupted"]
    assert subprocess.run(["pgrep", "-f", "slow.py"], capture_output=True, check=False).stdout == b""
    assert (broken / "calc.py").read_text() == CALC


def test_kill_9_keeps_what_was_recorded(broken: Path) -> None:
    process = start_slow(broken, "replay:empty")
    process.kill()
    process.communicate(timeout=60)
    found = sessions(broken)
    assert [session["status"] for session in found] == ["interrupted"]
    assert codeforge(broken, "sessions", "verify", str(found[0]["id"])).returncode == 0
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not subprocess.run(["pgrep", "-f", "slow.py"], capture_output=True, check=False).stdout:
            break
        time.sleep(0.2)
    assert subprocess.run(["pgrep", "-f", "slow.py"], capture_output=True, check=False).stdout == b""


def test_a_corrupted_database_is_kept_aside_and_said(broken: Path, replay) -> None:
    data = Path(os.environ["CODEFORGE_DATA_DIR"])
    data.mkdir(exist_ok=True)
    (data / "codeforge.db").write_bytes(b"this is no database" * 500)
    done = fix(broken, replay(GOOD_ANSWER))
    assert done.returncode == 0, done.stderr
    assert "corrupt" in done.stderr
    assert list(data.glob("codeforge.db.corrupt-*"))
    assert len(sessions(broken)) == 1


def test_eight_at_once_record_everything(broken: Path, replay) -> None:
    model = replay(GOOD_ANSWER)
    command = [
        sys.executable,
        "-m",
        "codeforge",
        "fix",
        "mean is too small",
        "--test",
        QUICK,
        "--model",
        model,
    ]
    running = [
        subprocess.Popen(
            [*command, "-n", "1", "--json"], cwd=broken, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(8)
    ]
    for process in running:
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error.decode()
    found = sessions(broken)
    assert [session["status"] for session in found] == ["solved"] * 8
    database = sqlite3.connect(Path(os.environ["CODEFORGE_DATA_DIR"]) / "codeforge.db")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
