"""JUnit XML, as pytest and most other tools write it."""

import xml.etree.ElementTree as ET

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import merged, outcome, seconds

MAX_BYTES = 64 * 1024**2


def parse_junit(xml: bytes) -> list[TestOutcome]:
    """The test cases of a report; empty when it is not one.

    The report comes from the code under test, so document types (and with them entities) are refused.
    """
    if len(xml) > MAX_BYTES or b"<!DOCTYPE" in xml or b"<!ENTITY" in xml or b"\0" in xml:
        return []
    try:
        root = ET.fromstring(xml)
    except (ET.ParseError, ValueError, LookupError):
        return []
    if root.tag not in ("testsuites", "testsuite"):
        return []
    return merged(_outcome(case) for case in root.iter("testcase"))


def _outcome(case: ET.Element) -> TestOutcome:
    status, message, details = TestStatus.PASSED, "", ""
    for child in case:
        found = {
            "failure": TestStatus.FAILED,
            "error": TestStatus.ERROR,
            "skipped": TestStatus.SKIPPED,
        }.get(child.tag)
        if found is not None:
            status, message, details = found, child.get("message", ""), child.text or ""
            break
    return outcome(_name(case), status, seconds=seconds(case.get("time")), message=message, details=details)


def _name(case: ET.Element) -> str:
    """pytest's own id when the report names the file (junit_family=xunit1), else class and name."""
    name, owner, file = case.get("name", ""), case.get("classname", ""), case.get("file", "")
    if not file:
        return f"{owner}::{name}" if owner and name else owner or name
    if not file.endswith(".py"):
        return f"{file}::{name}" if name else file
    module = file.removesuffix(".py").replace("\\", "/").replace("/", ".")
    if not owner:
        # A file that could not be collected: its name is the module's.
        return file if name == module else f"{file}::{name}"
    inner = owner.removeprefix(module).lstrip(".") if owner.startswith(module) else owner
    return "::".join([file, *(inner.split(".") if inner else []), name])
