"""Failures as text."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from codeforge.sandbox.probe import FailureDetail, Frame, render_failure

FRAME = Frame("gcd.py", 5, "gcd", "    return gcd(a % b, b)", in_repo=True, locals={"a": "14", "b": "21"})
DETAIL = FailureDetail(
    test_id="test_gcd.py::test_gcd[1]",
    exc_type="RecursionError",
    message="maximum recursion depth exceeded",
    explanation="RecursionError: maximum recursion depth exceeded",
    frames=(
        Frame("test_gcd.py", 9, "test_gcd", "assert gcd(35, 21) == 7", in_repo=True, is_test=True),
        FRAME,
        FRAME,
    ),
    call="gcd(35, 21)",
    expected="7",
)


def test_the_call_comes_first_then_the_place() -> None:
    lines = render_failure(DETAIL, 2000).splitlines()
    assert lines[0] == "gcd(35, 21) raised RecursionError: maximum recursion depth exceeded; expected 7"
    assert lines[1] == "at gcd.py:5 in gcd: return gcd(a % b, b)"
    assert "    a = 14" in lines


def test_a_wrong_value_and_a_hang() -> None:
    wrong = replace(DETAIL, exc_type="AssertionError", actual="14", frames=())
    assert render_failure(wrong, 2000) == "gcd(35, 21) gave 14; expected 7"
    hung = render_failure(replace(DETAIL, hung=True), 2000)
    assert "never finished" in hung and "stuck gcd.py:5" in hung


@given(st.integers(min_value=0, max_value=400))
def test_the_budget_holds(budget: int) -> None:
    assert len(render_failure(DETAIL, budget)) <= budget
