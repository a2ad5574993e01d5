"""pytest's terminal output: any verbosity, with or without the short summary."""

import re

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import COUNT, NUMBER, filled, merged, outcome

_STATUSES = {
    "PASSED": TestStatus.PASSED,
    "FAILED": TestStatus.FAILED,
    "ERROR": TestStatus.ERROR,
    "SKIPPED": TestStatus.SKIPPED,
    "XFAIL": TestStatus.SKIPPED,
    "XPASS": TestStatus.PASSED,
}
_WORDS = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "error": TestStatus.ERROR,
    "errors": TestStatus.ERROR,
    "skipped": TestStatus.SKIPPED,
    "xfailed": TestStatus.SKIPPED,
    "xpassed": TestStatus.PASSED,
}
_COUNTED = (
    rf"{COUNT} (?:passed|failed|errors?|skipped|xfailed|xpassed|warnings?|deselected|rerun|subtests passed)"
)
_TOTALS = re.compile(rf"^=* ?({_COUNTED}(?:, {_COUNTED})*) in {NUMBER}s(?: \([0-9:.dhms, ]+\))? ?=*$", re.M)
_PAIR = re.compile(rf"({COUNT}) ([a-z]+)")
_START = re.compile(
    r"^=+ test session starts =+$|^=+ short test summary info =+$|^=+ (?:FAILURES|ERRORS) =+$", re.M
)
_VERBOSE = re.compile(
    r"^(?:\[gw[0-9]+\] \[ *[0-9]+%\] )?(?P<id>\S.*?) (?P<word>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
    r"(?: \((?P<why>.*)\))? *(?:\[ *[0-9]+%\])?$"
)
_XDIST = re.compile(r"^\[gw[0-9]+\] \[ *[0-9]+%\] (?P<word>[A-Z]+) (?P<id>\S.*?) *$")
_SHORT = re.compile(r"^(?P<word>PASSED|FAILED|ERROR|XFAIL|XPASS) (?P<rest>\S.*)$")
_HEADER = re.compile(r"^_{3,} (?P<title>.+?) _{3,}$")
_STAGE = re.compile(r"^ERROR (?:at (?:setup|teardown) of|collecting) ")
_ERROR_LINE = re.compile(r"^E {3}(.*)$", re.M)


class PytestParser:
    """See the module."""

    name = "pytest"
    command = re.compile(r"\b(py\.?test|tox|nox)\b")

    def parse(self, text: str) -> list[TestOutcome]:
        totals = list(_TOTALS.finditer(text))
        if not totals and not _START.search(text):
            return []
        sections = _failure_sections(text)
        outcomes = merged([*_named(text, sections)])
        counts: dict[TestStatus, int] = {}
        for total in totals:
            for count, word in _PAIR.findall(total.group(1)):
                if word in _WORDS:
                    counts[_WORDS[word]] = counts.get(_WORDS[word], 0) + int(count)
        return filled(outcomes, counts)


def _named(text: str, sections: dict[str, str]) -> list[TestOutcome]:
    found: list[TestOutcome] = []
    quoted = False
    for line in text.splitlines():
        if line.startswith("="):
            # Between these two headings stands what tests printed; other tools' lines may be among it.
            quoted = bool(re.match(r"=+ (FAILURES|ERRORS|PASSES|XFAILURES|XPASSES|warnings summary)", line))
            continue
        if quoted:
            continue
        entry = _entry(line)
        if entry is not None:
            name, word, message = entry
            details = (
                sections.get(_title(name), sections.get(name, "")) if word in ("FAILED", "ERROR") else ""
            )
            if not message and details:
                message = " ".join(_ERROR_LINE.findall(details)[:1])
            found.append(outcome(name, _STATUSES[word], message=message, details=details))
    return found


def _entry(line: str) -> tuple[str, str, str] | None:
    """(id, word, message) of a line that reports one test."""
    if match := _SHORT.match(line):
        name, message = _split_summary(match["rest"])
        return (name, match["word"], message) if _is_id(name) else None
    if match := _XDIST.match(line):
        word, name = match["word"], match["id"]
        return (name, word, "") if word in _STATUSES and _is_id(name) else None
    if (match := _VERBOSE.match(line)) and "::" in match["id"] and _is_id(match["id"]):
        return match["id"], match["word"], match["why"] or ""
    return None


def _split_summary(rest: str) -> tuple[str, str]:
    """Split `id - message`; an id may hold " - " inside its brackets."""
    bracket = rest.find("[")
    dash = rest.find(" - ")
    if 0 <= bracket < dash:
        end = rest.find("] - ", bracket)
        if end >= 0:
            return rest[: end + 1], rest[end + 4 :]
        if rest.endswith("]"):
            return rest, ""
    return (rest, "") if dash < 0 else (rest[:dash], rest[dash + 3 :])


def _is_id(name: str) -> bool:
    file = name.partition("::")[0]
    return " " not in file.strip() and ("::" in name or file.endswith((".py", ".rst", ".txt", ".md")))


def _title(name: str) -> str:
    """The heading under which pytest shows the failure of test `name`: `Class.test[param]`."""
    head, bracket, params = name.partition("[")
    return ".".join(head.split("::")[1:]) + bracket + params


def _failure_sections(text: str) -> dict[str, str]:
    """Tracebacks by heading; setup errors under the test's name, collection errors under the file's."""
    sections: dict[str, str] = {}
    title, lines = "", list[str]()
    for line in [*text.splitlines(), "="]:
        header = _HEADER.match(line)
        if header or line.startswith("="):
            if title:
                sections.setdefault(title, "\n".join(lines).strip("\n"))
            title = _STAGE.sub("", header["title"]) if header else ""
            lines = []
        elif title:
            lines.append(line)
    return sections
