"""unittest's text output, verbose or dots."""

import re

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import COUNT, NUMBER, filled, merged, outcome

_RAN = re.compile(rf"^Ran ({COUNT}) tests? in {NUMBER}s$", re.M)
_RESULT = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \(([a-z0-9=, ]+)\))?$", re.M)
_VERBOSE = re.compile(
    r"^(?P<id>\w+ \([\w.<>]+\))(?: .*)? ?\.\.\. "
    r"(?P<word>ok|FAIL|ERROR|expected failure|unexpected success|skipped ['\"].*)$"
)
_NAME = re.compile(r"^(?P<id>\w+ \([\w.<>]+\))$")
_DESCRIBED = re.compile(
    r"^.*\.\.\. (?P<word>ok|FAIL|ERROR|expected failure|unexpected success|skipped ['\"].*)$"
)
_BLOCK = re.compile(r"^(?P<word>FAIL|ERROR): (?P<id>\S.*)$")
_RULE = "=" * 70
_FIXTURE = re.compile(r"\b(?:setUp|tearDown)(?:Class|Module)\b")
_THIN_RULE = "-" * 70
_PAIR = re.compile(rf"(failures|errors|skipped|expected failures|unexpected successes)=({COUNT})")
_METHOD = re.compile(r"^(\w+) \(([\w.<>]+)\)(.*)$")


class UnittestParser:
    """See the module."""

    name = "unittest"
    command = re.compile(r"\b(unittest|manage\.py test|setup\.py test|nose2?)\b")

    def parse(self, text: str) -> list[TestOutcome]:
        ran = _RAN.findall(text)
        if not ran:
            return []
        outcomes = merged([*_blocks(text), *_verbose(text)])
        return filled(outcomes, _counts(text, sum(map(int, ran)), outcomes))


def _counts(text: str, ran: int, outcomes: list[TestOutcome]) -> dict[TestStatus, int]:
    counted = dict.fromkeys(TestStatus, 0)
    kinds = {
        "failures": TestStatus.FAILED,
        "unexpected successes": TestStatus.FAILED,
        "errors": TestStatus.ERROR,
        "skipped": TestStatus.SKIPPED,
        "expected failures": TestStatus.SKIPPED,
    }
    for result in _RESULT.finditer(text):
        for word, count in _PAIR.findall(result.group(1) or ""):
            counted[kinds[word]] += int(count)
    # Every failing subtest and class set-up is counted as a failure, but is not one more test that ran.
    failing = [item.id for item in outcomes if item.status in (TestStatus.FAILED, TestStatus.ERROR)]
    own = {name.partition(" ")[0] for name in failing if not _FIXTURE.search(name)}
    not_tests = len(failing) - len(own)
    counted[TestStatus.PASSED] = max(0, ran - sum(counted.values()) + not_tests)
    return counted


def _verbose(text: str) -> list[TestOutcome]:
    found: list[TestOutcome] = []
    name = ""
    for line in text.splitlines():
        if match := _VERBOSE.match(line):
            found.append(_from_word(match["id"], match["word"]))
            name = ""
        elif match := _NAME.match(line):
            name = match["id"]  # its first docstring line, and its outcome, follow on the next line
        elif name and (match := _DESCRIBED.match(line)):
            found.append(_from_word(name, match["word"]))
            name = ""
    return found


def _from_word(name: str, word: str) -> TestOutcome:
    status = {
        "ok": TestStatus.PASSED,
        "FAIL": TestStatus.FAILED,
        "unexpected success": TestStatus.FAILED,
        "ERROR": TestStatus.ERROR,
    }.get(word, TestStatus.SKIPPED)
    reason = word.removeprefix("skipped ").strip("'\"") if word.startswith("skipped") else ""
    return outcome(_dotted(name), status, message=reason)


def _blocks(text: str) -> list[TestOutcome]:
    """The `FAIL:` and `ERROR:` blocks with their tracebacks."""
    found: list[TestOutcome] = []
    lines = text.splitlines()
    starts = [
        number
        for number, line in enumerate(lines[1:], 1)
        if lines[number - 1] == _RULE and _BLOCK.match(line)
    ]
    for place, start in enumerate(starts):
        end = starts[place + 1] - 1 if place + 1 < len(starts) else len(lines)
        found.append(_block(lines[start:end]))
    return found


def _block(lines: list[str]) -> TestOutcome:
    match = _BLOCK.match(lines[0])
    word, name = (match["word"], match["id"]) if match else ("ERROR", lines[0])
    body: list[str] = []
    rules = 0
    for line in lines[1:]:
        if line == _THIN_RULE:
            rules += 1
            if rules == 2:
                break
        elif rules:
            body.append(line)
    details = "\n".join(body).strip("\n")
    status = TestStatus.FAILED if word == "FAIL" else TestStatus.ERROR
    return outcome(_dotted(name), status, message=_exception(body), details=details)


def _exception(body: list[str]) -> str:
    """The traceback's last line at the margin that names the exception."""
    at_margin = [line for line in body if re.match(r"[\w.]+(?:: |$)", line)]
    return at_margin[-1] if at_margin else (body[-1] if body else "")


def _dotted(name: str) -> str:
    """`test_x (pkg.mod.Case)`, which newer versions print with `.test_x` inside, as `pkg.mod.Case.test_x`."""
    match = _METHOD.match(name)
    if match is None:
        return name
    method, owner, rest = match.groups()
    return (owner if owner.endswith(f".{method}") else f"{owner}.{method}") + rest
