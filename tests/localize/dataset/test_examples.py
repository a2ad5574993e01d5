"""Examples from tasks and from recorded sessions."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from codeforge.archive.model import CandidateRecord, SessionRecord, SessionStatus
from codeforge.archive.store import Archive
from codeforge.localize.dataset.examples import (
    Unusable,
    accepted_patch,
    example_of_session,
    example_of_task,
    trajectory_of,
)
from codeforge.localize.dataset.record import GoldLocations
from codeforge.tasks.spec import TaskSpec
from tests.tasks.github.histories import History

SECRET = "ghp_" + "a1B2" * 9
META = {
    "gold_files": '["shop/a.py"]',
    "gold_functions": '["shop/a.py:f"]',
    "gold_classes": "[]",
    "created_files": '["shop/new.py"]',
    "test_files": '["tests/test_a.py"]',
}


def task(**changes: object) -> TaskSpec:
    values: dict[str, object] = {
        "id": "t1",
        "repo": "ann/shop",
        "base_commit": "abc",
        "issue": f" It fails with {SECRET}\n",
        "meta": META,
        **changes,
    }
    return TaskSpec(**values)  # type: ignore[arg-type]


def test_a_task() -> None:
    example = example_of_task(task())
    assert not isinstance(example, Unusable)
    assert (example.id, example.source, example.repo) == ("task:t1", "task", "ann/shop")
    assert example.gold == GoldLocations(("shop/a.py",), ("shop/a.py:f",))
    assert example.beside == ("shop/new.py", "tests/test_a.py") and example.trajectory == ()
    assert example.query.startswith("It fails with") and SECRET not in example.query


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"meta": {}}, "it has no gold files"),
        ({"meta": {**META, "gold_files": "[]"}}, "it has no gold files"),
        ({"meta": {**META, "gold_files": "shop/a.py"}}, "its gold can't be read"),
        ({"meta": {**META, "gold_classes": "[1]"}}, "its gold can't be read"),
        ({"meta": {**META, "test_files": '{"a": 1}'}}, "its gold can't be read"),
        ({"issue": " \n"}, "it has no text"),
        ({"base_commit": ""}, "it has no base commit"),
    ],
)
def test_tasks_that_are_none(changes: dict[str, object], reason: str) -> None:
    assert example_of_task(task(**changes)) == Unusable(reason)


OLD = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "shop")
    made.commit("start", {"shop/a.py": OLD, "tests/test_a.py": "def test(): pass\n"})
    return made


def diff(history: History, files: Mapping[str, str]) -> str:
    for path, text in files.items():
        (history.root / path).parent.mkdir(exist_ok=True)
        (history.root / path).write_text(text)
    history.git("add", "-A")
    text = history.git("diff", "--cached") + "\n"
    history.git("reset", "-q", "--hard")
    return text


def session(
    tmp_path: Path,
    history: History,
    patch: str,
    status: SessionStatus = SessionStatus.SOLVED,
    result: Mapping[str, object] | None = None,
    base: str | None = None,
) -> SessionRecord:
    with Archive.open(tmp_path / "archive.db") as archive:
        given = history.git("rev-parse", "HEAD") if base is None else base
        about = {"repo": str(history.root), "issue": "f is wrong", "base_commit": given}
        writer = archive.start_session("fix", about, model="m", versions={})
        writer.step("localize", {"found": ["shop/a.py:f"]})
        writer.message("user", f"where? {SECRET}")
        writer.message("assistant", "in f")
        writer.candidate(CandidateRecord("c1", None, {}, [], "other", status="checked"))
        writer.step("note", {"text": "later"})
        writer.candidate(CandidateRecord("c2", None, {}, [], patch, status="selected"))
        writer.finish(status, {"best": "c2"} if result is None else result)
        return archive.session(writer.id)


def test_a_session(history: History, tmp_path: Path) -> None:
    files = {
        "shop/a.py": OLD.replace("return 1", "return 2", 1),
        "shop/new.py": "x = 1\n",
        "tests/test_a.py": "def test(): assert True\n",
    }
    record = session(tmp_path, history, diff(history, files))
    patch = accepted_patch(record)
    assert isinstance(patch, CandidateRecord) and patch.id == "c2"
    example = example_of_session(record, patch, history.repo)
    assert not isinstance(example, Unusable)
    assert (example.id, example.source) == (f"session:{record.summary.id}", "session")
    assert (example.query, example.base_commit) == ("f is wrong", history.git("rev-parse", "HEAD"))
    assert example.gold == GoldLocations(("shop/a.py",), ("shop/a.py:f",))
    assert example.beside == ("shop/new.py", "tests/test_a.py")
    assert example.trajectory == trajectory_of(record)


def test_a_trajectory_ends_at_the_first_candidate(history: History, tmp_path: Path) -> None:
    first, *messages = trajectory_of(session(tmp_path, history, "x"))
    assert first == {"kind": "localize", "payload": {"found": ["shop/a.py:f"]}}
    assert [(each["kind"], each["role"]) for each in messages] == [
        ("message", "user"),
        ("message", "assistant"),
    ]
    assert SECRET not in str(messages) and messages[1]["content"] == "in f"


def test_without_a_best_one_what_was_selected_last_counts(history: History, tmp_path: Path) -> None:
    patch = accepted_patch(session(tmp_path, history, "x", result={}))
    assert isinstance(patch, CandidateRecord) and patch.id == "c2"


@pytest.mark.parametrize(
    ("status", "patch", "reason"),
    [
        (SessionStatus.NO_PATCH, "x", "it was not solved"),
        (SessionStatus.ERROR, "x", "it was not solved"),
        (SessionStatus.SOLVED, " \n", "no patch is recorded"),
    ],
)
def test_sessions_without_a_patch(
    history: History, tmp_path: Path, status: SessionStatus, patch: str, reason: str
) -> None:
    assert accepted_patch(session(tmp_path, history, patch, status)) == Unusable(reason)


def unusable(record: SessionRecord, history: History) -> object:
    patch = accepted_patch(record)
    assert isinstance(patch, CandidateRecord)
    return example_of_session(record, patch, history.repo)


def test_patches_that_are_no_examples(history: History, tmp_path: Path) -> None:
    good = diff(history, {"shop/a.py": OLD.replace("return 1", "return 2", 1)})
    tests = diff(history, {"tests/test_a.py": "def test(): assert True\n"})
    other = good.replace("-    return 1", "-    return 9")
    for patch, base, reason in (
        (tests, None, "its patch changes no product code"),
        (other, None, "a patched file had uncommitted changes"),
        ("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n", None, "its patch can't be read"),
        (good, "0" * 40, "its base commit or a patched file is not in the repository"),
        (good, "", "it has no base commit"),
    ):
        assert unusable(session(tmp_path, history, patch, base=base), history) == Unusable(reason)
