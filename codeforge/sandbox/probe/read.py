"""Read what the plugin wrote."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.probe.calls import call_under_test, compared
from codeforge.sandbox.probe.model import FailureDetail, Frame, ProbeReport

_Types = dict[str, dict[int, dict[str, frozenset[str]]]]
_STATUS = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "error": TestStatus.ERROR,
    "skipped": TestStatus.SKIPPED,
    "timeout": TestStatus.TIMEOUT,
}
_STACK_LINE = re.compile(r'  File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<function>.+)')
_MACHINERY = re.compile(r"[/\\](_pytest|pluggy|pytest|_codeforge_probe)[/\\]")


def read_probe(out: Path, root: Path) -> ProbeReport:
    """The report of one run. A missing or cut file gives what is there, with `complete` false.

    Args:
        out: what `probe_env` was given.
        root: the repository as the command saw it, to name files in stacks that the plugin could not name.
    """
    outcomes: list[TestOutcome] = []
    failures: list[FailureDetail] = []
    coverage: dict[str, Mapping[str, frozenset[int]]] = {}
    types: _Types = {}
    started: dict[str, None] = {}
    complete = False
    for record in _records(out):
        kind, test_id = record.get("kind"), str(record.get("id", ""))
        if kind == "start":
            started[test_id] = None
        elif kind == "finish":
            complete = True
        elif kind in ("test", "collect_error"):
            started.pop(test_id, None)
            detail = _failure(test_id, record["failure"]) if record.get("failure") else None
            outcomes.append(_outcome(test_id, record, detail))
            if detail is not None:
                failures.append(detail)
            if record.get("lines"):
                coverage[test_id] = {path: frozenset(lines) for path, lines in record["lines"].items()}
            _add_types(types, record.get("types") or {})
    for test_id in started:
        detail = _unfinished(test_id, out.with_name(out.name + ".stacks"), root)
        outcomes.append(TestOutcome(test_id, TestStatus.TIMEOUT, message=detail.message))
        failures.append(detail)
    return ProbeReport(tuple(outcomes), tuple(failures), coverage, complete, types)


def _add_types(types: _Types, found: Mapping[str, Mapping[str, Mapping[str, list[str]]]]) -> None:
    for path, functions in found.items():
        for line, names in functions.items():
            known = types.setdefault(path, {}).setdefault(int(line), {})
            for name, seen in names.items():
                known[name] = known.get(name, frozenset()) | frozenset(seen)


def _records(out: Path) -> Iterator[dict[str, Any]]:
    try:
        data = out.read_bytes()
    except FileNotFoundError:
        return
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # the line that a kill cut short
        if isinstance(record, dict):
            yield record


def _outcome(test_id: str, record: Mapping[str, Any], detail: FailureDetail | None) -> TestOutcome:
    status = TestStatus.ERROR if record["kind"] == "collect_error" else _STATUS[record["outcome"]]
    message = ""
    if detail is not None:
        first = (detail.message or detail.explanation).strip().splitlines()
        message = f"{detail.exc_type}: {first[0]}" if first else detail.exc_type
    return TestOutcome(
        id=test_id,
        status=status,
        duration_s=float(record.get("duration", 0.0)),
        message=message,
        details=detail.explanation if detail is not None else "",
    )


def _failure(test_id: str, raw: Mapping[str, Any]) -> FailureDetail:
    frames = tuple(_frame(item) for item in raw.get("frames", ()))
    test_source = str(raw.get("test_source", ""))
    expected, actual = compared(frames, raw["explanation"], test_source)
    return FailureDetail(
        test_id=test_id,
        exc_type=raw["exc_type"],
        message=raw["message"],
        explanation=raw["explanation"],
        frames=frames,
        hung=bool(raw.get("hung")),
        causes=tuple(raw.get("causes", ())),
        call=call_under_test(frames, test_source),
        expected=expected,
        actual=actual if raw["exc_type"] == "AssertionError" else "",
        params=dict(raw.get("params", {})),
        test_source=test_source,
        dropped_frames=sum(int(item.get("dropped_after", 0)) for item in raw.get("frames", ())),
    )


def _frame(raw: Mapping[str, Any]) -> Frame:
    return Frame(
        path=raw["path"],
        line=int(raw["line"]),
        function=raw["function"],
        source=raw["source"],
        statement=raw.get("statement", ""),
        in_repo=bool(raw["in_repo"]),
        is_test=bool(raw.get("is_test")),
        locals=dict(raw.get("locals", {})),
    )


def _unfinished(test_id: str, stacks: Path, root: Path) -> FailureDetail:
    """A test that began and left no result: killed, crashed, or stuck inside C code."""
    frames = tuple(_dumped_frames(stacks, root))
    return FailureDetail(
        test_id=test_id,
        exc_type="TestHang" if frames else "Killed",
        message="the test did not finish in time" if frames else "the run ended during this test",
        explanation="",
        frames=frames,
        hung=bool(frames),
    )


def _dumped_frames(stacks: Path, root: Path) -> list[Frame]:
    """The main thread's stack, outermost first, from faulthandler's dump (innermost first)."""
    try:
        text = stacks.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    found: list[Frame] = []
    for line in text.rpartition("Timeout (")[2].splitlines():
        match = _STACK_LINE.match(line)
        if match is None or _MACHINERY.search(match["path"]):
            continue
        path = Path(match["path"])
        in_repo = path.is_relative_to(root) and "site-packages" not in path.parts
        name = path.relative_to(root).as_posix() if in_repo else str(path)
        found.append(Frame(name, int(match["line"]), match["function"], "", in_repo=in_repo))
    return found[::-1]
