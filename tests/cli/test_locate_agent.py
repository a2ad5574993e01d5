"""`codeforge locate --agent` as a real process."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "money.py": 'def round_cents(value):\n    """Round to cents."""\n    return int(value)\n',
    "cart.py": "from money import round_cents\n\n\ndef total(items):\n    return round_cents(sum(items))\n",
}
ISSUE = "round_cents drops the cents of the total"


@pytest.fixture
def root(repository: Any) -> Path:
    return repository(FILES)


def script(root: Path, *replies: object) -> str:
    path = root.parent / "replies.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
    return f"replay:{path}"


def finish(*ids: str) -> dict[str, str]:
    places = [{"id": identity, "reason": "because"} for identity in ids]
    return {"text": json.dumps({"thought": "x", "tool": "finish", "arguments": {"locations": places}})}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "codeforge", "locate", ISSUE, *arguments]


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def sessions(root: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "codeforge", "sessions", *arguments, "--json"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_tools_with_visible_steps(root: Path, private_data: Path) -> None:
    search = {
        "text": json.dumps(
            {"thought": "x", "tool": "search_entity", "arguments": {"keywords": ["round_cents"]}}
        )
    }
    done = run(root, "--agent", "tools", "--model", script(root, search, finish("cart.py:total")))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("cart.py:4 total ")
    assert '  1.1 search_entity {"keywords": ["round_cents"]} → ' in done.stderr
    assert "  1.2 finish " in done.stderr
    assert "ranker: " in done.stderr


def test_choose_as_one_document(root: Path, private_data: Path) -> None:
    done = run(root, "--agent", "choose", "--model", script(root, "[2]"), "--json")
    document = json.loads(done.stdout)
    plain = json.loads(run(root, "--json").stdout)
    assert {item["id"] for item in document["locations"]} == {item["id"] for item in plain["locations"]}
    assert document.keys() - plain.keys() == {"agent"}
    agent = document["agent"]
    assert (agent["kind"], agent["samples"], agent["failed"], agent["interrupted"]) == ("choose", 1, 0, False)
    kinds = [step["kind"] for step in sessions(root, "show", agent["session"])["session"]["steps"]]
    assert "agent_step" in kinds


def test_a_failing_model_is_said_and_the_rankers_answer_stays(root: Path, private_data: Path) -> None:
    done = run(root, "--agent", "tools", "--model", "replay:empty", "--samples", "2")
    assert done.returncode == 0
    assert done.stdout == run(root).stdout
    assert "sample 1 failed: " in done.stderr and "2 failed" in done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_leaves_the_rankers_answer(root: Path, private_data: Path, as_json: bool) -> None:
    model = script(root, {"text": "", "delay_s": 120})
    arguments = ["--agent", "tools", "--model", model, *(["--json"] if as_json else [])]
    process = subprocess.Popen(
        command(*arguments), cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("sample 1 of 1"):
            break
    os.kill(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted; this is the ranker's answer" in errors
    plain = run(root, *(["--json"] if as_json else [])).stdout
    if as_json:
        document = json.loads(output)
        assert document["agent"]["interrupted"] is True
        assert document["locations"] == json.loads(plain)["locations"]
    else:
        assert output == plain
    (session,) = sessions(root, "list")["sessions"]
    assert session["status"] == "interrupted"


@pytest.mark.parametrize("arguments", [["--model", "x/y"], ["--samples", "2"], ["--agent", "magic"]])
def test_wrong_use(root: Path, private_data: Path, arguments: list[str]) -> None:
    done = run(root, *arguments)
    assert done.returncode == 2 and done.stdout == "" and done.stderr


def test_no_model(root: Path, private_data: Path) -> None:
    done = run(root, "--agent", "choose")
    assert done.returncode == 3
    assert "There is no local model" in done.stderr and "session " in done.stderr
