"""Selection."""

from dataclasses import replace

from codeforge.engine.candidate import Candidate, Origin
from codeforge.engine.select import best_of
from codeforge.patch.model import Patch
from codeforge.reward.model import Reward
from codeforge.sandbox.model import CheckResult

REWARD = Reward(0.5, 0.5, 0.5, 1.0, None, 0.5, False, "", "fix-1")
CHECKED = Candidate("c1", Patch((), ()), "", Origin("model", "x"), (CheckResult("full", "t", 1),), REWARD)


def test_accepted_before_a_higher_total() -> None:
    accepted = replace(CHECKED, id="c2", reward=replace(REWARD, total=0.1, accepted=True))
    assert best_of([CHECKED, accepted], {}) == accepted


def test_higher_total_then_votes_then_order() -> None:
    better = replace(CHECKED, id="c2", reward=replace(REWARD, total=0.9))
    twin = replace(CHECKED, id="c3")
    assert best_of([CHECKED, better, twin], {}) == better
    assert best_of([CHECKED, twin], {"c3": 2}) == twin
    assert best_of([CHECKED, twin], {}) == CHECKED


def test_unchecked_candidates_are_chosen_by_votes() -> None:
    first, second = replace(CHECKED, checks=()), replace(CHECKED, id="c2", checks=())
    assert best_of([first, second], {"c2": 3}) == second


def test_nothing_of_nothing() -> None:
    assert best_of([], {}) is None
