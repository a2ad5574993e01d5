"""Finding the command that runs a repository's tests."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NPM_PLACEHOLDER = "no test specified"
_READ_BYTES = 256 * 1024
_SAMPLED_TESTS = 40
_SPAWN_TIMEOUT_S = 10.0
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
    ("package-lock.json", "npm"),
)


@dataclass(frozen=True, slots=True)
class DetectedTest:
    """A test command and the reason for it.

    Attributes:
        command: a shell command line for the top of the repository.
        why: what was seen, for the user.
        framework: "pytest", "unittest", "tox", "nox", "npm", "vitest", "jest", "go", "cargo", "maven",
            "gradle", "make" or "just".
    """

    command: str
    why: str
    framework: str


@dataclass(frozen=True, slots=True)
class _Tree:
    """The repository as the detectors see it."""

    root: Path
    files: frozenset[str]

    def has(self, name: str) -> bool:
        return name in self.files

    def text(self, name: str) -> str:
        """The start of a file; "" when it is missing or unreadable."""
        if name not in self.files:
            return ""
        try:
            with (self.root / name).open("rb") as file:
                return file.read(_READ_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def toml(self, name: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text(name))
        except tomllib.TOMLDecodeError:
            return {}


def detect_test_command(root: Path, files: Sequence[str]) -> DetectedTest | None:
    """The command that most likely runs the tests, or None.

    Python's own runners are asked first: tox and nox make environments and need the network, so they come
    into question only where nothing else is there. Nothing is executed (but, in doubt, one `python -c`).

    Args:
        root: the top of the repository.
        files: its files, relative (`GitRepo.list_files`).
    """
    tree = _Tree(root, frozenset(files))
    detectors: tuple[Callable[[_Tree], DetectedTest | None], ...] = (
        _python,
        _cargo,
        _go,
        _javascript,
        _java,
        _tox_or_nox,
        _make,
        _just,
    )
    return next((found for detector in detectors if (found := detector(tree)) is not None), None)


def _python(tree: _Tree) -> DetectedTest | None:
    tests = [name for name in tree.files if _is_python_test(name)]
    configured = _pytest_configuration(tree)
    if not tests and configured is None:
        return None
    runner = _interpreter_with_pytest(tree.root)
    sampled = [tree.text(name) for name in sorted(tests)[:_SAMPLED_TESTS]]
    only_unittest = bool(sampled) and configured is None and all(map(_is_unittest_only, sampled))
    if runner is not None:
        why = configured or f"{min(tests, key=lambda name: (name.count('/'), name))} looks like a pytest test"
        return DetectedTest(f"{runner} -m pytest", f"{why}, and {runner} has pytest", "pytest")
    python = _first_interpreter(tree.root)
    if only_unittest:
        return _unittest(tree, tests, python)
    why = configured or "there are pytest-style tests"
    return DetectedTest(
        f"{python} -m pytest", f"{why} (but no Python with pytest was found; install it)", "pytest"
    )


def _unittest(tree: _Tree, tests: Sequence[str], python: str) -> DetectedTest:
    """`discover` finds a start folder's tests only if every folder down to them is a package."""
    options = ""
    folders = {name.rpartition("/")[0] for name in tests}
    if "" not in folders:
        top = min(folders, key=lambda name: (name.count("/"), name))
        if not tree.has(f"{top}/__init__.py"):
            options = f" -s {shlex.quote(top)}"
    if tests and not any(name.rpartition("/")[2].startswith("test") for name in tests):
        options += " -p '*_test.py'"
    return DetectedTest(
        f"{python} -m unittest discover{options}",
        f"the tests are unittest.TestCase classes, and {python} has no pytest",
        "unittest",
    )


def _is_python_test(name: str) -> bool:
    base = name.rpartition("/")[2]
    return base.endswith(".py") and (
        base.startswith("test_") or base.endswith("_test.py") or base == "tests.py"
    )


def _pytest_configuration(tree: _Tree) -> str | None:
    if tree.has("pytest.ini") or tree.has(".pytest.ini"):
        return "there is a pytest.ini"
    tools = tree.toml("pyproject.toml").get("tool")
    if isinstance(tools, dict) and "pytest" in tools:
        return "pyproject.toml configures pytest"
    if "[tool:pytest]" in tree.text("setup.cfg"):
        return "setup.cfg configures pytest"
    if re.search(r"^\[pytest\]", tree.text("tox.ini"), re.MULTILINE):
        return "tox.ini configures pytest"
    conftest = min((name for name in tree.files if name.rpartition("/")[2] == "conftest.py"), default=None)
    return f"there is {conftest}" if conftest else None


def _is_unittest_only(text: str) -> bool:
    return (
        "unittest" in text
        and re.search(r"^(?:async )?def test|^import pytest|^from pytest", text, re.M) is None
    )


def _interpreter_with_pytest(root: Path) -> str | None:
    """The first interpreter that can import pytest, as it is to be written in the command."""
    return next((shown for shown, path in _interpreters(root) if _has_pytest(path)), None)


def _first_interpreter(root: Path) -> str:
    return next((shown for shown, _ in _interpreters(root)), "python3")


def _interpreters(root: Path) -> Iterator[tuple[str, Path]]:
    """(as written in a command, path): the project's own environment, the user's PATH, codeforge's own."""
    for folder in (".venv", "venv", "env", ".env"):
        python = root / folder / "bin" / "python"
        if python.exists():
            yield f"{folder}/bin/python", python
    active = os.environ.get("VIRTUAL_ENV")
    if active and (python := Path(active) / "bin" / "python").exists():
        yield shlex.quote(os.fspath(python)), python
    for name in ("python3", "python"):
        if found := shutil.which(name):
            yield name, _behind_shim(Path(found), root)
    yield shlex.quote(sys.executable), Path(sys.executable)


def _behind_shim(python: Path, root: Path) -> Path:
    """The interpreter that a pyenv shim would start: starting the shim takes a tenth of a second."""
    if python.parent.name != "shims":
        return python
    home = python.parent.parent
    files = (root / ".python-version", home / "version")
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())
    choices = [os.environ.get("PYENV_VERSION", ""), *texts]
    version = next((words[0] for choice in choices if (words := choice.replace(":", " ").split())), "")
    real = home / "versions" / version / "bin" / "python"
    return real if version and real.exists() else python


def _has_pytest(python: Path) -> bool:
    """Look into the site-packages beside the interpreter; ask it only when that tells nothing."""
    real = python.resolve()
    version = real.name if re.fullmatch(r"python3\.[0-9]+", real.name) else "python3*"
    environment = python.parent.parent / "pyvenv.cfg"
    for prefix in dict.fromkeys((python.parent.parent, real.parent.parent)):
        if any((site / "pytest").is_dir() for site in prefix.glob(f"lib/{version}/site-packages")):
            return True
        if environment.exists() and not _sees_system_packages(environment):
            return False
    return _imports_pytest(python)


def _sees_system_packages(environment: Path) -> bool:
    text = environment.read_text(encoding="utf-8", errors="replace")
    return (
        re.search(r"^include-system-site-packages\s*=\s*true", text, re.MULTILINE | re.IGNORECASE) is not None
    )


def _imports_pytest(python: Path) -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)"
    try:
        done = subprocess.run(
            [os.fspath(python), "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SPAWN_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _cargo(tree: _Tree) -> DetectedTest | None:
    return DetectedTest("cargo test", "there is a Cargo.toml", "cargo") if tree.has("Cargo.toml") else None


def _go(tree: _Tree) -> DetectedTest | None:
    if tree.has("go.mod") or tree.has("go.work"):
        return DetectedTest("go test ./...", "there is a go.mod", "go")
    return None


def _javascript(tree: _Tree) -> DetectedTest | None:
    try:
        package = json.loads(tree.text("package.json"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(package, dict):
        return None
    manager = next((name for lock, name in _LOCKS if tree.has(lock)), "npm")
    scripts = package.get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and script.strip() and _NPM_PLACEHOLDER not in script:
        command = f"{manager} run test" if manager == "bun" else f"{manager} test"
        return DetectedTest(command, f"package.json has a test script ({script})", "npm")
    used = [package.get(part) for part in ("devDependencies", "dependencies")]
    for tool, command in (("vitest", "vitest run"), ("jest", "jest")):
        if any(isinstance(part, dict) and tool in part for part in used):
            return DetectedTest(f"npx --no-install {command}", f"package.json depends on {tool}", tool)
    return None


def _java(tree: _Tree) -> DetectedTest | None:
    if tree.has("pom.xml"):
        command = "./mvnw -q test" if tree.has("mvnw") else "mvn -q test"
        return DetectedTest(command, "there is a pom.xml", "maven")
    if tree.has("build.gradle") or tree.has("build.gradle.kts"):
        command = "./gradlew test" if tree.has("gradlew") else "gradle test"
        return DetectedTest(command, "there is a Gradle build", "gradle")
    return None


def _tox_or_nox(tree: _Tree) -> DetectedTest | None:
    if tree.has("tox.ini") or "tox" in tree.toml("pyproject.toml").get("tool", {}):
        return DetectedTest("tox", "tox is configured", "tox")
    if tree.has("noxfile.py"):
        return DetectedTest("nox", "there is a noxfile.py", "nox")
    return None


def _make(tree: _Tree) -> DetectedTest | None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        for target in ("test", "tests", "check"):
            if re.search(rf"^{target}\s*:(?!=)", tree.text(name), re.MULTILINE):
                return DetectedTest(f"make {target}", f"{name} has the target {target}", "make")
    return None


def _just(tree: _Tree) -> DetectedTest | None:
    for name in ("justfile", "Justfile", ".justfile"):
        if re.search(r"^@?test\b[^\n:]*:(?!=)", tree.text(name), re.MULTILINE):
            return DetectedTest("just test", f"{name} has the recipe test", "just")
    return None
