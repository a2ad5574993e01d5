"""`go test`, plain, verbose and `-json`."""

import json
import re
from typing import Any

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import NUMBER, merged, outcome, seconds

_COMMAND = re.compile(r"\b(go test|gotestsum|go vet)\b")
_LINE = re.compile(rf"^ *--- (?P<word>PASS|FAIL|SKIP): (?P<id>\S+) \((?P<s>{NUMBER})s\)$")
_PACKAGE = re.compile(
    rf"^(?P<word>ok  |FAIL|\?   )\t(?P<id>\S+)(?:\t(?P<s>{NUMBER})s|\t\(cached\))?(?P<rest>.*)$"
)
_BROKEN = re.compile(r"^# (?P<id>\S+)(?: \[.*\])?$")
_NOISE = ("=== RUN", "=== PAUSE", "=== CONT", "=== NAME")
_STATUSES = {
    "PASS": TestStatus.PASSED,
    "FAIL": TestStatus.FAILED,
    "SKIP": TestStatus.SKIPPED,
    "pass": TestStatus.PASSED,
    "fail": TestStatus.FAILED,
    "skip": TestStatus.SKIPPED,
}


class GoTextParser:
    """Plain and verbose output. Without `-v` a passing package is one outcome under its own name."""

    name = "go"
    command = _COMMAND

    def parse(self, text: str) -> list[TestOutcome]:
        found: list[TestOutcome] = []
        pending: list[_Test] = []
        log: list[str] = []
        running = False  # verbose output has a test's log before its result, plain output after it
        broken = _compile_errors(text)
        for line in text.splitlines():
            if match := _LINE.match(line):
                pending.append(_Test(match["id"], match["word"], match["s"], log))
                log, running = [], False
            elif match := _PACKAGE.match(line):
                found += _package(match, pending, broken)
                pending, log, running = [], [], False
            elif line.startswith(_NOISE):
                running = True
            elif _belongs(line):
                (pending[-1].after if pending and not running else log).append(line)
        return merged(_from_all(found, pending))


class _Test:
    def __init__(self, name: str, word: str, elapsed: str, before: list[str]) -> None:
        self.name, self.word, self.elapsed, self.before = name, word, elapsed, before
        self.after: list[str] = []

    def outcome(self, package: str) -> TestOutcome:
        details = "\n".join([*self.before, *self.after]).strip("\n") if self.word != "PASS" else ""
        name = f"{package}.{self.name}" if package else self.name
        message = _message(details)
        return outcome(
            name, _STATUSES[self.word], seconds=seconds(self.elapsed), message=message, details=details
        )


def _belongs(line: str) -> bool:
    return bool(line.strip()) and line not in ("PASS", "FAIL") and not line.startswith("coverage:")


def _package(match: re.Match[str], tests: list[_Test], broken: dict[str, str]) -> list[TestOutcome]:
    name, word, rest = match["id"], match["word"].strip(), match["rest"]
    if word == "?" or "[no test files]" in rest or "[no tests to run]" in rest:
        return []
    if "[build failed]" in rest or "[setup failed]" in rest:
        details = broken.get(name, "")
        return [outcome(name, TestStatus.ERROR, message=_message(details) or rest.strip(), details=details)]
    found = [test.outcome(name) for test in tests]
    failed = any(test.word == "FAIL" for test in tests)
    if word == "FAIL" and not failed:
        # The test binary itself died (a panic outside tests, os.Exit, a timeout).
        found.append(outcome(name, TestStatus.ERROR, message="the test program failed outside its tests"))
    elif word == "ok" and not tests:
        found.append(outcome(name, TestStatus.PASSED, seconds=seconds(match["s"])))
    return found


def _from_all(found: list[TestOutcome], pending: list[_Test]) -> list[TestOutcome]:
    # A killed run ends without the package line.
    return [*found, *(test.outcome("") for test in pending)]


def _compile_errors(text: str) -> dict[str, str]:
    errors: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if match := _BROKEN.match(line):
            name = match["id"]
        elif name and re.match(r"\S+\.go:[0-9]+:|\t|too many errors", line):
            errors.setdefault(name, []).append(line)
        else:
            name = ""
    return {package: "\n".join(lines) for package, lines in errors.items()}


def _message(details: str) -> str:
    """The last line a failing test logged says most: what came before may be plain logging."""
    lines = [line.strip() for line in details.splitlines()]
    panic = next((line for line in lines if line.startswith("panic: ")), "")
    logged = [line for line in lines if re.match(r"[\w./-]+\.go:[0-9]+:", line)]
    return panic or (logged[-1] if logged else "")


class GoJsonParser:
    """The event stream of `go test -json`."""

    name = "go-json"
    command = re.compile(r"\bgo test\b.*-json")

    def parse(self, text: str) -> list[TestOutcome]:
        if '"Action"' not in text:
            return []
        events = [event for line in text.splitlines() if (event := _event(line))]
        logs: dict[str, list[str]] = {}
        broken: dict[str, list[str]] = {}
        found: list[TestOutcome] = []
        tested: dict[str, set[str]] = {}
        for event in events:
            _take(event, logs, broken, found, tested)
        return merged(found)


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("Action"), str) else None


def _take(
    event: dict[str, Any],
    logs: dict[str, list[str]],
    broken: dict[str, list[str]],
    found: list[TestOutcome],
    tested: dict[str, set[str]],
) -> None:
    action, package = event["Action"], str(event.get("Package", ""))
    test = str(event.get("Test") or "")
    name = f"{package}.{test}" if test else package
    if action == "build-output":
        importer = str(event.get("ImportPath", "")).partition(" ")[0]
        broken.setdefault(importer, []).append(str(event.get("Output", "")))
    elif action == "output":
        logs.setdefault(name, []).append(str(event.get("Output", "")))
    elif action in _STATUSES:
        if test:
            tested.setdefault(package, set()).add(action)
            details = _log(logs.get(name, [])) if action != "pass" else ""
            found.append(_json_outcome(name, _STATUSES[action], event, details))
        elif action == "fail" and "fail" not in tested.get(package, set()):
            details = "".join(broken.get(package, [])) or _log(logs.get(package, []))
            found.append(_json_outcome(package, TestStatus.ERROR, event, details))


def _json_outcome(name: str, status: TestStatus, event: dict[str, Any], details: str) -> TestOutcome:
    return outcome(
        name,
        status,
        seconds=seconds(str(event.get("Elapsed", 0))),
        message=_message(details),
        details=details,
    )


def _log(lines: list[str]) -> str:
    return "".join(line for line in lines if not line.lstrip().startswith(("===", "---"))).strip("\n")
