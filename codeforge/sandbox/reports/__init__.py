"""Per-test results from the output of test commands: one parser a file, chosen by content."""

from codeforge.sandbox.reports.registry import PARSERS, parse_outcomes

__all__ = ["PARSERS", "parse_outcomes"]
