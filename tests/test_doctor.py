"""`codeforge doctor` on real folders, repositories and processes."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from codeforge import doctor
from codeforge.cli.doctor import register
from codeforge.doctor_model import DoctorCheck, DoctorStatus
from codeforge.errors import EnvironmentUnavailableError


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("CODEFORGE_SANDBOX", "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def only(checks: list[DoctorCheck]) -> DoctorCheck:
    (check,) = checks
    return check


def test_git_without_an_identity_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check = only(doctor.check_git())
    assert check.status is DoctorStatus.WARN
    assert "user.name and user.email" in check.found
    (tmp_path / ".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n")
    assert only(doctor.check_git()).status is DoctorStatus.OK


def test_missing_git_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert only(doctor.check_git()).status is DoctorStatus.FAIL


def test_sandbox_says_when_there_are_limits_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_SANDBOX", "limits-only")
    check = only(doctor.check_sandbox())
    assert check.status is DoctorStatus.WARN
    assert "limits only" in check.found
    assert "Unset CODEFORGE_SANDBOX" in check.advice


def test_a_bubblewrap_that_does_not_work_is_explained(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    code = "from codeforge.doctor import check_sandbox; print(check_sandbox()[0])"
    env = {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"}
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True)
    assert "DoctorStatus.WARN" in done.stdout
    assert "No permissions to create a new namespace" in done.stdout
    assert "user namespaces" in done.stdout


def test_data_folder_that_is_not_there_yet_is_fine_and_stays_away(tmp_path: Path) -> None:
    assert only(doctor.check_data_folder()).status is not DoctorStatus.FAIL
    assert not (tmp_path / "data").exists()


def test_data_folder_below_a_file_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    assert only(doctor.check_data_folder()).status is DoctorStatus.FAIL


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_data_folder_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    assert only(doctor.check_data_folder()).status is DoctorStatus.FAIL


def test_database_states(tmp_path: Path) -> None:
    assert "none yet" in only(doctor.check_database_file()).found
    path = tmp_path / "data" / "codeforge.db"
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute("create table t (x)")
    assert only(doctor.check_database_file()).status is DoctorStatus.OK
    path.write_bytes(b"not a database at all" * 100)
    assert only(doctor.check_database_file()).status is DoctorStatus.WARN
    assert path.read_bytes().startswith(b"not a database")


def test_key_names_are_told_and_values_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    check = only(doctor.check_api_keys())
    assert "OPENAI_API_KEY" in check.found
    assert "very-secret" not in check.found


def test_no_repository_and_no_commit_are_warnings(tmp_path: Path, repo: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for folder in (outside, repo):
        check = only(doctor.check_repository(folder))
        assert check.status is DoctorStatus.WARN
        assert check.found


def test_repository_with_and_without_tests(repo: Path) -> None:
    (repo / "README").write_text("x")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "x")
    assert "no test command" in only(doctor.check_repository(repo)).found
    (repo / "Cargo.toml").write_text('[package]\nname = "x"\nversion = "0.1.0"\n')
    (repo / "src").mkdir()
    (repo / "src" / "lib.rs").write_text("#[test]\nfn t() {}\n")
    check = only(doctor.check_repository(repo))
    assert check.status is DoctorStatus.OK
    assert "cargo test" in check.found


def test_an_error_in_one_check_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def _refuse() -> list[DoctorCheck]:
        raise EnvironmentUnavailableError("it broke", hint="mend it")

    monkeypatch.setattr(doctor, "check_sandbox", _refuse)
    checks = doctor.run_checks(tmp_path)
    assert DoctorCheck("sandbox", DoctorStatus.FAIL, "it broke", "mend it") in checks
    assert doctor.failed(checks)
    assert {"python", "machine", "git", "data", "database", "repository"} <= {check.name for check in checks}


def command_line() -> typer.Typer:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return app


def test_json_and_exit_status_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("a file")
    done = CliRunner().invoke(command_line(), ["doctor", "--json"])
    document = json.loads(done.stdout)
    assert done.exit_code == 3
    assert document["schema_version"] == 1
    assert document["ok"] is False
    assert {row["status"] for row in document["checks"]} <= {"ok", "warn", "fail"}
    assert all(row["advice"] for row in document["checks"] if row["status"] == "fail")


def test_warnings_alone_do_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    warning = DoctorCheck("git", DoctorStatus.WARN, "so so", "better it")
    monkeypatch.setattr(doctor, "run_checks", lambda folder: (warning,))
    done = CliRunner().invoke(command_line(), ["doctor"])
    assert done.exit_code == 0
    assert "warn" in done.stdout
    assert "better it" in done.stdout
