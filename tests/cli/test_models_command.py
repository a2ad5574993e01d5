import json
import os
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from codeforge.cli import models
from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, UsageError
from codeforge.models import store

THREE = "qwen2.5-coder-3b"  # its hash is not known, so a tiny file can stand for it


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def three(folder: Path) -> Path:
    path = folder / f"{THREE}-instruct-q4_k_m.gguf"
    path.write_bytes(b"GGUF three")
    return path


def run(*arguments: str) -> Result:
    app = typer.Typer()
    models.register(app)
    return CliRunner().invoke(app, ["models", *arguments])


def fails(*arguments: str) -> CodeforgeError:
    error = run(*arguments).exception
    assert isinstance(error, CodeforgeError)
    return error


def rows() -> dict[str, dict[str, object]]:
    document = json.loads(run("list", "--json").stdout)
    assert document["schema_version"] == 1
    return {row["name"]: row for row in document["models"]}


def test_list_tells_what_is_here(three: Path, folder: Path) -> None:
    (folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf").write_bytes(b"GGUF cut")
    (folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf.partial").write_bytes(bytes(2_000_000))
    found = rows()
    assert len(found) == 6
    assert (found[THREE]["installed"], found[THREE]["verified"], found[THREE]["path"]) == (
        True,
        False,
        str(three),
    )
    assert "not 491400064" in str(found["qwen2.5-coder-0.5b"]["problem"])
    assert (found["qwen2.5-coder-1.5b"]["installed"], found["qwen2.5-coder-1.5b"]["pulled"]) == (
        False,
        2_000_000,
    )
    assert found["qwen2.5-coder-7b"]["licence"] == "Apache-2.0"
    text = run("list").stdout
    assert "here, not verified yet" in text
    assert "damaged: it has 8 bytes" in text
    assert "2 MB pulled" in text
    run("verify", THREE)
    assert rows()[THREE]["verified"]


def test_use_takes_what_is_here(three: Path) -> None:
    assert run("use", THREE.upper()).exit_code == 0
    assert store.active_name() == THREE
    assert rows()[THREE]["active"]
    assert run("use", "auto").exit_code == 0
    assert store.active_name() == ""


def test_use_takes_files_and_hosted_models(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF mine")
    run("use", str(mine))
    assert store.active_name() == str(mine)
    run("use", "openai/some-model")
    assert store.active_name() == "openai/some-model"
    assert "in use: openai/some-model" in run("list").stdout


def test_use_refuses_the_rest_and_keeps_the_choice(tmp_path: Path) -> None:
    store.set_active("openai/some-model")
    (tmp_path / "text.gguf").write_text("no model")
    assert isinstance(fails("use", "qwen2.5-coder-7b"), EnvironmentUnavailableError)
    for name in ("nope", str(tmp_path / "missing.gguf"), str(tmp_path / "text.gguf"), "openai/"):
        assert isinstance(fails("use", name), UsageError)
    assert store.active_name() == "openai/some-model"


def test_rm_asks_and_without_a_terminal_removes_nothing(three: Path) -> None:
    error = fails("rm", THREE)
    assert isinstance(error, UsageError)
    assert "--yes" in error.hint
    assert three.exists()


def test_rm_removes_the_file_and_what_pulls_left(three: Path, folder: Path) -> None:
    run("use", THREE)
    for ending in (".partial", ".partial.json", ".bad", ".hub-partial"):
        (folder / f"{three.name}{ending}").write_bytes(b"x")
    (folder / f"{three.name}.parts").mkdir()
    (folder / f"{three.name}.parts" / "part-01.bin").write_bytes(b"x")
    other = folder / "mine.gguf"
    other.write_bytes(b"GGUF")
    assert run("rm", THREE, "--yes").exit_code == 0
    assert sorted(path.name for path in folder.glob("[!.]*.gguf*")) == ["mine.gguf"]
    assert store.active_name() == ""
    assert isinstance(fails("rm", THREE, "--yes"), EnvironmentUnavailableError)


def test_verify_fails_when_a_file_changed(three: Path) -> None:
    assert f"{THREE}: whole" in run("verify").stdout
    status = three.stat()
    three.write_bytes(b"GGUF thrEe")
    os.utime(three, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run("path", THREE).exit_code == 0  # neither size nor time says that it changed
    result = run("verify")
    assert f"{THREE}: damaged" in result.stdout
    assert isinstance(result.exception, EnvironmentUnavailableError)
    assert f"codeforge models pull {THREE}" in result.exception.hint
    assert isinstance(fails("path", THREE), EnvironmentUnavailableError)


def test_verify_of_what_is_not_here(folder: Path) -> None:
    assert run("verify").exit_code == 0
    assert isinstance(fails("verify", THREE), EnvironmentUnavailableError)
    assert isinstance(fails("verify", "nope"), UsageError)


def test_path_prints_the_path_alone(three: Path) -> None:
    assert run("path", THREE).stdout == f"{three}\n"


def test_pull_from_a_file_copies_it(tmp_path: Path, folder: Path) -> None:
    given = tmp_path / f"{THREE}-instruct-q4_k_m.gguf"
    given.write_bytes(b"GGUF given")
    result = run("pull", "--from-file", str(given))
    assert result.stdout == f"{folder / given.name}\n"
    assert (folder / given.name).read_bytes() == given.read_bytes()
    assert rows()[THREE]["verified"]
    assert run("pull", THREE, "--from-file", str(folder / given.name)).exit_code == 0
    assert (folder / given.name).read_bytes() == b"GGUF given"


def test_pull_from_a_wrong_file_is_refused(tmp_path: Path, folder: Path) -> None:
    given = tmp_path / "given.gguf"
    given.write_bytes(b"GGUF given")
    assert isinstance(fails("pull", "--from-file", str(given)), UsageError)
    error = fails("pull", "qwen2.5-coder-0.5b", "--from-file", str(given))
    assert isinstance(error, EnvironmentUnavailableError)
    assert "SHA-256" in error.message
    given.write_bytes(b"no model")
    assert isinstance(fails("pull", THREE, "--from-file", str(given)), UsageError)
    assert isinstance(fails("pull", THREE, "--from-file", str(tmp_path / "missing")), UsageError)
    assert list(folder.glob("*.gguf*")) == []


def test_pull_of_an_unknown_model() -> None:
    assert isinstance(fails("pull", "nope"), UsageError)
