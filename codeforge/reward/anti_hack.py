"""Signs that a change games its check instead of solving its task.

Outcomes are compared, not diffs: a test that used to run and no longer does was not fixed, whatever the
exit status says.
"""

from codeforge.sandbox.model import CheckResult, TestStatus


def gaming_signs(baseline: CheckResult | None, check: CheckResult) -> tuple[str, ...]:
    """What is suspicious in `check`, one sentence each; empty when nothing is.

    Args:
        baseline: the same command on the tree before the change; `None` when it was never run.
        check: the command on the changed tree.
    """
    if baseline is None or not baseline.outcomes or not check.passed:
        return ()
    if not check.outcomes:
        return ("the command exits with 0 but reports no test any more",)
    after = {outcome.id: outcome.status for outcome in check.outcomes}
    signs: list[str] = []
    failing = {outcome.id for outcome in baseline.failing}
    collected = {o.id for o in baseline.outcomes if o.status is not TestStatus.SKIPPED}
    # A baseline that could not even collect names files, not tests: its ids are expected to vanish.
    comparable = bool(collected & after.keys())
    gone = sorted(collected - after.keys()) if comparable else []
    if gone:
        signs.append(f"{len(gone)} test(s) that used to run are gone ({gone[0]})")
    skipped = sorted(name for name in failing if after.get(name) is TestStatus.SKIPPED)
    if skipped:
        signs.append(f"{len(skipped)} failing test(s) are skipped instead of fixed ({skipped[0]})")
    return tuple(signs)
