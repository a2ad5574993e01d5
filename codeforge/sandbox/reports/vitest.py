"""Vitest's terminal output: default and verbose reporters."""

import re

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import COUNT, NUMBER, filled, merged, outcome, seconds

_FILES = re.compile(rf"^ *Test Files +{COUNT} \w+.*\({COUNT}\)$", re.M)
_TOTALS = re.compile(rf"^ +Tests +({COUNT} \w+(?: \| {COUNT} \w+)*) \({COUNT}\)$", re.M)
_PAIR = re.compile(rf"({COUNT}) (failed|passed|skipped|todo)")
_LINE = re.compile(rf"^ (?P<mark>[✓×❯↓□]) (?P<id>\S.*? > .+?)(?: +(?P<ms>{NUMBER})ms)?$")
_FAILED = re.compile(r"^ FAIL +(?P<id>\S.*)$")
_RULE = re.compile(r"^⎯+")
_STATUSES = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "skipped": TestStatus.SKIPPED,
    "todo": TestStatus.SKIPPED,
}
_MARKS = {
    "✓": TestStatus.PASSED,
    "×": TestStatus.FAILED,
    "↓": TestStatus.SKIPPED,
    "□": TestStatus.SKIPPED,
}


class VitestParser:
    """Ids are `file > describe > test`, as Vitest prints them."""

    name = "vitest"
    command = re.compile(r"\bvitest\b")

    def parse(self, text: str) -> list[TestOutcome]:
        if not _FILES.search(text) and not _TOTALS.search(text):
            return []
        counts: dict[TestStatus, int] = {}
        for total in _TOTALS.findall(text):
            for count, word in _PAIR.findall(total):
                counts[_STATUSES[word]] = counts.get(_STATUSES[word], 0) + int(count)
        return filled(merged([*_failures(text), *_lines(text)]), counts)


def _lines(text: str) -> list[TestOutcome]:
    return [
        outcome(match["id"], _MARKS[match["mark"]], seconds=seconds(match["ms"]) / 1000)
        for line in text.splitlines()
        if (match := _LINE.match(line)) and match["mark"] in _MARKS
    ]


def _failures(text: str) -> list[TestOutcome]:
    """The blocks below ` FAIL  `; several tests that fail alike share one block."""
    found: list[TestOutcome] = []
    names: list[str] = []
    body: list[str] = []
    for line in [*text.splitlines(), "⎯"]:
        match = _FAILED.match(line)
        if (match and body) or _RULE.match(line):
            found += [_failure(name, "\n".join(body).strip("\n")) for name in names]
            names, body = [], []
        if match:
            names.append(match["id"])
        elif names:
            body.append(line)
    return found


def _failure(name: str, details: str) -> TestOutcome:
    if " > " in name:
        return outcome(name, TestStatus.FAILED, details=details)
    # ` FAIL  file [ file ]`: the file itself could not be loaded.
    return outcome(name.partition(" [ ")[0], TestStatus.ERROR, details=details)
