"""`codeforge config` as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from codeforge.cli import config
from codeforge.errors import UsageError
from codeforge.paths import project_config_path, user_config_path


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("CODEFORGE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    return folder


def _run(*arguments: str) -> Result:
    app = typer.Typer()
    config.register(app)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["config", *arguments])


def _shown() -> dict[str, object]:
    document = json.loads(_run("show", "--json").stdout)
    assert document["schema_version"] == 1
    settings: dict[str, object] = document["settings"]
    return settings


def test_set_show_unset() -> None:
    assert _run("set", "candidates", "12").exit_code == 0
    assert _run("set", "sandbox.memory_mb", "2048").exit_code == 0
    assert _shown()["candidates"] == 12
    assert _shown()["sandbox"] == {"network": False, "memory_mb": 2048, "require": False}
    lines = _run("show", "--origin").stdout.splitlines()
    assert any(line.split()[:2] == ["candidates", "12"] and str(user_config_path()) in line for line in lines)
    assert any(line.split()[:2] == ["model", "auto"] and line.endswith("from default") for line in lines)
    assert "removed" in _run("unset", "candidates").stderr
    assert "was not set" in _run("unset", "candidates").stderr
    assert _shown()["candidates"] is None


def test_bad_values_are_refused() -> None:
    for arguments in (("set", "candidates", "lots"), ("set", "candidate", "1"), ("unset", "x.y")):
        assert isinstance(_run(*arguments).exception, UsageError)
    assert not user_config_path().exists()


def test_paths(root: Path) -> None:
    assert _run("path").stdout.strip() == str(user_config_path())
    assert _run("path", "--project").stdout.strip() == str(project_config_path(root))


def test_trust_is_asked_for_and_given(root: Path) -> None:
    project_config_path(root).parent.mkdir()
    project_config_path(root).write_text('test_command = "make check"\n', encoding="utf-8")
    result = _run("show", "--json")
    assert json.loads(result.stdout)["settings"]["test_command"] is None
    assert "codeforge config trust" in result.stderr
    assert _run("trust").exit_code == 0
    assert _shown()["test_command"] == "make check"
    assert "No longer trusted" in _run("untrust").stderr
    assert _shown()["test_command"] is None


def test_project_settings(root: Path) -> None:
    assert _run("set", "test_command", "pytest -q", "--project").exit_code == 0
    assert _shown()["test_command"] == "pytest -q"
    assert not user_config_path().exists()


def test_outside_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run("show").exit_code == 0
    for arguments in (("trust",), ("untrust",), ("path", "--project"), ("set", "seed", "1", "--project")):
        assert isinstance(_run(*arguments).exception, UsageError)


def test_passwords_are_not_shown() -> None:
    _run("set", "litellm.api_base", "http://me:hunter2hunter2@host/v1")
    for arguments in (("show",), ("show", "--json"), ("show", "--origin")):
        assert "hunter2" not in _run(*arguments).output


def test_the_command_files_import_nothing_heavy() -> None:
    code = (
        "import sys, codeforge.cli.config, codeforge.cli.sessions;"
        "print([m for m in ('pydantic', 'sqlite_utils', 'rich', 'tomlkit', 'sqlite3') if m in sys.modules])"
    )
    place = Path(config.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
