"""Checks: real commands in real cages, and what the results say."""

import dataclasses
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeforge.git import GitRepo
from codeforge.patch.model import FileChange, Patch
from codeforge.sandbox.check import is_plain_pytest, ran_no_tests, run_check, why_unusable
from codeforge.sandbox.model import CheckResult, Isolation, Limits, TestOutcome, TestStatus
from codeforge.sandbox.runner import available_isolation
from codeforge.sandbox.workspace import Workspace, WorkspacePool

LIMITS = Limits(wall_s=60)
PYTEST = f"{sys.executable} -m pytest -p no:cacheprovider"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    folder = tmp_path / "repo"
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "tests" / "test_shop.py").write_text(
        "import sys, os\nsys.path.insert(0, os.getcwd())\nfrom shop import add\n"
        "def test_zero(): assert add(0, 0) == 0\n"
        "def test_add(): assert add(1, 2) == 3\n"
        "class TestMore:\n    def test_in_class(self): assert add(5, 0) == 5\n"
    )
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *command], cwd=folder, check=True
        )
    return folder


@pytest.fixture(params=[available_isolation(), Isolation.LIMITS_ONLY])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    return Isolation(request.param)


@pytest.fixture
def workspace(root: Path, isolation: Isolation) -> Iterator[Workspace]:
    with WorkspacePool.open(GitRepo.discover(root), isolation=isolation) as pool, pool.acquire() as found:
        yield found


def test_failing_then_patched(workspace: Workspace) -> None:
    before = run_check(workspace, PYTEST, LIMITS, stage="baseline")
    assert (before.stage, before.command, before.exit_code, before.passed) == ("baseline", PYTEST, 1, False)
    assert {outcome.id: outcome.status for outcome in before.outcomes} == {
        "tests/test_shop.py::test_zero": TestStatus.PASSED,
        "tests/test_shop.py::test_add": TestStatus.FAILED,
        "tests/test_shop.py::TestMore::test_in_class": TestStatus.PASSED,
    }
    assert "-1 == 3" in before.failing[0].message
    assert before.isolation is workspace.template.isolation
    assert before.pass_fraction == pytest.approx(2 / 3)
    workspace.reset()
    fixed = FileChange("shop.py", b"", b"def add(a, b):\n    return a + b\n")
    workspace.write(Patch((), (fixed,)))
    after = run_check(workspace, PYTEST, LIMITS, stage="full")
    assert after.passed and len(after.outcomes) == 3 and not ran_no_tests(after) and why_unusable(after) == ""
    assert workspace.changed_paths() == ["shop.py"]


def test_text_is_parsed_where_no_report_can_be_had(workspace: Workspace) -> None:
    result = run_check(workspace, f"true && {PYTEST} -rA", LIMITS, stage="full")
    assert {outcome.id: outcome.status for outcome in result.outcomes} == {
        "tests/test_shop.py::test_zero": TestStatus.PASSED,
        "tests/test_shop.py::test_add": TestStatus.FAILED,
        "tests/test_shop.py::TestMore::test_in_class": TestStatus.PASSED,
    }


def test_a_stale_report_is_not_believed(workspace: Workspace) -> None:
    workspace.reports.joinpath("junit.xml").write_text('<testsuite><testcase name="forged"/></testsuite>')
    result = run_check(workspace, f"{PYTEST} --no-such-option", LIMITS, stage="full")
    assert result.outcomes == () and result.exit_code == 4


def test_inherited_pytest_options_are_kept(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k zero")
    result = run_check(workspace, PYTEST, LIMITS, stage="full")
    assert [outcome.id for outcome in result.outcomes] == ["tests/test_shop.py::test_zero"]


def test_the_users_paths_are_shown(workspace: Workspace, root: Path) -> None:
    result = run_check(workspace, "pwd; pwd >&2", LIMITS, stage="x")
    assert (result.stdout_tail, result.stderr_tail) == (f"{root}\n", f"{root}\n")
    assert not ran_no_tests(result)


def test_timeout_and_cancel(workspace: Workspace) -> None:
    slow = dataclasses.replace(LIMITS, wall_s=0.5)
    result = run_check(workspace, "echo begun; sleep 30", slow, stage="full")
    assert (result.exit_code, result.timed_out, result.passed) == (None, True, False)
    assert "begun" in result.stdout_tail and not ran_no_tests(result)
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    result = run_check(workspace, "sleep 30", LIMITS, stage="full", cancel=cancel)
    assert (result.exit_code, result.timed_out) == (None, False)


def test_tails(workspace: Workspace) -> None:
    result = run_check(
        workspace,
        f"{sys.executable} -c \"print('x' * 10000 + 'end')\"",
        LIMITS,
        stage="x",
    )
    assert len(result.stdout_tail) == 4000 and result.stdout_tail.endswith("end\n")


def test_no_tests(workspace: Workspace) -> None:
    for command in (
        f"{PYTEST} -k nothing_matches",
        f"true && {PYTEST} -k nothing_matches",
        f"mkdir -p e && cd e && {sys.executable} -m unittest discover",
    ):
        result = run_check(workspace, command, LIMITS, stage="full")
        assert ran_no_tests(result), command
        assert "ran no tests" in why_unusable(result)


def test_command_not_found(workspace: Workspace) -> None:
    result = run_check(workspace, "no-such-program --x", LIMITS, stage="full")
    assert result.exit_code == 127 and not result.passed
    assert "'no-such-program' was not found" in why_unusable(result)
    result = run_check(workspace, "./tests/test_shop.py", LIMITS, stage="full")
    assert result.exit_code == 126
    assert "can't be executed" in why_unusable(result)


def test_suites_that_test_pytest_get_no_extra_option(workspace: Workspace) -> None:
    (workspace.tree / "conftest.py").write_text(
        "import os\npytest_plugins = ['pytester']\nprint('OPTS', os.environ.get('PYTEST_ADDOPTS'))\n"
    )
    result = run_check(workspace, f"{PYTEST} -s", LIMITS, stage="full")
    assert "OPTS None" in result.stdout_tail
    assert [outcome.id for outcome in result.failing] == ["tests/test_shop.py::test_add"]


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("pytest", True),
        ("pytest -x tests/test_a.py::test_b[1]", True),
        ("python -m pytest -q", True),
        (".venv/bin/python3.11 -W error -m pytest", True),
        ("A=1 B='x y' py.test", True),
        ("uv run pytest -q", True),
        ("poetry run python -m pytest", True),
        ("coverage run -m pytest", True),
        ("/opt/bin/pytest 'a b'", True),
        ("pytest && echo", False),
        ("pytest | tee log", False),
        ("pytest $(cat list)", False),
        ("echo pytest", False),
        ("python setup.py test", False),
        ("python -m pytest_something", False),
        ("make test", False),
        ("pytest 'unclosed", False),
        ("", False),
    ],
)
def test_is_plain_pytest(command: str, plain: bool) -> None:
    assert is_plain_pytest(command) is plain


@pytest.mark.parametrize(
    ("stdout", "exit_code", "nothing"),
    [
        ("Ran 0 tests in 0.000s\n\nOK\n", 0, True),
        ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed;", 0, True),
        ("?   \texample.com/a\t[no test files]\n", 0, True),
        ("No tests found, exiting with code 0\n", 0, True),
        ("No test files found, exiting with code 1\n", 1, True),
        ("1..0\n", 0, True),
        ("all good\n", 0, False),
        ("Segmentation fault\n", 139, False),
    ],
)
def test_ran_no_tests_by_text(stdout: str, exit_code: int, nothing: bool) -> None:
    assert ran_no_tests(CheckResult("full", "make test", exit_code, stdout_tail=stdout)) is nothing


def test_skipped_tests_verify_nothing() -> None:
    skipped = TestOutcome("a", TestStatus.SKIPPED)
    result = CheckResult("full", "pytest", 0, (skipped,))
    assert ran_no_tests(result)
    ran = dataclasses.replace(result, outcomes=(skipped, TestOutcome("b", TestStatus.PASSED)))
    assert not ran_no_tests(ran)


def test_no_pytest_in_that_python(root: Path, tmp_path: Path) -> None:
    result = CheckResult(
        "full", "python3 -m pytest", 1, stderr_tail="/usr/bin/python3: No module named pytest\n"
    )
    assert "has no pytest" in why_unusable(result)
    assert os.environ["CODEFORGE_DATA_DIR"] == str(tmp_path / "data")
