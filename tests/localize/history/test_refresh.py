"""What is read, kept and reused, and what happens when it can't be."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from codeforge.localize.history import store
from codeforge.localize.history.commits import Commit, Commits
from codeforge.localize.history.history import History
from tests.localize.history.conftest import Past, answers, edited


@pytest.fixture
def line(past: Past) -> Past:
    """Six commits on one branch."""
    past.commit("start of the shop", {"cart.py": "a", "test_cart.py": "b", "CHANGES": "0"})
    for number in range(1, 6):
        past.commit(
            f"commit {number}: carts, quiche", {f"{'cart' if number % 2 else 'late'}.py": f"c{number}"}
        )
    return past


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits that were read from git."""
    seen: list[str] = []
    read = Commits.read

    def spy(commits: Commits, shas: Sequence[str]) -> Iterator[Commit]:
        seen.extend(shas)
        return read(commits, shas)

    monkeypatch.setattr(Commits, "read", spy)
    return seen


def database(root: Path) -> Path:
    return root / ".codeforge" / "index" / "history.db"


def fresh(past: Past, tmp_path: Path) -> object:
    """The answers of a clone that has only what HEAD reaches, and never was indexed."""
    clone = tmp_path / "fresh"
    shutil.rmtree(clone, ignore_errors=True)
    clone.mkdir()
    head = past.git("rev-parse", "HEAD")
    for command in (
        ("init", "--quiet"),
        ("fetch", "--quiet", str(past.root), head),
        ("checkout", "--quiet", head),
    ):
        subprocess.run(["git", *command], cwd=clone, check=True, capture_output=True)
    return answers(History.open(clone))


class TestOnlyWhatHeadReaches:
    def test_later_commits_do_not_leak_into_an_older_head(self, line: Past, tmp_path: Path) -> None:
        newest = answers(History.open(line.root))
        line.at("main~3")
        history = History.open(line.root)
        assert len(history) == 3
        assert history.similar_commits("commit 5") != []
        assert line.git("rev-parse", "main") not in dict(history.similar_commits("commit 5 carts", 99))
        assert answers(history) == fresh(line, tmp_path) != newest

    def test_nor_those_of_other_branches(self, line: Past, tmp_path: Path) -> None:
        line.commit("zebra in carts", {"zebra.py": "z", "cart.py": "zz"}, branch="side", start="main~2")
        History.open(line.at("side"))
        line.at("main")
        history = History.open(line.root)
        assert history.similar_commits("zebra") == []
        assert history.change_count("zebra.py") == 0
        assert answers(history) == fresh(line, tmp_path)

    def test_an_untouched_working_tree_does_not_matter(self, line: Past) -> None:
        (line.root / "cart.py").write_text("changed, uncommitted\n")
        assert History.open(line.root).last_changed("cart.py") == 0


class TestIncremental:
    def test_only_new_commits_are_read(self, line: Past, reads: list[str]) -> None:
        History.open(line.root)
        assert len(reads) == 6
        reads.clear()
        new = line.commit("one more", {"new.py": "n"})
        assert History.open(line.root).change_count("new.py") == 1
        assert reads == [new]

    def test_an_unchanged_head_costs_one_process(
        self, line: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from codeforge.git import GitRepo

        repo = GitRepo.discover(line.root)
        first = answers(History.open(line.root, repo=repo))
        trace = tmp_path / "trace"
        monkeypatch.setenv("GIT_TRACE", str(trace))
        history = History.open(line.root, repo=repo)
        monkeypatch.delenv("GIT_TRACE")
        assert trace.read_text().count("trace: built-in: git ") == 1
        assert answers(history) == first

    def test_a_branch_switch_reads_nothing_twice(self, line: Past, reads: list[str]) -> None:
        side = line.commit("side", {"side.py": "s"}, branch="side", start="main~2")
        main = answers(History.open(line.root))
        reads.clear()
        assert History.open(line.at(side)).change_count("side.py") == 1
        assert reads == [side]
        assert answers(History.open(line.at("main"))) == main
        History.open(line.at("main~4"))
        assert reads == [side]

    def test_older_commits_fill_up_when_head_goes_back(self, line: Past) -> None:
        assert len(History.open(line.root, most_commits=3)) == 3
        line.at("main~2")
        history = History.open(line.root, most_commits=3)
        assert len(history) == 3
        assert history.last_changed("late.py") == 1

    def test_the_oldest_fall_out_when_head_goes_on(self, line: Past) -> None:
        History.open(line.root, most_commits=2)
        line.commit("one more", {"new.py": "n"})
        history = History.open(line.root, most_commits=2)
        assert len(history) == 2
        assert set(history.recency()) == {"new.py", "cart.py"}

    def test_a_head_that_git_has_lost(self, line: Past, tmp_path: Path) -> None:
        lost = line.commit("lost", {"lost.py": "l"}, branch="side", start="main~1")
        History.open(line.at(lost))
        line.git("symbolic-ref", "HEAD", "refs/heads/main")
        line.git("branch", "--quiet", "-D", "side")
        line.git("reflog", "expire", "--expire=now", "--all")
        line.git("prune", "--expire=now")
        assert subprocess.run(["git", "cat-file", "-e", lost], cwd=line.root, check=False).returncode != 0
        assert answers(History.open(line.root)) == fresh(line, tmp_path)

    def test_many_heads_are_remembered_not_all(self, line: Past) -> None:
        for number in range(store.MOST_VIEWS + 3):
            line.commit(f"more {number}", {"m.py": f"m{number}"})
            History.open(line.root)
        with sqlite3.connect(database(line.root)) as connection:
            assert connection.execute("SELECT count(*) FROM view").fetchone() == (store.MOST_VIEWS,)

    @pytest.mark.parametrize("seed", range(3))
    def test_the_way_to_a_head_makes_no_difference(self, past: Past, tmp_path: Path, seed: int) -> None:
        chance = random.Random(seed)
        shas = [past.commit("start", {f"f{number}.py": f"w{number}" for number in range(5)})]
        tips = ["main"]
        for number in range(20):
            branch = chance.choice(tips)
            kind = chance.random()
            if kind < 0.2 and len(tips) < 4:
                tips.append(f"b{number}")
                shas.append(
                    past.commit(
                        f"fox {number}", {f"n{number}.py": f"n{number}"}, branch=tips[-1], start=branch
                    )
                )
            elif kind < 0.4 and branch != (other := chance.choice(tips)):
                shas.append(past.commit("merge", merges=f"refs/heads/{other}", branch=branch))
            elif kind < 0.6:
                names = past.git("ls-tree", "-r", "--name-only", branch).split()
                moved = {chance.choice(names): f"moved{number}.py"}
                shas.append(past.commit(f"parser moved {number}", moved=moved, branch=branch))
            else:
                files = {f"f{chance.randrange(5)}.py": f"w{number}", "CHANGES": f"c{number}"}
                shas.append(past.commit(f"quiche {number} of cart", files, branch=branch))
        for sha in chance.choices(shas, k=4):
            past.at(sha)
            assert answers(History.open(past.root)) == fresh(past, tmp_path)


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all " * 500)


def _overwritten(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:6000])


def _without_a_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE word")


def _without_a_commit(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM history_commit WHERE id = 3")


def _without_half_a_column(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE view SET resolved = substr(resolved, 1, 5)")


class TestDatabase:
    @pytest.mark.parametrize(
        "damage",
        [_garbage, _overwritten, _cut, _without_a_table, _without_a_commit, _without_half_a_column],
    )
    def test_a_damaged_one_is_made_anew(self, line: Past, damage: Callable[[Path], None]) -> None:
        whole = answers(History.open(line.root))
        damage(database(line.root))
        history = History.open(line.root)
        assert any("made anew" in notice for notice in history.notices)
        assert answers(history) == whole
        assert History.open(line.root).notices == ()

    def test_one_with_other_rules_for_words_is_made_anew(
        self, line: Past, reads: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(store, "SCHEMA_VERSION", -1)
        History.open(line.root)
        monkeypatch.undo()
        seen = len(reads)
        assert len(History.open(line.root)) == seen == 6
        with sqlite3.connect(database(line.root)) as connection:
            assert connection.execute("SELECT count(*) FROM history_commit").fetchone() == (6,)
            assert connection.execute("SELECT value FROM setting").fetchone() != ("-1",)

    def test_an_empty_file_is_filled(self, line: Past) -> None:
        database(line.root).parent.mkdir(parents=True)
        database(line.root).touch()
        assert len(History.open(line.root)) == 6

    @pytest.mark.parametrize("place", [".codeforge", ".codeforge/index", ".codeforge/index/history.db"])
    def test_links_are_not_followed(self, line: Past, tmp_path: Path, place: str) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        link = line.root / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(elsewhere)
        self.check_in_memory(line)
        assert list(elsewhere.iterdir()) == []

    def test_a_file_in_the_way(self, line: Past) -> None:
        (line.root / ".codeforge").write_text("mine")
        self.check_in_memory(line)
        assert (line.root / ".codeforge").read_text() == "mine"

    def test_a_folder_that_can_not_be_written(self, line: Past) -> None:
        History.open(line.root)
        folder = database(line.root).parent
        database(line.root).chmod(0o444)
        folder.chmod(0o555)
        try:
            if os.access(folder, os.W_OK):
                pytest.skip("this user may write everywhere")
            self.check_in_memory(line)
        finally:
            folder.chmod(0o755)

    def test_one_that_stays_locked(self, line: Past, monkeypatch: pytest.MonkeyPatch) -> None:
        History.open(line.root)
        line.commit("another", {"new.py": "n"})
        monkeypatch.setattr(store, "BUSY_TIMEOUT_MS", 20)
        with sqlite3.connect(database(line.root), isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            history = self.check_in_memory(line)
            assert history.change_count("new.py") == 1
            other.execute("ROLLBACK")
        assert History.open(line.root).notices == ()

    def test_several_processes_at_once(self, line: Past) -> None:
        for number in range(30):
            line.commit(f"more {number}", {f"m{number}.py": f"m{number}"})
        code = (
            "import sys; from pathlib import Path; from codeforge.localize.history.history import History\n"
            "h = History.open(Path(sys.argv[1])); print(len(h), h.notices, sorted(h.recency().items()))"
        )
        command = [sys.executable, "-c", code, str(line.root)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        outputs = {process.communicate()[0] for process in running}
        assert len(outputs) == 1
        assert outputs.pop().startswith("36 () ")
        with sqlite3.connect(database(line.root)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("SELECT count(*) FROM history_commit").fetchone() == (36,)

    def check_in_memory(self, line: Past) -> History:
        history = History.open(line.root)
        (notice,) = history.notices
        assert "in memory" in notice
        assert len(history) == int(line.git("rev-list", "--count", "HEAD"))
        return history


class TestPartOfTheHistory:
    def test_a_shallow_clone_and_its_deepening(self, line: Past, tmp_path: Path) -> None:
        clone = tmp_path / "shallow"
        subprocess.run(
            ["git", "clone", "--quiet", "--depth=3", line.root.as_uri(), str(clone)],
            check=True,
            capture_output=True,
        )
        history = History.open(clone)
        # The commit at the cut is left out: to git it adds every file.
        assert len(history) == 2
        assert set(history.recency()) == {"cart.py", "late.py"}
        assert history.change_count("cart.py") == 1
        assert any("shallow" in notice for notice in history.notices)
        subprocess.run(["git", "fetch", "--quiet", "--unshallow"], cwd=clone, check=True, capture_output=True)
        deep = History.open(clone)
        assert deep.notices == ()
        assert answers(deep) == answers(History.open(line.root))

    def test_a_clone_without_file_contents_fetches_nothing(self, past: Past, tmp_path: Path) -> None:
        past.commit("start", {"a.py": "a", "b.py": "b"})
        past.commit("move", {"new.py": edited("a")}, gone=["a.py"], moved={"b.py": "c.py"})
        past.git("config", "uploadpack.allowFilter", "true")
        clone = tmp_path / "partial"
        command = [
            "git",
            "clone",
            "--quiet",
            "--no-checkout",
            "--filter=blob:none",
            past.root.as_uri(),
            str(clone),
        ]
        subprocess.run(command, check=True, capture_output=True)
        packs = sorted((clone / ".git/objects").rglob("*.pack"))
        history = History.open(clone)
        assert history.notices == ()
        assert [history.change_count(path) for path in ("c.py", "new.py")] == [2, 1]
        assert history.functions_of_similar("move") == {}
        assert sorted((clone / ".git/objects").rglob("*.pack")) == packs

    def test_a_linked_working_tree_has_its_own_head(self, line: Past, tmp_path: Path) -> None:
        linked = tmp_path / "linked"
        line.git("worktree", "add", "--quiet", "--detach", str(linked), "main~2")
        assert len(History.open(linked)) == 4
        assert len(History.open(line.root)) == 6


class TestNoHistory:
    @staticmethod
    def check_empty(root: Path, why: str) -> None:
        history = History.open(root)
        assert len(history) == 0
        (notice,) = history.notices
        assert why in notice
        assert history.recency() == {}
        assert history.cochanged("a.py") == history.similar_commits("a") == []
        assert history.files_of_similar("a") == history.functions_of_similar("a") == {}
        assert history.change_count("a.py") == 0
        assert history.last_changed("a.py") is None
        assert not (root / ".codeforge").exists()

    def test_no_repository(self, tmp_path: Path) -> None:
        self.check_empty(tmp_path, "not in a git repository")

    def test_no_commits(self, past: Past) -> None:
        self.check_empty(past.root, "no commits yet")

    def test_no_git(self, line: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        self.check_empty(line.root, "git is not installed")

    def test_a_folder_inside_a_repository(self, line: Past) -> None:
        (line.root / "inside").mkdir()
        self.check_empty(line.root / "inside", "not its top")

    def test_a_damaged_repository(self, line: Past) -> None:
        sha = line.git("rev-parse", "main~1")
        (line.root / ".git" / "objects" / sha[:2] / sha[2:]).unlink()
        history = History.open(line.root)
        assert len(history) == 0
        (notice,) = history.notices
        assert notice.startswith("git history isn't used: git rev-list failed")
