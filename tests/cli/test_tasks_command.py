"""`codeforge tasks` as a user runs it."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeforge.archive.model import CandidateRecord, SessionStatus
from codeforge.archive.store import Archive
from codeforge.cli.main import run
from codeforge.paths import database_path
from codeforge.tasks.github.output import read_tasks
from tests.tasks.github.histories import History
from tests.tasks.github.server import NAME, TOKEN, Answer, GitHubServer, Pull, Request, running

MANY = 30
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_API_URL", "GITHUB_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> History:
    history = History(tmp_path / "shop")
    history.commit(
        "start", {"shop/a.py": "def f():\n    return 1\n", "shop/b.py": "def total():\n    return 0\n"}
    )
    history.commit("Fix the total\n\nFix #12", {"shop/a.py": "def f():\n    return 2\n"})
    history.commit("Round (#13)", {"shop/a.py": "def f():\n    return 3\n"})
    return history


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubServer]:
    with running(GitHubServer()) as server:
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield server


def from_github(history: History, *more: str) -> int:
    return run(["tasks", "from-github", NAME, "--clone", str(history.root), *more])


def document(output: Output) -> dict[str, object]:
    found = json.loads(output.readouterr().out)
    assert found["schema_version"] == 1
    return dict(found)


def test_help(capsys: Output) -> None:
    assert run(["tasks", "--help"]) == 0
    text = capsys.readouterr().out
    assert "from-github" in text and "export-localization" in text
    assert run(["tasks", "from-github", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(option in text for option in ("--clone", "--offline", "--json", "OWNER/REPO"))


def test_tasks_by_messages(shop: History, capsys: Output) -> None:
    assert from_github(shop) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "GITHUB_TOKEN" in told.err and "2 new tasks of 2 changes (by commit messages)" in told.err
    tasks = list(read_tasks(Path("ann__shop.tasks.jsonl")))
    assert [task.issue for task in tasks] == ["Round", "Fix the total"]
    assert from_github(shop) == 0
    assert "0 new tasks of 2 changes (by commit messages), 2 were there" in capsys.readouterr().err


def test_json(shop: History, capsys: Output) -> None:
    assert from_github(shop, "--offline", "--limit", "1", "-o", "t.jsonl", "--json") == 0
    found = document(capsys)
    assert found == {
        "schema_version": 1,
        "repo": NAME,
        "file": "t.jsonl",
        "paired_by": "message",
        "added": 1,
        "before": 0,
        "changes": 2,
        "skipped": {},
        "complete": False,
    }


def test_stdout(shop: History, capsys: Output) -> None:
    assert from_github(shop, "--offline", "-o", "-") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["issue"] for line in lines] == ["Round", "Fix the total"]
    assert list(Path().glob("*.jsonl*")) == []


def test_dates_include_their_days(shop: History, capsys: Output) -> None:
    assert from_github(shop, "--offline", "--since", "2024-01-01", "--until", "2024-01-01", "--json") == 0
    assert document(capsys)["added"] == 2
    assert from_github(shop, "--offline", "--since", "2024-01-02", "-o", "other.jsonl", "--json") == 1
    assert document(capsys)["added"] == 0


def test_no_tasks_is_status_1(shop: History, capsys: Output) -> None:
    assert from_github(shop, "--offline", "--ref", "HEAD~2") == 1
    assert "0 new tasks of 0 changes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "kind", "says"),
    [
        (["not-a-name"], 2, "UsageError", "does not name a GitHub repository"),
        ([NAME, "--clone", "nowhere"], 2, "UsageError", "does not exist"),
        ([NAME, "--clone", "."], 3, "GitError", "not in a git repository"),
        ([NAME, "--clone", "shop", "--ref", "nope"], 2, "UsageError", "names no commit"),
        ([NAME, "--offline"], 3, "EnvironmentUnavailableError", "There is no clone of ann/shop"),
        ([NAME, "--clone", "shop", "-o", "-"], 2, "UsageError", "both go to stdout"),
        ([NAME, "--clone", "shop", "-o", "notes.txt"], 2, "UsageError", "something else than tasks"),
        (
            [NAME, "--clone", "shop", "-o", "notes.txt/x"],
            3,
            "EnvironmentUnavailableError",
            "can't be written",
        ),
        ([NAME, "--api-url", "nonsense"], 2, "UsageError", "no address of a GitHub API"),
        ([NAME, "--since", "yesterday"], 2, "UsageError", "yesterday"),
    ],
)
def test_failures(
    shop: History, capsys: Output, arguments: list[str], status: int, kind: str, says: str
) -> None:
    Path("notes.txt").write_text("mine\n")
    assert run(["tasks", "from-github", *arguments, "--json"]) == status
    told = capsys.readouterr()
    error = json.loads(told.out)["error"]
    assert (error["kind"], error["exit_code"]) == (kind, status)
    assert says in error["message"] and says in told.err
    assert Path("notes.txt").read_text() == "mine\n"


def test_by_the_api(shop: History, github: GitHubServer, capsys: Output) -> None:
    head = shop.git("rev-parse", "HEAD")
    github.issues |= {12: ("Wrong total", "It is 3."), 20: ("Cents are lost", "")}
    github.pulls[13] = Pull("Round", "", head, (head,), closes=(20,))
    assert from_github(shop, "--json", "-o", "t.jsonl") == 0
    assert document(capsys)["paired_by"] == "api"
    assert [task.issue for task in read_tasks(Path("t.jsonl"))] == [
        "Cents are lost",
        "Wrong total\n\nIt is 3.",
    ]
    github.script["/graphql"] = [Answer({}, 401)] * 9  # no network is needed any more
    assert from_github(shop, "--json", "-o", "u.jsonl", "--offline") == 0
    assert document(capsys)["paired_by"] == "kept answers"
    assert Path("u.jsonl").read_text() == Path("t.jsonl").read_text()


def test_a_bad_token(shop: History, github: GitHubServer, capsys: Output) -> None:
    github.script[f"/repos/{NAME}"] = [Answer({"message": "Bad credentials"}, 401)]
    assert from_github(shop) == 3
    told = capsys.readouterr().err
    assert "does not accept the token" in told and "try:  Set GITHUB_TOKEN" in told and TOKEN not in told


def grow(history: History, github: GitHubServer) -> None:
    """`MANY` more tasks, which take the server two questions."""
    for n in range(MANY):
        fix = history.commit(f"Change {n} (#{100 + n})", {"shop/a.py": f"def f():\n    return {n + 10}\n"})
        github.pulls[100 + n] = Pull(f"Change {n}", "", fix, (fix,))


def test_a_limit_that_ends_the_run(shop: History, github: GitHubServer, capsys: Output) -> None:
    grow(shop, github)
    late = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}
    known = github.answer

    def limited(request: Request) -> Answer:
        second = request.path == "/graphql" and len(github.asked("/graphql")) == 1
        return Answer({"message": "API rate limit exceeded"}, 403, late) if second else known(request)

    github.answer = limited  # type: ignore[method-assign]
    assert from_github(shop, "-o", "t.jsonl") == 3
    told = capsys.readouterr().err
    assert "rate limit is used up" in told
    assert "kept: 25 tasks are kept in t.jsonl; the same command goes on from there." in told
    assert "try:  Run the same command again then" in told
    assert len(list(read_tasks(Path("t.jsonl")))) == 25
    github.answer = known  # type: ignore[method-assign]
    assert from_github(shop, "-o", "t.jsonl") == 0
    tasks = list(read_tasks(Path("t.jsonl")))
    assert len({task.id for task in tasks}) == len(tasks) == MANY + 2


def test_ctrl_c_keeps_what_was_written(shop: History, github: GitHubServer) -> None:
    grow(shop, github)
    waiting, go_on = threading.Event(), threading.Event()
    known = github.answer

    def slow(request: Request) -> Answer:
        if request.path == "/graphql" and len(github.asked("/graphql")) == 1:
            waiting.set()
            go_on.wait(60)
        return known(request)

    github.answer = slow  # type: ignore[method-assign]
    command = [sys.executable, "-m", "codeforge", "tasks", "from-github", NAME, "--clone", str(shop.root)]
    process = subprocess.Popen(
        [*command, "-o", "t.jsonl", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert waiting.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        go_on.set()
        process.kill()
    assert process.returncode == 130
    assert "Interrupted" in err and "is kept" in err
    assert json.loads(out)["error"]["exit_code"] == 130
    assert len(list(read_tasks(Path("t.jsonl")))) == 25
    github.answer = known  # type: ignore[method-assign]
    assert from_github(shop, "-o", "t.jsonl") == 0
    assert len({task.id for task in read_tasks(Path("t.jsonl"))}) == MANY + 2


def export(*arguments: str) -> int:
    return run(["tasks", "export-localization", *arguments])


def solved_session(shop: History) -> str:
    """A session that ended with a patch of `total`."""
    base = shop.git("rev-parse", "HEAD")
    (shop.root / "shop" / "b.py").write_text("def total():\n    return 9\n")
    diff = shop.git("diff") + "\n"
    shop.git("checkout", "-q", "--", ".")
    with Archive.open(database_path()) as archive:
        task = {"repo": str(shop.root), "issue": "the total is 0", "base_commit": base}
        writer = archive.start_session("fix", task, model="m", versions={})
        writer.step("localize", {"found": ["shop/b.py:total"]})
        writer.message("user", "mend total")
        writer.candidate(CandidateRecord("c1", None, {}, [], diff, status="selected"))
        writer.finish(SessionStatus.SOLVED, {"best": "c1"})
        return writer.id


def test_training_data(shop: History, capsys: Output) -> None:
    from_github(shop, "--offline", "-o", "t.jsonl")
    session = solved_session(shop)
    capsys.readouterr()
    assert export("t.jsonl", "--clone", f"{NAME}={shop.root}", "-o", "l.jsonl", "--json") == 0
    found = document(capsys)
    assert (found["added"], found["before"], found["skipped"], found["complete"]) == (3, 0, {}, True)
    rows = {row["id"]: row for row in map(json.loads, Path("l.jsonl").read_text().splitlines())}
    assert all(row["schema_version"] == 1 for row in rows.values())
    solved = rows[f"session:{session}"]
    assert solved["gold"] == {"files": ["shop/b.py"], "functions": ["shop/b.py:total"], "classes": []}
    assert [step["kind"] for step in solved["trajectory"]] == ["localize", "message"]
    assert solved["positives"][0]["text"] == "def total():\n    return 0"
    assert "shop/a.py:f" in [each["id"] for each in solved["hard_negatives"]]
    assert export("t.jsonl", "--clone", f"{NAME}={shop.root}", "-o", "l.jsonl") == 0
    assert "0 new examples, 3 were there" in capsys.readouterr().err


def test_training_data_of_tasks_alone_and_a_limit(shop: History, capsys: Output) -> None:
    from_github(shop, "--offline", "-o", "t.jsonl")
    solved_session(shop)
    capsys.readouterr()
    clone = ("--clone", f"{NAME}={shop.root}")
    assert export("t.jsonl", *clone, "--no-sessions", "-n", "1", "-o", "l.jsonl", "--json") == 0
    assert document(capsys)["complete"] is False
    assert export("t.jsonl", *clone, "--no-sessions", "-o", "l.jsonl", "--json") == 0
    assert (len(Path("l.jsonl").read_text().splitlines()), document(capsys)["added"]) == (2, 1)


def test_training_data_of_nothing(capsys: Output) -> None:
    assert export("-o", "l.jsonl") == 1
    assert "0 new examples" in capsys.readouterr().err


def test_a_repository_that_is_not_here(shop: History, capsys: Output) -> None:
    from_github(shop, "--offline", "-o", "t.jsonl")
    capsys.readouterr()
    assert export("t.jsonl", "-o", "l.jsonl", "--json") == 1
    assert document(capsys)["skipped"] == {"no clone of ann/shop (--clone ann/shop=PATH names one)": 2}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none.jsonl"], "can't be read"),
        (["notes.txt"], "line 1, is no task"),
        (["--clone", "x"], "does not say which repository lies where"),
        (["t.jsonl", "--clone", f"{NAME}=nowhere"], "does not exist"),
        (["t.jsonl", "-o", "t.jsonl"], "something else than examples"),
    ],
)
def test_failures_of_training_data(shop: History, capsys: Output, arguments: list[str], says: str) -> None:
    from_github(shop, "--offline", "-o", "t.jsonl")
    before = Path("t.jsonl").read_text()
    Path("notes.txt").write_text("mine\n")
    capsys.readouterr()
    assert export(*arguments) == 2
    assert says in capsys.readouterr().err
    assert Path("t.jsonl").read_text() == before
