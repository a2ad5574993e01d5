"""From real histories to tasks, with and without an API."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codeforge.errors import CodeforgeError
from codeforge.tasks.github.address import Endpoint, RepositoryName
from codeforge.tasks.github.build import Selection, Source, Summary, build_tasks
from codeforge.tasks.github.failures import GitHubError, NotFoundError
from codeforge.tasks.github.output import GrowingFile, read_tasks
from codeforge.tasks.spec import TaskSpec
from tests.tasks.github.histories import History
from tests.tasks.github.server import NAME, TOKEN, Answer, GitHubServer, Pull

NOBODY = Endpoint("http://127.0.0.1:9", "http://127.0.0.1:9/graphql", "http://127.0.0.1:9")
ONE, TWO, THREE = (f"def f():\n    return {n}\n" for n in (1, 2, 3))


class Run:
    """Runs on one history with one data folder."""

    def __init__(self, history: History, folder: Path, endpoint: Endpoint = NOBODY) -> None:
        self.history, self.folder, self.endpoint = history, folder, endpoint
        self.told: list[str] = []
        self.tasks: list[TaskSpec] = []

    def __call__(
        self, selection: Selection | None = None, out: GrowingFile | None = None, *, offline: bool = False
    ) -> Summary:
        self.tasks.clear()
        source = Source(
            RepositoryName.parse(NAME), self.endpoint, self.history.root, self.folder, offline=offline
        )
        return build_tasks(source, selection or Selection(), out, self.tasks.append, self.told.append)


@pytest.fixture
def run(history: History, tmp_path: Path) -> Run:
    return Run(history, tmp_path / "data")


@pytest.fixture
def online(history: History, tmp_path: Path, github: GitHubServer) -> Run:
    return Run(history, tmp_path / "data", github.endpoint())


def shop(history: History) -> tuple[str, str, str]:
    """A history with every sort of change; its two tasks and the base of the first."""
    base = history.commit("start", {"shop/a.py": ONE, "README.md": "x\n"})
    first = history.commit("Fix the total\n\nFix #12", {"shop/a.py": TWO, "tests/test_a.py": "x = 1\n"})
    history.commit("Say more (#13)", {"README.md": "y\n"})
    history.commit("Test more (#14)", {"tests/test_a.py": "x = 2\n"})
    history.commit("Tidy up", {"shop/b.py": ONE})
    history.commit("Fix #15", {"shop/b.py": TWO})
    history.commit("Big (#16)", {f"shop/{n}.py": ONE for n in range(3)})
    history.commit("Bigger (#17)", {f"shop/{n}.py": TWO for n in range(3)})
    bad = history.commit("Bad (#18)", {"shop/b.py": THREE})
    history.revert(bad)
    second = history.commit("Closes #3: prices (#19)", {"shop/a.py": THREE})
    return base, first, second


def test_tasks_of_a_history(run: Run, history: History) -> None:
    base, first, second = shop(history)
    summary = run(Selection(max_files=2))
    assert [task.meta["fix_commit"] for task in run.tasks] == [second, first]
    task = run.tasks[1]
    assert task.id == f"ann__shop-{first[:10]}"
    assert (task.repo, task.base_commit, task.issue, task.source) == (NAME, base, "Fix the total", "github")
    assert dict(task.meta) == {
        "meta_version": "1",
        "fix_commit": first,
        "fixed_at": "2024-01-01T01:00:00+00:00",
        "issues": "[12]",
        "pull_request": "",
        "text_source": "commit",
        "paired_by": "message",
        "gold_files": '["shop/a.py"]',
        "gold_functions": '["shop/a.py:f"]',
        "gold_classes": "[]",
        "created_files": "[]",
        "test_files": '["tests/test_a.py"]',
        "changed_lines": "2",
    }
    assert run.tasks[0].issue == "prices" and run.tasks[0].meta["pull_request"] == "19"
    assert (summary.added, summary.changes, summary.complete, summary.paired_by) == (2, 10, True, "message")
    assert dict(summary.skipped) == {
        "no product file changed": 3,
        "closes nothing": 1,
        "no text": 1,
        "more than 2 product files": 1,
        "a revert": 1,
        "reverted later": 1,
    }
    assert sum(summary.skipped.values()) + summary.added == summary.changes
    assert "going by commit messages" in run.told[-1]


def test_selections(run: Run, history: History) -> None:
    _, first, second = shop(history)
    run(Selection(issues_only=True, max_files=2))
    assert [task.meta["fix_commit"] for task in run.tasks] == [second, first]
    run(Selection(until=datetime(2024, 1, 1, 1, tzinfo=UTC)))
    assert [task.meta["fix_commit"] for task in run.tasks] == [first]
    run(Selection(since=datetime(2024, 1, 1, 10, tzinfo=UTC)))
    assert [task.meta["fix_commit"] for task in run.tasks] == [second]
    run(Selection(ref=first))
    assert [task.meta["fix_commit"] for task in run.tasks] == [first]
    summary = run(Selection(limit=1))
    assert len(run.tasks) == 1 and not summary.complete


def test_a_run_that_was_ended_goes_on(run: Run, history: History, tmp_path: Path) -> None:
    shop(history)
    whole = tmp_path / "whole.jsonl"
    with GrowingFile(whole, {}, "tasks", "edit_scope") as out:
        run(out=out)
    parts = tmp_path / "parts.jsonl"
    for limit in (1, 2, None, None):
        with GrowingFile(parts, {}, "tasks", "edit_scope") as out:
            summary = run(Selection(limit=limit), out)
    assert parts.read_text() == whole.read_text()
    assert (summary.added, summary.before) == (0, 3)
    new = history.commit("Fix #40: more", {"shop/a.py": ONE})
    with GrowingFile(parts, {}, "tasks", "edit_scope") as out:
        summary = run(out=out)
    assert [task.meta["fix_commit"] for task in run.tasks] == [new]
    assert summary.skipped["looked at by an earlier run"] == 5


def test_a_limit_is_obeyed_exactly_and_says_when_nothing_is_left(run: Run, history: History) -> None:
    shop(history)
    assert run(Selection(limit=2)).complete is False
    assert run(Selection(limit=3)).complete is True


def test_by_the_api(online: Run, history: History, github: GitHubServer) -> None:
    history.commit("start", {"shop/a.py": ONE})
    fix = history.commit("Round (#15)", {"shop/a.py": TWO})
    github.issues[12] = ("Wrong total", f"It is 3.\nMy token is {TOKEN}")
    github.pulls[15] = Pull("Round prices", "fixes #12", fix, (fix,))
    summary = online()
    (task,) = online.tasks
    assert summary.paired_by == "api"
    assert task.issue.startswith("Wrong total\n\nIt is 3.") and TOKEN not in task.issue
    assert (task.meta["issues"], task.meta["text_source"], task.meta["paired_by"]) == ("[12]", "issue", "api")


def test_offline_what_github_answered_earlier_counts(
    online: Run, run: Run, history: History, github: GitHubServer
) -> None:
    history.commit("start", {"shop/a.py": ONE})
    fix = history.commit("Round (#15)", {"shop/a.py": TWO})
    github.issues[12] = ("Wrong total", "")
    github.pulls[15] = Pull("Round prices", "fixes #12", fix, (fix,))
    online()
    first, asked = list(online.tasks), len(github.requests)
    new = history.commit("Fix #20: tax", {"shop/a.py": THREE})
    summary = online(offline=True)
    assert summary.paired_by == "kept answers"
    assert online.tasks[1:] == first and len(github.requests) == asked
    assert (online.tasks[0].meta["fix_commit"], online.tasks[0].meta["paired_by"]) == (new, "message")


def test_fresh_answers_are_not_asked_for_again(online: Run, history: History, github: GitHubServer) -> None:
    history.commit("start", {"shop/a.py": ONE})
    fix = history.commit("Round (#15)", {"shop/a.py": TWO})
    github.pulls[15] = Pull("Round prices", "", fix, (fix,))
    online()
    asked = len(github.asked("/graphql"))
    online()
    assert asked and len(github.asked("/graphql")) == asked


def test_a_rebased_pull_request_is_one_task(online: Run, history: History, github: GitHubServer) -> None:
    base = history.commit("start", {"shop/a.py": ONE, "shop/b.py": ONE})
    one = history.commit("step one", {"shop/a.py": TWO})
    last = history.commit("step two", {"shop/b.py": TWO})
    github.pulls[15] = Pull("Round prices", "", last, (one, last))
    online()
    (task,) = online.tasks
    assert (task.base_commit, task.meta["fix_commit"]) == (base, last)
    assert json.loads(task.meta["gold_files"]) == ["shop/a.py", "shop/b.py"]


def test_a_renamed_repository(online: Run, history: History, github: GitHubServer) -> None:
    history.commit("start", {"shop/a.py": ONE})
    fix = history.commit("Round (#15)", {"shop/a.py": TWO})
    github.full_name = "ann/store"
    github.pulls[15] = Pull("Round prices", "", fix, (fix,), home="ann/store")
    online()
    assert online.told == ["ann/shop is ann/store now"]
    assert online.tasks[0].issue == "Round prices"


def test_a_wrong_name_shows_at_once(online: Run, history: History, github: GitHubServer) -> None:
    history.commit("start", {"shop/a.py": ONE})
    github.script[f"/repos/{NAME}"] = [Answer({"message": "Not Found"}, 404)]
    with pytest.raises(NotFoundError, match="has no /repos/ann/shop") as told:
        online()
    assert "--offline" in told.value.hint
    assert len(github.requests) == 1


def test_what_was_made_before_a_failure_is_kept(
    online: Run, history: History, github: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit("start", {"shop/a.py": "".join(f"def f{n}():\n    return 0\n" for n in range(30))})
    text = (history.root / "shop" / "a.py").read_text()
    for n in range(30):
        text = text.replace(f"def f{n}():\n    return 0", f"def f{n}():\n    return 1")
        fix = history.commit(f"Fix {n} (#{n + 100})", {"shop/a.py": text})
        github.pulls[n + 100] = Pull(f"Fix {n}", "", fix, (fix,))
    path = tmp_path / "t.jsonl"

    def full() -> None:
        with GrowingFile(path, {}, "tasks", "edit_scope") as out:
            online(out=out)

    known = github.answer

    def failing(request: object) -> Answer:
        asked = len(github.asked("/graphql"))
        return Answer({}, 401) if asked >= 1 else known(request)  # type: ignore[arg-type]

    monkeypatch.setattr(github, "answer", failing)
    with pytest.raises(GitHubError, match="does not accept the token"):
        full()
    assert len(list(read_tasks(path))) == 25
    monkeypatch.setattr(github, "answer", known)
    full()
    tasks = list(read_tasks(path))
    assert len({task.id for task in tasks}) == len(tasks) == 30


def test_objects_that_are_missing(run: Run, history: History) -> None:
    history.commit("start", {"shop/a.py": ONE})
    history.commit("Fix it (#2)", {"shop/a.py": TWO})
    blob = history.git("rev-parse", "HEAD~1:shop/a.py")
    (history.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    summary = run()
    assert summary.skipped == {"objects missing from the clone": 1}


def test_an_unknown_ref(run: Run, history: History) -> None:
    history.commit("start", {"shop/a.py": ONE})
    with pytest.raises(CodeforgeError, match="'none' names no commit"):
        run(Selection(ref="none"))
