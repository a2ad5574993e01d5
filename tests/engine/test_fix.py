"""`fix` from the API: real git, real pytest in the real cage, scripted answers."""

import sys
import threading
from pathlib import Path

import pytest

from codeforge.engine.events import CandidateChecked, Event, ProposalRefused
from codeforge.engine.outcome import FixOptions, FixStatus
from codeforge.engine.session import FixedSession, FixOrder, fix_in_repository
from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.models.protocol import ChatModel
from codeforge.models.replay import ReplayModel, Reply
from tests.engine.samples import CALC, GOOD_ANSWER, PYTEST, UNITTEST_CALC, WRONG_ANSWER

ISSUE = "mean() is too small"


def no_model() -> ChatModel:
    raise EnvironmentUnavailableError("there is no model here")


def run(
    root: Path,
    answers: list[str] | None,
    *,
    test: str | None = PYTEST,
    mutations: int = 0,
    scope: tuple[str, ...] = (),
    candidates: int | None = None,
    issue: str = ISSUE,
) -> tuple[FixedSession, list[Event]]:
    events: list[Event] = []
    order = FixOrder(
        where=root,
        issue=issue,
        test_command=test,
        scope=scope,
        options=FixOptions(candidates=candidates or len(answers or [1]), mutations=mutations, timeout_s=60),
        model_name="replay",
        open_model=no_model if answers is None else lambda: ReplayModel("r", [Reply(a) for a in answers]),
        require_isolation=False,
        workers=2,
    )
    return fix_in_repository(order, events.append, threading.Event()), events


def snapshot(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and ".codeforge" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


def test_a_good_answer_solves_and_the_tree_is_untouched(broken: Path) -> None:
    (broken / "notes.txt").write_text("untracked\n")
    before = snapshot(broken)
    done, _ = run(broken, [GOOD_ANSWER])
    result = done.result
    assert result.status is FixStatus.SOLVED
    assert result.verified_by == "tests"
    assert result.best is not None
    assert "+    return total / len(values)\n" in result.best.diff
    assert [check.stage for check in result.best.checks] == ["probe", "full"]
    assert result.locations[0].entity.id == "calc.py:mean"
    assert snapshot(broken) == before


def test_mutations_need_no_model(broken: Path) -> None:
    done, _ = run(broken, None, mutations=100)
    assert done.result.status is FixStatus.SOLVED
    assert done.result.model_calls == 0
    assert done.result.best is not None
    assert done.result.best.origin.proposer == "mutation"


def test_without_a_passing_mutation_the_model_is_missed(broken: Path) -> None:
    with pytest.raises(EnvironmentUnavailableError, match="no model"):
        run(broken, None)


def test_a_second_round_sees_why_the_first_failed(broken: Path) -> None:
    done, events = run(broken, [WRONG_ANSWER, GOOD_ANSWER])
    assert done.result.status is FixStatus.SOLVED
    checked = [event.candidate for event in events if isinstance(event, CandidateChecked)]
    assert [c.reward.accepted for c in checked] == [False, True]
    assert checked[1].origin.round == 2
    assert checked[1].parent == checked[0].id


def test_nothing_passes(broken: Path) -> None:
    done, _ = run(broken, [WRONG_ANSWER])
    assert done.result.status is FixStatus.NO_PATCH
    assert done.result.best is None
    assert done.result.nearest is not None
    assert "2 test(s) fail" in done.result.nearest.reward.diagnosis


def test_changing_the_tests_is_refused(broken: Path) -> None:
    block = "<<<<<<< SEARCH\n    assert mean([2, 4]) == 3\n=======\n    assert True\n>>>>>>> REPLACE\n"
    cheat = f"test_calc.py\n{block}"
    done, events = run(broken, [cheat])
    assert done.result.status is FixStatus.NO_PATCH
    refused = [event.reason for event in events if isinstance(event, ProposalRefused)]
    assert any("is a test" in reason for reason in refused)


@pytest.mark.parametrize(
    "cheat",
    [
        "import os\nos._exit(0)\n\n\ndef mean(values):\n",
        "import pytest\npytest.skip(allow_module_level=True)\n\n\ndef mean(values):\n",
    ],
    ids=["exit", "skip"],
)
def test_gaming_the_run_is_rejected(broken: Path, cheat: str) -> None:
    answer = f"calc.py\n<<<<<<< SEARCH\ndef mean(values):\n=======\n{cheat}>>>>>>> REPLACE\n"
    done, _ = run(broken, [answer])
    assert done.result.status is FixStatus.NO_PATCH


def test_without_tests_nothing_is_verified(repository) -> None:
    root = repository({"calc.py": "def mean(values):\n    return sum(values)\n"})
    answer = (
        "calc.py\n<<<<<<< SEARCH\n    return sum(values)\n=======\n"
        "    return sum(values) / len(values)\n>>>>>>> REPLACE\n"
    )
    done, _ = run(root, [answer, "nothing useful", answer], test=None)
    assert done.result.status is FixStatus.UNVERIFIED
    assert done.result.verified_by == "nothing"


def test_tests_that_pass_before_prove_only_that_nothing_broke(repository) -> None:
    root = repository(
        {
            "calc.py": "def double(x):\n    return x + x\n",
            "test_calc.py": ("from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"),
        }
    )
    answer = "calc.py\n<<<<<<< SEARCH\n    return x + x\n=======\n    return 2 * x\n>>>>>>> REPLACE\n"
    done, _ = run(root, [answer])
    assert done.result.status is FixStatus.SOLVED
    assert done.result.verified_by == "regressions"


def test_scope_is_kept(broken: Path) -> None:
    done, events = run(broken, [GOOD_ANSWER], scope=("other/*",))
    assert done.result.status is FixStatus.NO_PATCH
    assert any(isinstance(event, ProposalRefused) for event in events)


def test_a_dirty_tree_is_what_is_fixed(broken: Path) -> None:
    (broken / "calc.py").write_text((broken / "calc.py").read_text().replace("+ 1)", "+ 3)"))
    done, _ = run(broken, [GOOD_ANSWER.replace("+ 1)", "+ 3)")])
    assert done.result.status is FixStatus.SOLVED


def test_unittest_commands_work_without_a_probe(repository) -> None:
    root = repository({"calc.py": CALC, "test_calc.py": UNITTEST_CALC})
    done, _ = run(root, [GOOD_ANSWER], test=f"{sys.executable} -m unittest -v")
    assert done.result.status is FixStatus.SOLVED
    assert done.result.verified_by == "tests"


def test_an_empty_issue_is_a_usage_error(broken: Path) -> None:
    with pytest.raises(UsageError):
        run(broken, [GOOD_ANSWER], issue="  \n")


def test_mutations_also_work_with_other_commands(repository) -> None:
    root = repository({"calc.py": CALC, "test_calc.py": UNITTEST_CALC})
    done, _ = run(root, None, test=f"{sys.executable} -m unittest -v", mutations=100)
    assert done.result.status is FixStatus.SOLVED
    assert done.result.mutants_tried > 0
