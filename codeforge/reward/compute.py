"""The one implementation of the reward: from checks, patch and localization to numbers and words."""

from collections.abc import Sequence

from codeforge.localize.model import Location
from codeforge.patch.model import Patch
from codeforge.reward.anti_hack import gaming_signs
from codeforge.reward.model import Reward, RewardWeights
from codeforge.sandbox.check import ran_no_tests
from codeforge.sandbox.model import CheckResult, TestStatus

HALF_SIZE_LINES = 20.0
"""A change of this many lines beyond the first gets half of the size score."""


def compute_reward(
    patch: Patch,
    changed: Sequence[tuple[str, int]],
    *,
    baseline: CheckResult | None,
    check: CheckResult | None,
    locations: Sequence[Location],
    weights: RewardWeights | None = None,
) -> Reward:
    """Score one candidate.

    Args:
        patch: the candidate's patch.
        changed: (path, 1-based line before the change) of every changed line.
        baseline, check: the command before and after; `check` is `None` when nothing was run.
        locations: what localization named.
        weights: defaults to the current `RewardWeights`.
    """
    weights = weights or RewardWeights()
    tests = _tests_score(baseline, check)
    locality = _locality(changed, locations)
    size = 1.0 / (1.0 + max(0, len(changed) - 1) / HALF_SIZE_LINES)
    signs = gaming_signs(baseline, check) if check else ()
    anti_hack = 0.0 if signs else 1.0
    parts = weights.tests * tests + weights.locality * locality + weights.size * size
    total = anti_hack * parts / (weights.tests + weights.locality + weights.size)
    accepted = check is not None and check.passed and not signs and not ran_no_tests(check)
    diagnosis = _diagnosis(patch, baseline, check, signs)
    return Reward(tests, locality, size, anti_hack, None, total, accepted, diagnosis, weights.version)


def _tests_score(baseline: CheckResult | None, check: CheckResult | None) -> float:
    """Share of tests that pass, counted over all tests known before or after the change: a candidate
    that stops the run early does not gain by it."""
    if check is None:
        return 0.0
    if check.passed:
        return 1.0
    known = {o.id for o in check.outcomes if o.status is not TestStatus.SKIPPED}
    if baseline is not None:
        known |= {o.id for o in baseline.outcomes if o.status is not TestStatus.SKIPPED}
    if not known:
        return 0.0
    passed = {o.id for o in check.outcomes if o.status is TestStatus.PASSED}
    # A failing command never scores like a passing one, even when the parser saw no failing test.
    return min(0.99, len(passed & known) / len(known))


def _locality(changed: Sequence[tuple[str, int]], locations: Sequence[Location]) -> float:
    if not changed or not locations:
        return 0.0
    entities = [location.entity for location in locations]
    inside = sum(
        any(e.path == path and e.start_line <= line <= e.end_line + 1 for e in entities)
        for path, line in changed
    )
    return inside / len(changed)


def _diagnosis(
    patch: Patch, baseline: CheckResult | None, check: CheckResult | None, signs: Sequence[str]
) -> str:
    if check is None:
        return "Nothing was verified: there is no test command."
    sentences: list[str] = []
    if check.timed_out:
        sentences.append(f"The check ran out of time after {check.duration_s:.0f} s.")
    elif check.stopped_because:
        sentences.append(f"The check was stopped: {check.stopped_because}")
    elif check.passed:
        sentences.append("The check passes.")
    else:
        sentences.append(_failure_sentence(baseline, check))
    sentences.extend(f"Gaming: {sign}." for sign in signs)
    if ran_no_tests(check):
        sentences.append("The command ran no test, so it verifies nothing.")
    sentences.extend(f"{note}." for note in patch.notes)
    return " ".join(sentences)


def _failure_sentence(baseline: CheckResult | None, check: CheckResult) -> str:
    if not check.outcomes:
        return f"The check fails with exit status {check.exit_code}."
    failing = {outcome.id for outcome in check.failing}
    before = {outcome.id for outcome in baseline.failing} if baseline else set()
    passed = {o.id for o in check.outcomes if o.status is TestStatus.PASSED}
    fixed, broken = before & passed, failing - before
    return (
        f"{len(failing)} test(s) fail; of {len(before)} that failed before, {len(fixed)} pass now; "
        f"{len(broken)} newly fail."
    )
