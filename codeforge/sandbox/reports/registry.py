"""The parsers, and the choice among them."""

from codeforge.sandbox.model import TestOutcome
from codeforge.sandbox.reports.base import ReportParser, clean
from codeforge.sandbox.reports.cargo import CargoParser
from codeforge.sandbox.reports.gotest import GoJsonParser, GoTextParser
from codeforge.sandbox.reports.jest import JestJsonParser, JestTextParser
from codeforge.sandbox.reports.junit import parse_junit
from codeforge.sandbox.reports.pytest_text import PytestParser
from codeforge.sandbox.reports.tap import TapParser
from codeforge.sandbox.reports.unittest_text import UnittestParser
from codeforge.sandbox.reports.vitest import VitestParser

PARSERS: tuple[ReportParser, ...] = (
    JestJsonParser(),
    GoJsonParser(),
    PytestParser(),
    UnittestParser(),
    CargoParser(),
    VitestParser(),
    JestTextParser(),
    GoTextParser(),
    TapParser(),
)
"""Most distinctive format first. A plugin's parser goes through the same protocol."""


def parse_outcomes(
    stdout: str, stderr: str, command: str, junit_xml: bytes | None = None
) -> tuple[TestOutcome, ...]:
    """Per-test outcomes of one run of `command`; empty when nothing in it is a known report.

    A JUnit report is believed first. Of the texts one format is taken, that of the tool named in the
    command if it is there: a failing test may print another tool's output.
    """
    if junit_xml is not None:
        outcomes = parse_junit(junit_xml)
        if outcomes:
            return tuple(outcomes)
    text = clean(f"{stdout}\n{stderr}")
    expected = [parser for parser in PARSERS if parser.command.search(command)]
    for parser in [*expected, *(parser for parser in PARSERS if parser not in expected)]:
        outcomes = parser.parse(text)
        if outcomes:
            return tuple(outcomes)
    return ()
