"""Suspicious lines from which tests ran them (spectrum-based fault localization).

The score is Ochiai's (Abreu, Zoeteweij and van Gemund, 2007): failing runs of the line over the
geometric mean of all failing tests and all runs of the line. Where a program is one function that
every test runs whole, the scores tie; then the lines at which tests crashed or hung speak.
"""

from collections import Counter
from collections.abc import Mapping
from math import sqrt

from codeforge.sandbox.model import TestStatus
from codeforge.sandbox.probe.model import ProbeReport

_BAD = (TestStatus.FAILED, TestStatus.ERROR, TestStatus.TIMEOUT)
_CRASH_BONUS = 0.3


def suspicions(report: ProbeReport) -> Mapping[str, Mapping[int, float]]:
    """By path, by line: suspicion in (0, 1]. Lines that no failing test ran are absent.

    The innermost non-test frame of a failure adds up to 0.3 to its line, its callers half of that.
    """
    failed = {outcome.id for outcome in report.outcomes if outcome.status in _BAD}
    bad: Counter[tuple[str, int]] = Counter()
    good: Counter[tuple[str, int]] = Counter()
    for test_id, files in report.coverage.items():
        counter = bad if test_id in failed else good
        counter.update((path, line) for path, lines in files.items() for line in lines)
    total = sum(test_id in report.coverage for test_id in failed)
    scores = {place: count / sqrt(total * (count + good[place])) for place, count in bad.items()}
    for place, bonus in _crash_lines(report).items():
        scores[place] = min(1.0, scores.get(place, 0.5) + bonus)
    by_path: dict[str, dict[int, float]] = {}
    for (path, line), score in scores.items():
        by_path.setdefault(path, {})[line] = score
    return by_path


def _crash_lines(report: ProbeReport) -> Mapping[tuple[str, int], float]:
    """The largest bonus of each line, over all failures."""
    bonus: dict[tuple[str, int], float] = {}
    for failure in report.failures:
        own = [frame for frame in failure.frames if frame.in_repo and not frame.is_test]
        for depth, frame in enumerate(reversed(own[-3:])):
            place = (frame.path, frame.line)
            bonus[place] = max(bonus.get(place, 0.0), _CRASH_BONUS / 2**depth)
    return bonus
