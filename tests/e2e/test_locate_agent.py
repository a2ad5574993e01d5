"""`codeforge locate --agent choose` with the real embedded model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.samples import CALC, TEST_CALC

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def codeforge(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codeforge", *arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_embedded_model_chooses(repository, with_model: str) -> None:
    root = repository({"calc.py": CALC, "test_calc.py": TEST_CALC})
    issue = "mean() returns too small values"
    done = codeforge(root, "locate", issue, "--agent", "choose", "--model", with_model, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    plain = json.loads(codeforge(root, "locate", issue, "--json").stdout)
    assert {item["id"] for item in document["locations"]} == {item["id"] for item in plain["locations"]}
    assert (document["agent"]["samples"], document["agent"]["failed"]) == (1, 0)
    assert document["locations"][0]["id"] == "calc.py:mean"
    shown = codeforge(root, "sessions", "show", document["agent"]["session"], "--json")
    session = json.loads(shown.stdout)["session"]
    (step,) = [step for step in session["steps"] if step["kind"] == "agent_step"]
    chosen = step["payload"]["observation"].splitlines()
    assert chosen and set(chosen) <= {item["id"] for item in plain["locations"]}
    assert step["tokens"]["prompt"] > step["tokens"]["completion"] > 0
    assert codeforge(root, "sessions", "verify", document["agent"]["session"]).returncode == 0
