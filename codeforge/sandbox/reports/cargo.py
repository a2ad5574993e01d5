"""`cargo test` (libtest) and `cargo nextest`."""

import re

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import COUNT, NUMBER, filled, merged, outcome

_RESULT = re.compile(
    rf"^test result: (?:ok|FAILED)\. ({COUNT}) passed; ({COUNT}) failed; ({COUNT}) ignored;", re.M
)
_LINE = re.compile(
    r"^test (?P<id>\S.*?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)"
    rf"(?:, (?P<why>.*))?(?: <{NUMBER}s>)?$"
)
_NEXTEST = re.compile(
    rf"^ +(?P<word>PASS|FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[ *(?P<s>{NUMBER})s\](?: \([^)]*\))? +(?P<id>\S.*)$"
)
_NEXTEST_SUMMARY = re.compile(r"^ +Summary \[", re.M)
_OUTPUT = re.compile(r"^---- (?P<id>.+) stdout ----$")
_DOESNT_COMPILE = re.compile(r"^error: could not compile `([^`]+)`(.*)$", re.M)
_RUNNING = re.compile(rf"^running {COUNT} tests?$", re.M)
_STATUSES = {"ok": TestStatus.PASSED, "FAILED": TestStatus.FAILED, "ignored": TestStatus.SKIPPED}


class CargoParser:
    """See the module."""

    name = "cargo"
    command = re.compile(r"\bcargo\b")

    def parse(self, text: str) -> list[TestOutcome]:
        if broken := _DOESNT_COMPILE.search(text):
            details = text[max(0, text.find("error")) :]
            return [outcome(f"build {broken[1]}", TestStatus.ERROR, message=_reason(text), details=details)]
        if _NEXTEST_SUMMARY.search(text):
            return merged(_nextest(text))
        results = _RESULT.findall(text)
        if not results and not _RUNNING.search(text):
            return []
        counts = [sum(int(row[column]) for row in results) for column in range(3)]
        order = (TestStatus.PASSED, TestStatus.FAILED, TestStatus.SKIPPED)
        return filled(merged(_lines(text)), dict(zip(order, counts, strict=True)))


def _reason(text: str) -> str:
    found = re.search(r"^error(?:\[E[0-9]+\])?: .*$", text, re.M)
    return found.group(0) if found else ""


def _lines(text: str) -> list[TestOutcome]:
    outputs = _outputs(text)
    found: list[TestOutcome] = []
    for line in text.splitlines():
        if match := _LINE.match(line):
            details = outputs.get(match["id"], "") if match["word"] == "FAILED" else ""
            message = match["why"] or _panic(details)
            found.append(outcome(match["id"], _STATUSES[match["word"]], message=message, details=details))
    return found


def _outputs(text: str) -> dict[str, str]:
    outputs: dict[str, str] = {}
    name, lines = "", list[str]()
    for line in text.splitlines():
        match = _OUTPUT.match(line)
        if match or line == "failures:" or _RESULT.match(line):
            if name:
                outputs[name] = "\n".join(lines).strip("\n")
            name, lines = (match["id"] if match else ""), []
        elif name:
            lines.append(line)
    return outputs


def _panic(details: str) -> str:
    """What the panic said: it stands on the line after `thread … panicked at file:line:column:`."""
    lines = details.splitlines()
    for number, line in enumerate(lines):
        if re.match(r"thread '.*' (\([0-9]+\) )?panicked at ", line):
            same = line.partition(" panicked at ")[2]
            return same if same.startswith("'") or number + 1 == len(lines) else lines[number + 1]
    return ""


def _nextest(text: str) -> list[TestOutcome]:
    statuses = {"PASS": TestStatus.PASSED, "TIMEOUT": TestStatus.TIMEOUT}
    return [
        outcome(match["id"], statuses.get(match["word"], TestStatus.FAILED), seconds=float(match["s"]))
        for line in text.splitlines()
        if (match := _NEXTEST.match(line))
    ]
