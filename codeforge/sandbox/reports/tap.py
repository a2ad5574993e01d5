"""TAP 12 to 14: subtests by indentation or in braces, YAML diagnostics, directives, plans, bail-outs."""

import re
from dataclasses import dataclass, field

from codeforge.sandbox.model import TestOutcome, TestStatus
from codeforge.sandbox.reports.base import COUNT, NUMBER, merged, outcome, seconds

_POINT = re.compile(rf"^(?P<indent>[ \t]*)(?P<not>not )?ok\b(?: (?P<n>{COUNT}))?(?: ?- | )?(?P<rest>.*)$")
_PLAN = re.compile(rf"^[ \t]*1\.\.({COUNT})(?: *#.*)?$", re.M)
_VERSION = re.compile(r"^TAP version [0-9]{1,3}$", re.M)
_DIRECTIVE = re.compile(r"(?<!\\)# *(?P<word>SKIP|TODO|time=(?P<ms>[0-9.]+)ms)\S*(?: (?P<why>.*))?$", re.I)
_BAIL = re.compile(r"^Bail out!(?P<why>.*)$", re.M)
_SUBTEST = re.compile(r"^(?P<indent>[ \t]*)# Subtest: (?P<name>.*)$")
_DURATION = re.compile(rf"^\s*duration_ms: ({NUMBER})$", re.M)
_MESSAGE = re.compile(r"^\s*(?:error|message): +(?P<text>[^|>\s].*)$", re.M)


@dataclass(slots=True)
class _Point:
    """One test point, its place in the tree and the diagnostics that follow it."""

    indent: int
    name: str
    passed: bool
    directive: str
    why: str
    elapsed: float
    opens: bool
    diagnostics: list[str] = field(default_factory=list)
    parents: tuple[str, ...] = ()
    is_parent: bool = False


class TapParser:
    """Ids are the names from the outside in, joined by ` > `. Only the innermost points count as tests."""

    name = "tap"
    command = re.compile(r"\b(tap|prove|bats|node --test|ava)\b")

    def parse(self, text: str) -> list[TestOutcome]:
        if not _PLAN.search(text) and not _VERSION.search(text):
            return []
        points = _points(text.splitlines())
        _place(points)
        found = [_outcome(point) for point in points if not point.is_parent or _fails_alone(point, points)]
        if bail := _BAIL.search(text):
            found.append(outcome("bail out", TestStatus.ERROR, message=bail["why"].strip() or "Bail out!"))
        return merged(found)


def _points(lines: list[str]) -> list[_Point]:
    points: list[_Point] = []
    in_yaml = False
    for line in lines:
        text = line.strip()
        if in_yaml or text == "---":
            in_yaml = text != "..."
            if points and text not in ("---", "..."):
                points[-1].diagnostics.append(line)
        elif match := _POINT.match(line):
            points.append(_point(match, len(points) + 1))
        elif points and text.startswith("#") and not _SUBTEST.match(line) and not points[-1].passed:
            points[-1].diagnostics.append(text.removeprefix("#").strip())
    return points


def _point(match: re.Match[str], number: int) -> _Point:
    rest = match["rest"].rstrip()
    opens = rest.endswith("{")
    rest = rest.removesuffix("{").rstrip()
    directive, why, elapsed = "", "", 0.0
    if found := _DIRECTIVE.search(rest):
        rest, why = rest[: found.start()], found["why"] or ""
        directive = found["word"][:4].upper()
        elapsed = seconds(found["ms"]) / 1000
    name = rest.strip().replace("\\#", "#") or f"test {match['n'] or number}"
    return _Point(len(match["indent"]), name, match["not"] is None, directive, why, elapsed, opens)


def _place(points: list[_Point]) -> None:
    """Find each point's parents: before its children when it opens a brace, else right after them."""
    open_above: list[_Point] = []
    groups: list[list[_Point]] = []  # a point and everything below it, waiting for its parent
    for point in points:
        open_above = [parent for parent in open_above if parent.indent < point.indent]
        below = [item for group in groups if group[0].indent > point.indent for item in group]
        groups = [group for group in groups if group[0].indent <= point.indent]
        for item in below:
            item.parents = (point.name, *item.parents)
        point.is_parent = point.opens or bool(below)
        if open_above:
            point.parents = tuple(parent.name for parent in open_above)
        else:
            groups.append([point, *below])
        if point.opens:
            open_above.append(point)


def _fails_alone(parent: _Point, points: list[_Point]) -> bool:
    """A parent that fails although all its children pass is a failure of its own."""
    if parent.passed or parent.directive in ("SKIP", "TODO"):
        return False
    path = (*parent.parents, parent.name)
    inner = [point for point in points if point.parents[: len(path)] == path]
    return all(point.passed or point.directive in ("SKIP", "TODO") for point in inner)


def _outcome(point: _Point) -> TestOutcome:
    details = "\n".join(point.diagnostics).strip("\n")
    duration = _DURATION.search(details)
    elapsed = seconds(duration[1]) / 1000 if duration else point.elapsed
    if point.directive in ("SKIP", "TODO"):
        status = TestStatus.SKIPPED
    else:
        status = TestStatus.PASSED if point.passed else TestStatus.FAILED
    message = point.why
    if status is TestStatus.FAILED:
        found = _MESSAGE.search(details)
        message = found["text"].strip("'\"") if found else ""
    name = " > ".join([*point.parents, point.name])
    return outcome(
        name, status, seconds=elapsed, message=message, details=details if status is TestStatus.FAILED else ""
    )
