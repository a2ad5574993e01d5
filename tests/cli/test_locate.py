"""`codeforge locate` as a real process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/money.py").write_text("def round_cents(value):\n    return int(value)\n", encoding="utf-8")
    (root / "pkg/other.py").write_text("def unrelated():\n    pass\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "all"], check=True)
    return root


def run(root: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CODEFORGE_DATA_DIR": str(root.parent / "data")}
    command = [sys.executable, "-m", "codeforge", "locate", *arguments]
    return subprocess.run(command, cwd=root, env=environment, input=text, capture_output=True, text=True)


def test_lines_for_people(repo: Path) -> None:
    done = run(repo, "`round_cents` drops the cents")
    assert done.returncode == 0
    first = done.stdout.splitlines()[0]
    assert first.startswith("pkg/money.py:1 round_cents ") and "symbol" in first


def test_one_document_for_programs(repo: Path) -> None:
    done = run(repo / "pkg", "cents are dropped", "--json", "--limit", "1")
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    (location,) = document["locations"]
    assert location["id"] == "pkg/money.py:round_cents" and location["reasons"][0]["signal"]
    assert document["files"][0]["path"] == "pkg/money.py"


def test_issue_from_stdin_and_from_a_file(repo: Path, tmp_path: Path) -> None:
    issue = tmp_path / "issue.txt"
    issue.write_bytes(b"round_cents \xff is wrong")
    direct = run(repo, "-", text="round_cents is wrong")
    for done in (
        direct,
        run(repo, "--issue-file", str(issue)),
        run(repo, "--issue-file", "-", text="round_cents"),
    ):
        assert done.returncode == 0 and "round_cents" in done.stdout.splitlines()[0]


def test_files_only(repo: Path) -> None:
    done = run(repo, "round_cents is wrong", "--files")
    assert done.stdout.startswith("pkg/money.py:1  ")


@pytest.mark.parametrize("arguments", [[], ["text", "--issue-file", "x"], ["--issue-file", "gone.txt"]])
def test_wrong_use(repo: Path, arguments: list[str]) -> None:
    done = run(repo, *arguments)
    assert done.returncode == 2 and done.stdout == "" and done.stderr


def test_outside_a_repository(tmp_path: Path) -> None:
    done = run(tmp_path, "anything")
    assert done.returncode == 3 and "repository" in done.stderr
