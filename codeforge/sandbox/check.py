"""Checking one tree: run a test command in its cage and turn what it says into a `CheckResult`."""

import dataclasses
import re
import shlex
import threading
from collections.abc import Mapping
from pathlib import Path

from codeforge.sandbox.model import CheckResult, CommandResult, Limits, TestOutcome, TestStatus
from codeforge.sandbox.reports import parse_outcomes
from codeforge.sandbox.runner import run_command
from codeforge.sandbox.workspace import Workspace

TAIL_CHARS = 4000
PYTEST_NO_TESTS = 5
NOT_FOUND = 127
NOT_EXECUTABLE = 126

_JUNIT_FILE = "junit.xml"
_SHELL_SYNTAX = re.compile(r"[;&|<>`\n]|\$\(")
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*$")
_PYTEST = re.compile(r"(?:.*/)?py\.?test$")
_LAUNCHERS = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"))
_OWN_REPORT = re.compile(r"--junit-?xml|--junit-prefix|no:junitxml|junit_family|--collect-only|--co\b")
_NOTHING_RAN = re.compile(
    r"no tests ran|^=* ?[0-9]{1,7} deselected in |^collected 0 items|^Ran 0 tests in|NO TESTS RAN"
    r"|No tests? (?:suites? )?found"
    r"|[Nn]o test files|\[no tests to run\]|^running 0 tests$|^1\.\.0\b|^# tests 0$|^ *0 passing",
    re.MULTILINE,
)


def run_check(
    workspace: Workspace,
    command: str,
    limits: Limits,
    *,
    stage: str,
    env: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
    network: bool = False,
) -> CheckResult:
    """Run `command` in `workspace` and return what it showed.

    A plain pytest command also writes a JUnit report outside the tree, asked for through
    PYTEST_ADDOPTS; of anything else the text is parsed.

    Args:
        workspace: the tree; the command may change it.
        command: a shell command line.
        limits: of the command.
        stage: a name for the result ("baseline", "full", …).
        env: variables for the command.
        cancel: kills it when set.
        network: whether it may use the network.

    Raises:
        EnvironmentUnavailableError: the cage can't be set up.
    """
    variables = dict(env or {})
    report: Path | None = None
    if _can_add_report(workspace.tree, command):
        report = workspace.reports / _JUNIT_FILE
        report.unlink(missing_ok=True)
        options = f"{shlex.quote(f'--junitxml={report}')} -o junit_family=xunit1"
        variables["PYTEST_ADDOPTS"] = f"{_inherited_options(variables)} {options}".strip()
    cage = workspace.cage(network=network, env=variables)
    done = _as_in_users_tree(
        run_command(command, cage, limits, cancel=cancel, isolation=workspace.template.isolation), workspace
    )
    xml = report.read_bytes() if report is not None and report.is_file() else None
    outcomes = parse_outcomes(done.stdout, done.stderr, command, xml)
    return CheckResult(
        stage=stage,
        command=command,
        exit_code=done.exit_code,
        outcomes=tuple(_relative(outcome, workspace.template.repo.root) for outcome in outcomes),
        duration_s=done.duration_s,
        stdout_tail=done.stdout[-TAIL_CHARS:],
        stderr_tail=done.stderr[-TAIL_CHARS:],
        timed_out=done.timed_out,
        isolation=done.isolation,
    )


def ran_no_tests(result: CheckResult) -> bool:
    """Whether the command ran without running one test: such a result verifies nothing.

    Skipped tests don't count as run. A command whose output is no test report (a script) is judged by
    its exit status alone, so for it this is False.
    """
    if result.outcomes:
        return all(outcome.status is TestStatus.SKIPPED for outcome in result.outcomes)
    if result.exit_code is None:
        return False
    if result.exit_code == PYTEST_NO_TESTS and re.search(r"\bpy\.?test\b", result.command):
        return True
    return _NOTHING_RAN.search(f"{result.stdout_tail}\n{result.stderr_tail}") is not None


def why_unusable(result: CheckResult) -> str:
    """One sentence for a person when the result says nothing about the code; "" when it does."""
    if result.exit_code == NOT_FOUND and not result.outcomes:
        missing = _missing_program(result)
        return (
            f"{missing} was not found in the sandbox. Install it where the sandbox can see it, "
            "or name another test command with --test."
        )
    if result.exit_code == NOT_EXECUTABLE and not result.outcomes:
        return f"{result.command!r} can't be executed. Check its permissions, or run it with its interpreter."
    if ran_no_tests(result):
        return f"{result.command!r} ran no tests, so nothing was verified. Check the command with --test."
    if re.search(r"No module named '?pytest'?", result.stderr_tail) and not result.outcomes:
        return (
            "The Python that was used has no pytest. Install it there, or name another command with --test."
        )
    return ""


def is_plain_pytest(command: str) -> bool:
    """Whether the command line is one pytest run and nothing else (a launcher before it is fine)."""
    words = _words(command)
    while words and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", words[0]):
        words = words[1:]
    for launcher in _LAUNCHERS:
        if tuple(words[:2]) == launcher:
            words = words[2:]
    if words[:1] and _PYTHON.match(words[0]):
        words = words[1:]
        while words and words[0] in ("-B", "-u", "-I", "-s", "-W", "-X", "-Wd", "-bb"):
            words = words[2:] if words[0] in ("-W", "-X") else words[1:]
        return words[:2] == ["-m", "pytest"]
    if words[:2] == ["coverage", "run"]:
        return "-m" in words and words[words.index("-m") + 1 :][:1] == ["pytest"]
    return bool(words) and _PYTEST.match(words[0]) is not None


def _words(command: str) -> list[str]:
    if _SHELL_SYNTAX.search(command):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _can_add_report(tree: Path, command: str) -> bool:
    """Only where nothing else can notice: suites that run pytest inside their tests could."""
    if not is_plain_pytest(command) or _OWN_REPORT.search(command) or "PYTEST_ADDOPTS" in command:
        return False
    for name in ("conftest.py", "tests/conftest.py", "test/conftest.py", "testing/conftest.py"):
        conftest = tree / name
        if conftest.is_file() and b"pytester" in conftest.read_bytes():
            return False
    return True


def _inherited_options(variables: Mapping[str, str]) -> str:
    import os

    return variables.get("PYTEST_ADDOPTS", os.environ.get("PYTEST_ADDOPTS", ""))


def _as_in_users_tree(done: CommandResult, workspace: Workspace) -> CommandResult:
    """Where the tree could not be mounted over the user's, its own path shows up: name the user's instead."""
    scratch, root = str(workspace.tree), str(workspace.template.repo.root)
    return dataclasses.replace(
        done, stdout=done.stdout.replace(scratch, root), stderr=done.stderr.replace(scratch, root)
    )


def _relative(outcome: TestOutcome, root: Path) -> TestOutcome:
    prefix = f"{root}/"
    return dataclasses.replace(outcome, id=outcome.id.removeprefix(prefix))


def _missing_program(result: CheckResult) -> str:
    found = re.search(r"(?:^|: )([^\s:]+): (?:command )?not found", result.stderr_tail, re.MULTILINE)
    found = found or re.search(r"([^\s:]+): No such file or directory", result.stderr_tail)
    return f"The program {found[1]!r}" if found else f"A program of {result.command!r}"
