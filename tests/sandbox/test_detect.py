"""Finding the test command: which, and why."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeforge.sandbox import detect
from codeforge.sandbox.detect import DetectedTest, detect_test_command

PYTEST_TEST = "def test_x(): pass\n"
UNITTEST_TEST = "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): pass\n"


def tree(root: Path, files: dict[str, str]) -> DetectedTest | None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return detect_test_command(root, list(files))


def environment(folder: Path, *, with_pytest: bool) -> Path:
    """A virtual environment as far as files tell."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    (folder / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    site = folder / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    if with_pytest:
        (site / "pytest").mkdir()
    return folder


@pytest.fixture
def no_pytest_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PATH holds a Python without pytest, and so does codeforge's own."""
    folder = environment(tmp_path / "bare-env", with_pytest=False) / "bin"
    (folder / "python3").symlink_to("python")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return folder


class TestPython:
    def test_the_projects_environment_comes_first(self, tmp_path: Path) -> None:
        environment(tmp_path / ".venv", with_pytest=True)
        found = tree(tmp_path, {"tests/test_a.py": PYTEST_TEST})
        assert found is not None
        assert (found.command, found.framework) == (".venv/bin/python -m pytest", "pytest")
        assert "tests/test_a.py" in found.why and ".venv/bin/python" in found.why

    def test_an_environment_without_pytest_is_passed_over(
        self, tmp_path: Path, no_pytest_around: Path
    ) -> None:
        environment(tmp_path / ".venv", with_pytest=False)
        environment(tmp_path / "venv", with_pytest=True)
        found = tree(tmp_path, {"tests/test_a.py": PYTEST_TEST})
        assert found is not None and found.command == "venv/bin/python -m pytest"

    def test_the_python_on_the_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = environment(tmp_path / "elsewhere", with_pytest=True) / "bin"
        (folder / "python3").symlink_to("python")
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)
        (tmp_path / "repo").mkdir()
        found = tree(tmp_path / "repo", {"test_a.py": PYTEST_TEST})
        assert found is not None and found.command == "python3 -m pytest"

    def test_a_real_interpreter_is_asked_in_doubt(self, tmp_path: Path, no_pytest_around: Path) -> None:
        assert not detect._imports_pytest(no_pytest_around / "python")
        assert not detect._imports_pytest(tmp_path / "no-such-python")

    def test_a_pyenv_shim_is_not_started(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        home = tmp_path / "pyenv"
        environment(home / "versions" / "3.11.7", with_pytest=True)
        (home / "version").write_text("3.11.7\n")
        (home / "shims").mkdir()
        shim = home / "shims" / "python3"
        shim.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexit 1\n")
        shim.chmod(0o755)
        monkeypatch.setenv("PATH", str(home / "shims"))
        for name in ("VIRTUAL_ENV", "PYENV_VERSION"):
            monkeypatch.delenv(name, raising=False)
        (tmp_path / "repo").mkdir()
        found = tree(tmp_path / "repo", {"test_a.py": PYTEST_TEST})
        assert found is not None and found.command == "python3 -m pytest"
        assert not (tmp_path / "started").exists()

    @pytest.mark.parametrize(
        ("name", "text", "seen"),
        [
            ("pytest.ini", "[pytest]\n", "pytest.ini"),
            ("pyproject.toml", "[tool.pytest.ini_options]\n", "pyproject.toml"),
            ("setup.cfg", "[tool:pytest]\n", "setup.cfg"),
            ("tox.ini", "[tox]\n[pytest]\n", "tox.ini"),
            ("spec/conftest.py", "", "spec/conftest.py"),
        ],
    )
    def test_configuration(self, tmp_path: Path, name: str, text: str, seen: str) -> None:
        environment(tmp_path / ".venv", with_pytest=True)
        found = tree(tmp_path, {name: text})
        assert found is not None and found.framework == "pytest" and seen in found.why

    @pytest.mark.parametrize(
        ("files", "command"),
        [
            (["test_a.py"], "python3 -m unittest discover"),
            (["tests/__init__.py", "tests/test_a.py"], "python3 -m unittest discover"),
            (["tests/test_a.py"], "python3 -m unittest discover -s tests"),
            (["tests/a_test.py"], "python3 -m unittest discover -s tests -p '*_test.py'"),
        ],
    )
    def test_unittest_only(
        self, tmp_path: Path, no_pytest_around: Path, files: list[str], command: str
    ) -> None:
        root = tmp_path / "repo"
        root.mkdir()
        found = tree(
            root, {name: UNITTEST_TEST if "test_" in name or "_test" in name else "" for name in files}
        )
        assert found is not None
        assert (found.command, found.framework) == (command, "unittest")
        done = subprocess.run(
            command.replace("python3", str(no_pytest_around / "python3")),
            shell=True,
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Ran 1 test" in done.stderr and done.returncode == 0

    def test_unittest_style_still_runs_under_pytest_where_there_is_one(self, tmp_path: Path) -> None:
        environment(tmp_path / ".venv", with_pytest=True)
        found = tree(tmp_path, {"test_a.py": UNITTEST_TEST})
        assert found is not None and found.framework == "pytest"

    def test_pytest_wanted_but_nowhere(self, tmp_path: Path, no_pytest_around: Path) -> None:
        root = tmp_path / "repo"
        root.mkdir()
        found = tree(root, {"test_a.py": PYTEST_TEST})
        assert found is not None
        assert found.framework == "pytest" and "no Python with pytest" in found.why


class TestOthers:
    @pytest.mark.parametrize(
        ("files", "command", "framework"),
        [
            ({"tox.ini": "[tox]\nenvlist = py\n"}, "tox", "tox"),
            ({"pyproject.toml": "[tool.tox]\n"}, "tox", "tox"),
            ({"noxfile.py": ""}, "nox", "nox"),
            ({"Cargo.toml": "", "Makefile": "test:\n"}, "cargo test", "cargo"),
            ({"go.mod": "module m\n"}, "go test ./...", "go"),
            ({"pom.xml": ""}, "mvn -q test", "maven"),
            ({"pom.xml": "", "mvnw": ""}, "./mvnw -q test", "maven"),
            ({"build.gradle.kts": "", "gradlew": ""}, "./gradlew test", "gradle"),
            ({"Makefile": "all:\n\ntest: all\n\t./t\n"}, "make test", "make"),
            ({"Makefile": "check:\n\t./t\n"}, "make check", "make"),
            ({"justfile": "test filter='':\n  ./t\n"}, "just test", "just"),
        ],
    )
    def test_one_sign(self, tmp_path: Path, files: dict[str, str], command: str, framework: str) -> None:
        found = tree(tmp_path, files)
        assert found is not None
        assert (found.command, found.framework) == (command, framework)
        assert found.why

    @pytest.mark.parametrize(
        ("lock", "command"),
        [
            (None, "npm test"),
            ("package-lock.json", "npm test"),
            ("yarn.lock", "yarn test"),
            ("pnpm-lock.yaml", "pnpm test"),
            ("bun.lock", "bun run test"),
        ],
    )
    def test_package_script(self, tmp_path: Path, lock: str | None, command: str) -> None:
        files = {"package.json": json.dumps({"scripts": {"test": "mocha"}}), **({lock: ""} if lock else {})}
        found = tree(tmp_path, files)
        assert found is not None and found.command == command and "mocha" in found.why

    def test_placeholder_script_and_known_tools(self, tmp_path: Path) -> None:
        placeholder = {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}
        assert tree(tmp_path, {"package.json": json.dumps(placeholder)}) is None
        for tool, command in (("vitest", "npx --no-install vitest run"), ("jest", "npx --no-install jest")):
            found = tree(
                tmp_path, {"package.json": json.dumps({**placeholder, "devDependencies": {tool: "1"}})}
            )
            assert found is not None and (found.command, found.framework) == (command, tool)

    @pytest.mark.parametrize(
        "files",
        [
            {},
            {"README.md": "make test"},
            {"package.json": "not json"},
            {"package.json": "[]"},
            {"package.json": '{"scripts": []}'},
            {"pyproject.toml": "not [ toml"},
            {"Makefile": "test := 1\nlatest:\n"},
            {"src/app.py": "x = 1"},
        ],
    )
    def test_nothing(self, tmp_path: Path, files: dict[str, str]) -> None:
        assert tree(tmp_path, files) is None


def test_quick_on_a_large_repository(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", with_pytest=True)
    files = {f"pkg{number % 40}/test_m{number}.py": PYTEST_TEST for number in range(2000)}
    tree(tmp_path, files)
    started = time.process_time()
    assert detect_test_command(tmp_path, list(files)) is not None
    assert time.process_time() - started < 0.5  # typically 0.02; no benchmark, only no spawn and no full read
