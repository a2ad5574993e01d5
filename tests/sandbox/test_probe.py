"""The probe in real pytest processes."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeforge.sandbox.model import TestStatus
from codeforge.sandbox.probe import (
    ProbeReport,
    is_pytest_command,
    join_env,
    probe_env,
    read_probe,
    suspicions,
)

MODULE = """
def spin(n):
    while True:
        try:
            n += 1
        except Exception:
            pass


def swallow(n):
    while True:
        try:
            n += 1
        except BaseException:
            n = 0


def deep(n):
    return deep(n + 1)


class Shy:
    def __repr__(self):
        raise ValueError("no")


def divide(a, b):
    shy = Shy()
    big = 1 << 100_000
    return a / b


def choose(flag):
    if flag:
        return 1
    return 2
"""


def run(root: Path, *arguments: str, **options: object) -> ProbeReport:
    out = root.parent / "probe.jsonl"
    for old in root.parent.glob("probe.jsonl*"):
        old.unlink()
    base = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))
    }
    extra: Mapping[str, str] = probe_env(out, root=root, test_limit_s=0.4, **options)  # type: ignore[arg-type]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    subprocess.run([*command, *arguments], cwd=root, env={**base, **extra}, capture_output=True, timeout=60)
    return read_probe(out, root)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "mod.py").write_text(MODULE)
    return root


def write(root: Path, text: str, name: str = "test_mod.py") -> None:
    (root / name).write_text(f"import pytest\nfrom mod import *\n{text}")


def statuses(report: ProbeReport) -> dict[str, TestStatus]:
    return {outcome.id.rsplit("::", 1)[-1]: outcome.status for outcome in report.outcomes}


def test_hanging_tests_fail_at_the_hung_line_and_the_run_goes_on(repo: Path) -> None:
    write(repo, "def test_a(): spin(3)\ndef test_b(): swallow(3)\ndef test_c(): assert choose(1) == 1\n")
    report = run(repo)
    assert report.complete
    assert statuses(report) == {
        "test_a": TestStatus.TIMEOUT,
        "test_b": TestStatus.TIMEOUT,
        "test_c": TestStatus.PASSED,
    }
    for failure, function in zip(report.failures, ("spin", "swallow"), strict=True):
        innermost = failure.frames[-1]
        assert failure.hung and innermost.function == function
        assert innermost.path == "mod.py" and "n" in innermost.locals
        assert failure.call == f"{function}(3)"


def test_failures_carry_frames_values_and_calls(repo: Path) -> None:
    write(
        repo,
        "def test_crash():\n    divide(3, 0)\n"
        "def test_value():\n    got = divide(3, 1)\n    assert got == 2\n"
        "@pytest.mark.parametrize('x,expected', [(4, [3])])\n"
        "def test_parameters(x, expected):\n    assert [divide(x, 1)] == expected\n"
        "def test_deep(): deep(0)\n",
    )
    report = run(repo)
    crash, value, parameters, deep = report.failures
    assert (crash.exc_type, crash.call) == ("ZeroDivisionError", "divide(3, 0)")
    assert crash.frames[-1].source.strip() == "return a / b"
    assert crash.frames[-1].locals["b"] == "0"
    assert "bits" in crash.frames[-1].locals["big"] and "Shy" in crash.frames[-1].locals["shy"]
    assert (value.call, value.expected, value.actual) == ("divide(3, 1)", "2", "3.0")
    assert (parameters.call, parameters.expected, parameters.actual) == ("divide(4, 1)", "[3]", "[4.0]")
    assert parameters.params == {"x": "4", "expected": "[3]"}
    assert deep.exc_type == "RecursionError" and deep.dropped_frames > 500 and len(deep.frames) < 50


def test_errors_of_fixtures_and_collection(repo: Path) -> None:
    write(repo, "@pytest.fixture\ndef bad(): raise KeyError('k')\ndef test_a(bad): pass\n")
    (repo / "test_import.py").write_text("import nothing_of_that_name\n")
    (repo / "test_syntax.py").write_text("def broken(:\n")
    report = run(repo, "--continue-on-collection-errors")
    types = {failure.test_id.split("::")[0]: failure.exc_type for failure in report.failures}
    assert types == {
        "test_import.py": "ModuleNotFoundError",
        "test_syntax.py": "SyntaxError",
        "test_mod.py": "KeyError",
    }
    syntax = next(failure for failure in report.failures if failure.test_id == "test_syntax.py")
    assert (syntax.frames[-1].path, syntax.frames[-1].line) == ("test_syntax.py", 1)


def test_coverage_names_the_lines_of_each_test(repo: Path) -> None:
    write(repo, "def test_a(): assert choose(True) == 1\ndef test_b(): assert choose(False) == 1\n")
    report = run(repo)
    lines = MODULE.splitlines()
    one, two = lines.index("        return 1") + 1, lines.index("    return 2") + 1
    by_test = {name.rsplit("::", 1)[-1]: files for name, files in report.coverage.items()}
    assert set(by_test["test_a"]) == {"mod.py"}
    assert one in by_test["test_a"]["mod.py"] and two not in by_test["test_a"]["mod.py"]
    scores = suspicions(report)["mod.py"]
    assert scores[two] > scores[two - 2] and one not in scores


def test_a_hot_loop_stops_being_traced(repo: Path) -> None:
    (repo / "mod.py").write_text(
        "def hot():\n    n = 0\n    while n < 300_000:\n        n += 1\n    return n\n"
    )
    write(repo, "def test_a(): assert hot() == 300_000\n")
    report = run(repo, max_events=1000)
    assert statuses(report) == {"test_a": TestStatus.PASSED}
    assert {2, 3, 4} <= report.coverage["test_mod.py::test_a"]["mod.py"]


def test_no_coverage_only_first_and_fail_fast(repo: Path) -> None:
    write(
        repo,
        "".join(f"def test_{name}(): assert choose(1) == {value}\n" for name, value in ("a1", "b2", "c2")),
    )
    assert run(repo, coverage=False).coverage == {}
    assert list(statuses(run(repo, only=["test_mod.py::test_b"]))) == ["test_b"]
    assert list(statuses(run(repo, first=["test_mod.py::test_c"]))) == ["test_c", "test_a", "test_b"]
    stopped = run(repo, first=["test_mod.py::test_c"], fail_fast=True)
    assert list(statuses(stopped)) == ["test_c"]
    assert stopped.complete


def test_a_killed_run_keeps_what_finished(repo: Path) -> None:
    write(repo, "import os\ndef test_a(): pass\ndef test_b(): os.kill(os.getpid(), 9)\ndef test_c(): pass\n")
    report = run(repo)
    assert not report.complete
    assert statuses(report) == {"test_a": TestStatus.PASSED, "test_b": TestStatus.TIMEOUT}
    assert report.failures[0].exc_type == "Killed"


def test_it_shares_the_variables_and_the_junit_report(repo: Path) -> None:
    write(repo, "def test_a(): pass\n")
    junit = repo.parent / "junit.xml"
    report = run(repo, base={"PYTEST_ADDOPTS": f"--junitxml={junit}", "PYTHONPATH": str(repo)})
    assert junit.exists() and statuses(report) == {"test_a": TestStatus.PASSED}
    joined = join_env(
        {"PYTHONPATH": "a", "PYTEST_ADDOPTS": "-x"}, {"PYTHONPATH": "b", "PYTEST_ADDOPTS": "-p c"}
    )
    assert joined == {"PYTHONPATH": f"b{os.pathsep}a", "PYTEST_ADDOPTS": "-x -p c"}


def test_no_file_is_an_empty_report(tmp_path: Path) -> None:
    report = read_probe(tmp_path / "nothing", tmp_path)
    assert report == ProbeReport((), (), {}, False)


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "python -m pytest -q",
        "A=1 .venv/bin/pytest tests",
        "cd x && python3.9 -m pytest",
        "uv run pytest",
    ],
)
def test_commands_that_run_pytest(command: str) -> None:
    assert is_pytest_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "tox",
        "make test",
        "python -I -m pytest",
        "python -m unittest",
        "tox -e pytest",
        "echo 'unclosed",
        "npm test",
    ],
)
def test_commands_that_do_not(command: str) -> None:
    assert not is_pytest_command(command)


def test_types_of_locals_are_seen(repo: Path) -> None:
    write(
        repo,
        "def test_a(): assert choose(True) == 1\ndef test_b():\n    divide(1, 0.5)\n    divide('x', 1)\n",
    )
    types = run(repo).types["mod.py"]
    lines = MODULE.splitlines()
    assert types[lines.index("def choose(flag):") + 1] == {"flag": {"bool"}}
    divide = types[lines.index("def divide(a, b):") + 1]
    assert divide["a"] == {"int", "str"} and divide["b"] == {"float", "int"} and divide["shy"] == {"Shy"}
