"""Many variants of one tree judged from one interpreter start: real pytest in the real cage."""

import sys
from pathlib import Path

import pytest

from codeforge.git import GitRepo
from codeforge.sandbox.model import Limits
from codeforge.sandbox.probe import probe_env
from codeforge.sandbox.screen.screen import ScreenJob, ScreenPlan, ScreenResult, screen
from codeforge.sandbox.workspace import Workspace, WorkspacePool
from tests.engine.samples import CALC, TEST_CALC

COMMAND = f"{sys.executable} -m pytest -q -p no:cacheprovider"
GOOD = CALC.replace("(len(values) + 1)", "len(values)")
VARIANTS = {
    "same": CALC,
    "crash": CALC.replace("total = 0", "total = None"),
    "broken": "def mean(:\n",
    "hang": CALC.replace("    total = 0\n", "    while True:\n        pass\n"),
    "good": GOOD,
    "exits": "import os\nos._exit(0)\n",
}


@pytest.fixture
def root(repository) -> Path:
    return repository({"calc.py": CALC, "test_calc.py": TEST_CALC})


def plan(stop_after: int = 99) -> ScreenPlan:
    def env(workspace: Workspace) -> dict[str, str]:
        return probe_env(
            workspace.reports / "screen.jsonl",
            root=workspace.cage().inside(workspace.tree),
            first=["test_calc.py::test_mean"],
            fail_fast=True,
            coverage=False,
            test_limit_s=1.0,
            base=dict(workspace.cage().env),
        )

    return ScreenPlan(COMMAND, env, Limits(wall_s=120), job_limit_s=20, stop_after=stop_after)


def judge(root: Path, names: list[str], workers: int, stop_after: int = 99) -> list[ScreenResult]:
    jobs = [ScreenJob(name, "calc.py", VARIANTS[name].encode()) for name in names]
    with WorkspacePool.open(GitRepo.discover(root)) as pool:
        workspaces = [pool.acquire() for _ in range(workers)]
        results = screen(workspaces, jobs, plan(stop_after))
        for workspace in workspaces:
            # Every variant was taken back.
            assert (workspace.tree / "calc.py").read_text() == CALC
    return results


def test_verdicts(root: Path) -> None:
    names = ["same", "crash", "broken", "hang", "good"]
    verdicts = {result.id: result.passed for result in judge(root, names, workers=1)}
    assert verdicts == {"same": False, "crash": False, "broken": False, "hang": False, "good": True}


def test_every_workspace_judges(root: Path) -> None:
    results = judge(root, ["good", "same", "good", "same"][:2], workers=2)
    assert [(result.id, result.passed) for result in results] == [("good", True), ("same", False)]
    swapped = judge(root, ["same", "good"], workers=2)
    assert [(result.id, result.passed) for result in swapped] == [("same", False), ("good", True)]


def test_the_first_pass_ends_it(root: Path) -> None:
    results = judge(root, ["same", "good", "crash", "broken"], workers=1, stop_after=1)
    assert [result.id for result in results] == ["same", "good"]


def test_the_users_tree_is_not_touched(root: Path) -> None:
    judge(root, ["good"], workers=1)
    assert (root / "calc.py").read_text() == CALC
