"""Odd surroundings of the command line: streams, folders and signals, in real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "codeforge"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "répo"
    root.mkdir()
    (root / "größe.py").write_text("def größe():\n    return 1\n", encoding="utf-8")
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "all"]):
        command = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        subprocess.run(command, check=True)
    return root


def run(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "CODEFORGE_DATA_DIR": str(root.parent / "data"), **environment}
    return subprocess.run([*COMMAND, *arguments], cwd=root, env=env, capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [["locate", "größe"], ["graph", "search", "größe.py"]])
def test_what_an_encoding_lacks_is_escaped(repo: Path, arguments: list[str]) -> None:
    done = run(repo, *arguments, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"gr\xf6\xdfe.py" in done.stdout and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["locate", "x", "--json"], ["graph", "stats", "--json"], ["graph", "search", "x", "--json"]]
)
def test_a_folder_that_is_gone_is_told_in_the_document(tmp_path: Path, arguments: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && {sys.executable} -P -m codeforge {' '.join(arguments)}"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["message"] == "The current folder is gone."


@pytest.mark.parametrize("command", ["graph stats", "locate größe --json"])
def test_a_closed_stdout_is_no_traceback(repo: Path, command: str) -> None:
    script = f"{sys.executable} -m codeforge {command} >&-"
    done = subprocess.run(["sh", "-c", script], cwd=repo, capture_output=True, text=True)
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_a_cold_graph_command_at_once(repo: Path) -> None:
    for number in range(400):
        body = "\n".join(f"def f{number}_{i}(x):\n    return f{i}_{number}(x)" for i in range(60))
        (repo / f"m{number}.py").write_text(body, encoding="utf-8")
    process = subprocess.Popen(
        [*COMMAND, "graph", "export", "-o", "out.json"], cwd=repo, stderr=subprocess.PIPE, text=True
    )
    database = repo / ".codeforge/index/code.db"
    while not database.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in told and "Traceback" not in told
    assert not (repo / "out.json").exists() and not (repo / ".out.json.unfinished").exists()
    assert run(repo, "graph", "stats").returncode == 0


def test_json_of_a_traversal_keeps_to_the_budget(repo: Path) -> None:
    (repo / "many.py").write_text("\n".join(f"def f{i}(): pass" for i in range(300)), encoding="utf-8")
    done = run(repo, "graph", "traverse", "many.py", "--max-tokens", "2000", "--json")
    document = json.loads(done.stdout)
    assert document["left_out"]["entities"] > 0 and document["left_out"]["edges"] > 0
    assert not document["complete"]
    assert len(json.dumps([document["entities"], document["edges"]], indent=2)) < 2 * 2000 * 3
