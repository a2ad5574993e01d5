"""The reward: parts, gaming, protected files, changed lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.model import Entity, EntityKind, Location
from codeforge.patch.model import EditBlock, FileChange, Patch
from codeforge.reward.anti_hack import gaming_signs
from codeforge.reward.changes import changed_lines
from codeforge.reward.compute import compute_reward
from codeforge.reward.protected import protected_reason
from codeforge.sandbox.model import CheckResult, TestOutcome, TestStatus

PASSED, FAILED, SKIPPED = TestStatus.PASSED, TestStatus.FAILED, TestStatus.SKIPPED
PATCH = Patch((EditBlock("a.py"),), (FileChange("a.py", b"one\ntwo\n", b"one\n2\n"),))


def check(exit_code: int, **outcomes: TestStatus) -> CheckResult:
    return CheckResult(
        "full", "pytest", exit_code, tuple(TestOutcome(name, status) for name, status in outcomes.items())
    )


BEFORE = check(1, a=FAILED, b=PASSED)


def reward(after: CheckResult | None, before: CheckResult | None = BEFORE):
    return compute_reward(PATCH, changed_lines(PATCH), baseline=before, check=after, locations=[])


def test_passing_is_accepted() -> None:
    result = reward(check(0, a=PASSED, b=PASSED))
    assert result.accepted
    assert result.tests == 1.0


def test_partial_credit_is_below_passing() -> None:
    better = reward(check(1, a=FAILED, b=PASSED))
    worse = reward(check(1, a=FAILED, b=FAILED))
    assert 0 < worse.total < better.total < reward(check(0, a=PASSED, b=PASSED)).total
    assert not better.accepted
    assert "of 1 that failed before, 0 pass now; 1 newly fail" in worse.diagnosis


@pytest.mark.parametrize(
    "after",
    [check(0, b=PASSED), check(0, a=SKIPPED, b=PASSED), check(0)],
    ids=["gone", "skipped", "silent"],
)
def test_gaming_scores_nothing(after: CheckResult) -> None:
    result = reward(after)
    assert result.total == 0.0
    assert not result.accepted
    assert "Gaming" in result.diagnosis


def test_a_baseline_that_could_not_collect_is_no_comparison() -> None:
    before = check(2, **{"test_a.py": TestStatus.ERROR})
    assert gaming_signs(before, check(0, a=PASSED, b=PASSED)) == ()


def test_without_a_check_nothing_is_accepted() -> None:
    result = reward(None, None)
    assert not result.accepted
    assert "Nothing was verified" in result.diagnosis


def test_locality_and_size() -> None:
    entity = Entity("a.py:f", EntityKind.FUNCTION, "a.py", "f", 1, 2)
    after = check(0, a=PASSED, b=PASSED)
    near = compute_reward(
        PATCH, [("a.py", 2)], baseline=BEFORE, check=after, locations=[Location(entity, 1.0, ())]
    )
    far = compute_reward(
        PATCH, [("b.py", 9)] * 30, baseline=BEFORE, check=after, locations=[Location(entity, 1.0, ())]
    )
    assert (near.locality, near.size) == (1.0, 1.0)
    assert far.locality == 0.0
    assert far.size < 0.5


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py",
        "test_a.py",
        "pkg/a_test.go",
        "conftest.py",
        "src/a.test.ts",
        "tox.ini",
        "a/__tests__/b.js",
    ],
)
def test_protected(path: str) -> None:
    assert protected_reason(path)


@pytest.mark.parametrize(
    "path", ["pkg/testing_tools.py", "src/latest.py", "contest.py", "a/attest.go", "setup.py"]
)
def test_not_protected(path: str) -> None:
    assert protected_reason(path) is None


@given(st.lists(st.sampled_from([b"a", b"b", b"c"])), st.lists(st.sampled_from([b"a", b"b", b"c"])))
def test_changed_lines_lie_in_the_file(before: list[bytes], after: list[bytes]) -> None:
    change = FileChange("x", b"\n".join(before), b"\n".join(after))
    lines = changed_lines(Patch((), (change,)))
    assert all(1 <= line <= len(before) + 1 for _, line in lines)
    assert bool(lines) == (b"\n".join(before).splitlines() != b"\n".join(after).splitlines())
