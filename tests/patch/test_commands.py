"""`codeforge apply` and `codeforge undo` in a real git repository."""

import io
import json
import subprocess
from pathlib import Path

import pytest
import typer

from codeforge.cli import apply, undo
from codeforge.errors import CodeforgeError, ExitCode, PatchRefusedError, PermissionDeniedError, UsageError

ANSWER = "m.py\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n"


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repo(put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    put("repo/m.py", "def add(a, b):\n    return a - b\n")
    put("repo/check.py", "import m, sys\nsys.exit(m.add(1, 2) != 3)\n")
    git(root, "init", "-q")
    git(root, "config", "user.name", "T")
    git(root, "config", "user.email", "t@example.invalid")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Run a command; its exit status and output. Errors propagate, as they do to the entry point."""
    app = typer.Typer()
    apply.register(app)
    undo.register(app)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = app(args=list(arguments), standalone_mode=False)
        out = capsys.readouterr()
        return int(status or 0), out.out, out.err

    return call


@pytest.fixture
def answer(tmp_path: Path):
    def write(text: str = ANSWER) -> str:
        (tmp_path / "answer.md").write_text(text)
        return str(tmp_path / "answer.md")

    return write


def test_apply_then_undo_then_redo(repo: Path, run, answer) -> None:
    status, out, err = run("apply", answer())
    assert status == 0 and "+    return a + b" in out and "codeforge undo 000001" in err
    assert "a + b" in (repo / "m.py").read_text()
    assert git(repo, "status", "--porcelain") == " M m.py\n"
    status, out, _ = run("undo")
    assert status == 0 and "written  m.py" in out and git(repo, "status", "--porcelain") == ""
    status, out, _ = run("undo", "--redo", "--json")
    assert json.loads(out)["action"] == "redo" and "a + b" in (repo / "m.py").read_text()
    _, out, _ = run("undo", "--list", "--json")
    document = json.loads(out)
    assert document["schema_version"] == 1 and document["entries"][0]["active"] is True
    assert "apply answer.md: m.py" in run("undo", "--list")[1]


def test_stdin_dry_run_and_json(repo: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ANSWER.encode())))
    status, out, _ = run("apply", "-", "--dry-run", "--json")
    document = json.loads(out)
    assert status == 0 and document["schema_version"] == 1 and document["applied"] is False
    assert document["paths"] == ["m.py"] and document["stats"] == {"files": 1, "added": 1, "removed": 1}
    assert git(repo, "status", "--porcelain") == "" and not (repo / ".codeforge").exists()


def test_two_ambiguous_matches(repo: Path, run, answer) -> None:
    (repo / "m.py").write_text("x = 1\ny = 2\nx = 1\n")
    with pytest.raises(PatchRefusedError, match="lines 1 and 3") as caught:
        run("apply", answer("m.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n"))
    assert caught.value.exit_code == ExitCode.NO_PATCH and caught.value.kept == "nothing was changed"
    assert (repo / "m.py").read_text() == "x = 1\ny = 2\nx = 1\n"


def test_a_whole_function_is_understood(repo: Path, run, answer) -> None:
    run("apply", answer("```python\ndef add(a, b):\n    return a + b\n```\n"))
    assert (repo / "m.py").read_text() == "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(
    "text", ["no edit at all", "a.py\n<<<<<<< SEARCH\nx\n", ANSWER.replace("a + b", "a - b")]
)
def test_answers_without_a_usable_edit(repo: Path, run, answer, text: str) -> None:
    with pytest.raises(PatchRefusedError):
        run("apply", answer(text))
    assert git(repo, "status", "--porcelain") == ""


def test_scope_and_usage(repo: Path, run, answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PermissionDeniedError):
        run("apply", answer(), "--scope", "src/")
    with pytest.raises(UsageError):
        run("apply", answer(), "--dry-run", "--commit")
    with pytest.raises(UsageError, match="can't be read"):
        run("apply", "missing.md")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CodeforgeError):
        run("apply", answer())


def test_a_test_command_decides(repo: Path, run, answer) -> None:
    command = "python3 check.py"
    wrong = ANSWER.replace("a + b", "a * b")
    status, _, err = run("apply", answer(wrong), "--test", command, "--timeout", "60")
    assert status == 1 and "failed (exit status 1); nothing was changed" in err
    assert git(repo, "status", "--porcelain") == ""
    status, out, _ = run("apply", answer(), "--test", command, "--commit", "--json")
    document = json.loads(out)
    assert status == 0 and document["check"]["passed"] is True
    assert document["commit"] == git(repo, "rev-parse", "HEAD").strip()
    assert git(repo, "show", "--stat", "--format=%s").startswith("codeforge apply answer.md")
    assert git(repo, "status", "--porcelain") == ""


def test_a_refused_commit_keeps_the_patch_and_says_so(repo: Path, run, answer) -> None:
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(CodeforgeError) as caught:
        run("apply", answer(), "--commit")
    assert "applied, not committed" in caught.value.kept
    assert "a + b" in (repo / "m.py").read_text()
    run("undo")
    assert git(repo, "status", "--porcelain") == ""
