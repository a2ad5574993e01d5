"""Which changes a real history is made of."""

from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.history import Change, changes, read_commits
from tests.tasks.github.histories import History

NAME = RepositoryName("ann", "shop")


def read(history: History) -> list[Change]:
    return changes(read_commits(history.repo, "HEAD"), NAME)


def test_single_commits_newest_first_and_no_root(history: History) -> None:
    root = history.commit("start, fixes #1", {"a.py": "1\n"})
    first = history.commit("Fix #12", {"a.py": "2\n"})
    second = history.commit("Closes #3 (#15)\n\nbody fixes #4", {"a.py": "3\n"})
    found = read(history)
    assert [(c.sha, c.base, c.pull, c.closes) for c in found] == [
        (second, first, 15, (3, 4)),
        (first, root, None, (12,)),
    ]
    assert [c.undone for c in found] == ["", ""]
    assert found[1].committed_at.isoformat() == "2024-01-01T01:00:00+00:00"


def test_a_merged_pull_request_is_one_change(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("fix")
    history.commit("try", {"a.py": "2\n"})
    history.commit("fixes #7", {"a.py": "3\n"})
    history.go_to("main")
    base = history.commit("beside", {"b.py": "1\n"})
    merge = history.merge("fix", "Merge pull request #9 from ann/fix\n\nA title, closes #8")
    one, other = read(history)
    assert (one.sha, one.base, one.pull, one.closes) == (merge, base, 9, (8, 7))
    assert one.inner == ("try", "fixes #7")
    assert other.sha == base


def test_a_merge_that_only_joins_is_none(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("features")
    feature = history.commit("Add it (#2)", {"f.py": "1\n"})
    history.go_to("main")
    fix = history.commit("Fix it (#3)", {"a.py": "2\n"})
    history.go_to("features")
    history.merge("main", "Merge branch 'main' into features")
    assert {c.sha for c in read(history)} == {feature, fix}
    history.go_to("main")
    history.merge("features", "Merge pull request #4 from ann/x\n\nMerge features into main")
    assert {c.sha for c in read(history)} == {feature, fix}


def test_a_branch_brought_up_to_date_within_a_pull_request(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("fix")
    history.commit("step one", {"b.py": "1\n"})
    history.go_to("main")
    other = history.commit("Other (#2)", {"a.py": "2\n"})
    history.go_to("fix")
    history.merge("main", "Merge branch 'main' into fix")
    history.commit("step two", {"b.py": "2\n"})
    history.go_to("main")
    merge = history.merge("fix", "Merge pull request #3 from ann/fix\n\nSteps")
    one, two = read(history)
    assert (one.sha, one.base, two.sha) == (merge, other, other)
    assert one.inner == ("step one", "step two")


def test_older_merges_keep_what_is_theirs(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("one")
    history.commit("in one", {"b.py": "1\n"})
    history.branch("two")
    history.commit("in two", {"c.py": "1\n"})
    history.go_to("main")
    history.merge("one", "Merge pull request #1 from ann/one")
    history.merge("two", "Merge pull request #2 from ann/two")
    assert [(c.pull, c.inner) for c in read(history)] == [(2, ("in two",)), (1, ("in one",))]


def test_reverts(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    bad = history.commit("Fix #1 (#2)", {"a.py": "2\n"})
    revert = history.revert(bad)
    good = history.commit("Fix #1 (#4)", {"a.py": "3\n"})
    assert {c.sha: c.undone for c in read(history)} == {bad: "reverted later", revert: "a revert", good: ""}


def test_a_pull_request_that_takes_another_one_back(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    bad = history.commit("Fix #1 (#2)", {"a.py": "2\n"})
    history.branch("back")
    history.revert(bad)
    history.go_to("main")
    merge = history.merge(
        "back", 'Merge pull request #3 from ann/back\n\nRevert "Fix #1"\n\nReverts ann/shop#2'
    )
    assert {c.sha: c.undone for c in read(history)} == {bad: "reverted later", merge: "a revert"}


def test_a_step_taken_back_on_its_own_branch(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("fix")
    step = history.commit("a step", {"a.py": "2\n"})
    history.revert(step)
    history.commit("a better step", {"b.py": "1\n"})
    history.go_to("main")
    history.merge("fix", "Merge pull request #3 from ann/fix\n\nA fix")
    (change,) = read(history)
    assert change.undone == ""


def test_a_repeated_commit_counts_where_it_was_first(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.branch("stable")
    history.go_to("main")
    fix = history.commit("Fix #1 (#2)", {"a.py": "2\n"})
    history.go_to("stable")
    history.commit("beside", {"c.py": "1\n"})
    alone = history.cherry_pick(fix)
    assert {c.sha: c.undone for c in read(history)}[alone] == ""  # here the first one is unknown
    history.go_to("main")
    history.merge("stable", "Merge branch 'stable'")
    undone = {c.sha: c.undone for c in read(history)}
    assert (undone[fix], undone[alone]) == ("", "a repeated commit")


def test_bots(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    bump = history.commit("Bump it (#1)", {"a.py": "2\n"}, author="dependabot[bot]")
    history.branch("pc")
    history.commit("autoupdate", {"a.py": "3\n"}, author="pre-commit-ci[bot]")
    history.go_to("main")
    merged = history.merge("pc", "Merge pull request #2 from ann/pc\n\nautoupdate")
    agent = history.commit("Fix it (#3)", {"a.py": "4\n"}, author="an-agent[bot]")
    assert {c.sha: c.undone for c in read(history)} == {bump: "by a bot", merged: "by a bot", agent: ""}


def test_messages_in_other_encodings(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.git("config", "i18n.commitEncoding", "ISO-8859-1")
    history.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    history.commit("Größe, fixes #1".encode("latin-1"), {"a.py": "2\n"})
    last, tree = history.git("rev-parse", "HEAD", "HEAD^{tree}").split()
    raw = f"tree {tree}\nparent {last}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n"
    odd = raw.encode() + "Gr\xf6\xdfe \x1f odd, fixes #2\n".encode("latin-1")  # it is said to be UTF-8
    history.git(
        "reset", "-q", "--hard", history.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=odd)
    )
    two, one = read(history)
    assert (one.message, one.closes) == ("Größe, fixes #1", (1,))
    assert two.closes == (2,) and "\ufffd" in two.message and "\x1f odd" in two.message


def test_empty_messages_and_shallow_clones(history: History) -> None:
    history.commit("start", {"a.py": "1\n"})
    history.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    fix = history.commit("Fix #1", {"a.py": "2\n"})
    shallow = history.root.parent / "shallow"
    history.git("clone", "-q", "--depth", "2", f"file://{history.root}", str(shallow))
    assert len(read(history)) == 2
    repo = type(history.repo).discover(shallow)
    assert [c.sha for c in changes(read_commits(repo, "HEAD"), NAME)] == [fix]


def test_no_commits() -> None:
    assert changes([], NAME) == []
