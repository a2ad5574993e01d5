"""What every report parser shares: the protocol, cleaning of text, counts, merging.

Parsers see text that programs under test can write whatever they like into. They take it as it is and
never raise; numbers are bounded, and every pattern is linear.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from codeforge.sandbox.model import TestOutcome, TestStatus

MAX_DETAILS = 8000
MAX_MESSAGE = 300
MAX_UNNAMED = 20_000

NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
COUNT = r"[0-9]{1,7}"

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_TIMEOUT = re.compile(
    r"(?:Failed: )?Timeout (?:\(?>|after)|(?:thrown: \")?Exceeded timeout of|(?:Error: )?Test timed out in"
)

# Worst first: a test that is reported twice (say, its teardown failed too) has the worse of its outcomes.
_SEVERITY = (
    TestStatus.ERROR,
    TestStatus.TIMEOUT,
    TestStatus.FAILED,
    TestStatus.PASSED,
    TestStatus.SKIPPED,
)


class ReportParser(Protocol):
    """Parser of one tool's output."""

    name: str
    command: re.Pattern[str]
    """Matches command lines that this tool's output is expected from."""

    def parse(self, text: str) -> list[TestOutcome]:
        """The outcomes in `text` (cleaned); empty when it is not this tool's output."""
        ...


def clean(text: str) -> str:
    """Without colours, carriage returns and NULs."""
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def outcome(
    name: str, status: TestStatus, *, seconds: float = 0.0, message: str = "", details: str = ""
) -> TestOutcome:
    """An outcome with its texts cut to size; `message` becomes one line, taken from `details` if empty."""
    line = message.strip() or first_line(details)
    line = " ".join(line.split())
    if len(line) > MAX_MESSAGE:
        line = line[: MAX_MESSAGE - 1] + "…"
    if len(details) > MAX_DETAILS:
        half = MAX_DETAILS // 2
        details = f"{details[:half]}\n… {len(details) - 2 * half} characters left out …\n{details[-half:]}"
    if status is TestStatus.FAILED and is_timeout(line):
        status = TestStatus.TIMEOUT
    return TestOutcome(name, status, seconds, line, details)


def is_timeout(message: str) -> bool:
    """Whether a failure message is that of a per-test time limit."""
    return _TIMEOUT.match(message) is not None


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def merged(outcomes: Iterable[TestOutcome]) -> list[TestOutcome]:
    """One outcome a test, the worst one, in order of first appearance."""
    best: dict[str, TestOutcome] = {}
    for item in outcomes:
        known = best.get(item.id)
        if known is None or _rank(item) < _rank(known):
            best[item.id] = item
    return list(best.values())


def _rank(item: TestOutcome) -> tuple[int, bool]:
    return _SEVERITY.index(item.status), not item.details


def filled(outcomes: list[TestOutcome], counts: Mapping[TestStatus, int]) -> list[TestOutcome]:
    """`outcomes` plus unnamed ones (`passed#1`, …) up to what the summary counted.

    Short outputs name only what failed; the share of passing tests still has to be right.
    """
    extra: list[TestOutcome] = []
    for status, count in counts.items():
        same = (TestStatus.FAILED, TestStatus.TIMEOUT) if status is TestStatus.FAILED else (status,)
        named = sum(item.status in same for item in outcomes)
        missing = min(count - named, MAX_UNNAMED - len(extra))
        extra += [TestOutcome(f"{status.value}#{number}", status) for number in range(1, missing + 1)]
    return outcomes + extra


def seconds(text: str | None) -> float:
    """A duration; 0.0 when it is none."""
    try:
        value = float(text or 0.0)
    except ValueError:
        return 0.0
    return value if 0.0 <= value < 1e9 else 0.0
