"""The product as a person uses it: real processes, real git, the real cage and the real embedded model."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.samples import CALC, PYTEST, TEST_CALC

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]


def codeforge(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "codeforge", *arguments],
        cwd=root,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_fix_with_the_model_alone_then_commit(repository, with_model: str, git_identity) -> None:
    root = repository({"calc.py": CALC, "test_calc.py": TEST_CALC})
    done = codeforge(
        root,
        *("fix", "mean() returns too small values", "--test", PYTEST, "--model", with_model),
        *("--commit", "--json"),
        CODEFORGE_MUTATIONS="0",
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["best"]["origin"]["proposer"] == "model"
    assert document["commit"]
    tests = subprocess.run(PYTEST.split(), cwd=root, capture_output=True, check=False)
    assert tests.returncode == 0
    shown = codeforge(root, "sessions", "show", document["session"], "--json")
    session = json.loads(shown.stdout)["session"]
    assert session["summary"]["status"] == "solved"
    assert_one_prefill_a_round(session)
    assert codeforge(root, "sessions", "verify", document["session"]).returncode == 0


def assert_one_prefill_a_round(session: dict[str, list[dict[str, Any]]]) -> None:
    """N answers to one prompt evaluate it once, but for a last token each."""
    rounds: list[list[dict[str, int]]] = []
    for step in session["steps"]:
        if step["kind"] == "ask":
            rounds.append([])
        elif step["kind"] == "answer":
            rounds[-1].append(step["payload"]["usage"])
    assert rounds
    for answers in rounds:
        evaluated = sum(usage["prompt_tokens_evaluated"] for usage in answers)
        assert evaluated <= answers[0]["prompt_tokens"] + len(answers)


def test_demo(tmp_path: Path, with_model: str) -> None:
    done = codeforge(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "tests before: 5 test(s), 1 failing" in done.stdout
    assert "tests after:  5 test(s), all pass" in done.stdout
    assert "where it is:" in done.stdout
    assert "receipt.py" in done.stdout
    assert "cost:" in done.stdout
