"""Jest's terminal output, and the JSON report that Jest and Vitest share."""

import json
import re
from collections.abc import Iterator
from typing import Any

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import COUNT, NUMBER, filled, first_line, merged, outcome

_TOTALS = re.compile(rf"^Tests: +((?:{COUNT} \w+, )*{COUNT} total)", re.M)
_SUITES = re.compile(rf"^Test Suites: .*{COUNT} total", re.M)
_PAIR = re.compile(rf"({COUNT}) (failed|passed|skipped|todo)")
_FILE = re.compile(rf"^ ?(?P<word>PASS|FAIL) +(?P<file>\S+)(?: \({NUMBER} m?s\))?$")
_MARK = re.compile(
    rf"^(?P<indent> +)(?P<mark>[✓✕○✎√×]) (?P<name>.+?)(?: \((?P<n>{NUMBER}) (?P<unit>m?s)\))?$"
)
_BULLET = re.compile(r"^ +● (?P<name>.+)$")
_STATUSES = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "pending": TestStatus.SKIPPED,
    "skipped": TestStatus.SKIPPED,
    "disabled": TestStatus.SKIPPED,
    "todo": TestStatus.SKIPPED,
}
_MARKS = {
    "✓": TestStatus.PASSED,
    "√": TestStatus.PASSED,
    "✕": TestStatus.FAILED,
    "×": TestStatus.FAILED,
    "○": TestStatus.SKIPPED,
    "✎": TestStatus.SKIPPED,
}
_BROKEN_SUITE = "Test suite failed to run"


class JestTextParser:
    """Default and verbose output. Ids are `file › describe › test`."""

    name = "jest"
    command = re.compile(r"\bjest\b")

    def parse(self, text: str) -> list[TestOutcome]:
        totals = _TOTALS.findall(text)
        if not totals and not _SUITES.search(text):
            return []
        # Jest repeats all failures at the end of a long run.
        text = text.partition("Summary of all failing tests")[0]
        outcomes = merged(_outcomes(text))
        counts: dict[TestStatus, int] = {}
        for total in totals:
            for count, word in _PAIR.findall(total):
                counts[_STATUSES[word]] = counts.get(_STATUSES[word], 0) + int(count)
        return filled(outcomes, counts)


def _outcomes(text: str) -> Iterator[TestOutcome]:
    for file, lines in _files(text):
        details = _details(lines)
        broken = details.pop(_BROKEN_SUITE, None)
        if broken is not None:
            yield outcome(file, TestStatus.ERROR, details=broken)
        for name, detail in details.items():
            yield outcome(f"{file} › {name}", TestStatus.FAILED, details=detail)
        yield from _marked(file, lines)


def _files(text: str) -> Iterator[tuple[str, list[str]]]:
    file, lines = "", list[str]()
    for line in text.splitlines():
        if match := _FILE.match(line):
            if file:
                yield file, lines
            file, lines = match["file"], []
        elif line.startswith("Test Suites: "):
            break
        else:
            lines.append(line)
    if file:
        yield file, lines


def _marked(file: str, lines: list[str]) -> Iterator[TestOutcome]:
    """The tree that `--verbose` draws; indentation tells the describe blocks."""
    blocks: list[tuple[int, str]] = []
    for line in lines:
        if _BULLET.match(line):
            return
        match = _MARK.match(line)
        indent = len(line) - len(line.lstrip())
        blocks = [block for block in blocks if block[0] < indent]
        if match is None:
            if line.strip() and indent:
                blocks.append((indent, line.strip()))
            continue
        elapsed = float(match["n"] or 0) / (1000 if match["unit"] == "ms" else 1)
        name = match["name"].removeprefix("skipped ") if match["mark"] == "○" else match["name"]
        name = name.removeprefix("todo ") if match["mark"] == "✎" else name
        path = " › ".join([file, *(title for _, title in blocks), name])
        yield outcome(path, _MARKS[match["mark"]], seconds=elapsed)


def _details(lines: list[str]) -> dict[str, str]:
    details: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if match := _BULLET.match(line):
            name = match["name"].strip()
            details.setdefault(name, [])
        elif name:
            details[name].append(line)
    details.pop("Console", None)
    return {key: "\n".join(body).strip("\n") for key, body in details.items()}


class JestJsonParser:
    """`--json` of Jest, `--reporter=json` of Vitest."""

    name = "jest-json"
    command = re.compile(r"\b(jest|vitest)\b.*--(json|reporter=json)")

    def parse(self, text: str) -> list[TestOutcome]:
        at = text.find('{"num')
        if at < 0 or '"testResults"' not in text:
            return []
        try:
            report, _ = json.JSONDecoder().raw_decode(text[at:])
        except (ValueError, RecursionError):
            return []
        return merged(_from_report(report))


def _from_report(report: Any) -> Iterator[TestOutcome]:
    files = report.get("testResults") if isinstance(report, dict) else None
    for file in files if isinstance(files, list) else []:
        if not isinstance(file, dict):
            continue
        path = str(file.get("name", ""))
        tests = file.get("assertionResults")
        tests = [test for test in tests if isinstance(test, dict)] if isinstance(tests, list) else []
        if not tests and file.get("status") == "failed":
            message = str(file.get("message", ""))
            yield outcome(path, TestStatus.ERROR, message=_plain_first(message), details=message)
        for test in tests:
            yield _from_test(path, test)


def _from_test(path: str, test: dict[str, Any]) -> TestOutcome:
    titles = test.get("ancestorTitles")
    titles = [str(title) for title in titles] if isinstance(titles, list) else []
    messages = test.get("failureMessages")
    details = "\n\n".join(str(message) for message in messages) if isinstance(messages, list) else ""
    status = _STATUSES.get(str(test.get("status")), TestStatus.SKIPPED)
    duration = test.get("duration")
    elapsed = float(duration) / 1000 if isinstance(duration, int | float) and 0 <= duration < 1e12 else 0.0
    name = " › ".join([path, *(title for title in titles if title), str(test.get("title", ""))])
    return outcome(name, status, seconds=elapsed, details=details)


def _plain_first(message: str) -> str:
    body = message.partition(_BROKEN_SUITE)[2] or message
    return first_line(body)
