"""Clones: the user's, which are only read, and our own."""

import subprocess
from pathlib import Path

import pytest

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.git import GitError
from codeforge.tasks.github.address import Endpoint, RepositoryName
from codeforge.tasks.github.clone import check_ref, default_ref, open_clone, origin_of, own_clone
from tests.tasks.github.histories import History

SHOP = RepositoryName("Ann", "Shop")


def endpoint(server: Path) -> Endpoint:
    return Endpoint("", "", server.as_uri(), "t0ken")


@pytest.fixture
def served(tmp_path: Path) -> History:
    """`Ann/Shop` on a server that is a folder."""
    history = History(tmp_path / "server" / "Ann" / "Shop.git")
    history.commit("start", {"a.py": "1\n"})
    return history


def own(served: History, tmp_path: Path, *, offline: bool = False) -> tuple[str, list[str]]:
    told: list[str] = []
    server = served.root.parent.parent
    repo = own_clone(SHOP, endpoint(server), tmp_path / "clones", offline=offline, tell=told.append)
    return repo.text("rev-parse", default_ref(repo)).strip(), told


def test_our_own_is_made_and_brought_up_to_date(served: History, tmp_path: Path) -> None:
    assert own(served, tmp_path) == (served.git("rev-parse", "HEAD"), ["cloning Ann/Shop"])
    new = served.commit("more", {"a.py": "2\n"})
    assert own(served, tmp_path, offline=True)[0] != new
    assert own(served, tmp_path) == (new, ["fetching Ann/Shop"])
    served.git("commit", "-q", "--amend", "-m", "other")  # the server's branch was rewritten
    assert own(served, tmp_path)[0] == served.git("rev-parse", "HEAD")
    assert (tmp_path / "clones" / "local" / "ann" / "shop.git").is_dir()


def test_offline_without_a_clone(served: History, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnavailableError, match="--offline forbids") as told:
        own(served, tmp_path, offline=True)
    assert "--clone PATH" in told.value.hint


def test_a_server_that_is_not_there(served: History, tmp_path: Path) -> None:
    own(served, tmp_path)
    served.root.rename(tmp_path / "gone")
    with pytest.raises(GitError, match="can't be had") as told:
        own(served, tmp_path)
    assert told.value.kept == "The clone is as it was." and "--offline" in told.value.hint
    assert own(served, tmp_path, offline=True)[0]
    other = RepositoryName("ann", "none")
    with pytest.raises(GitError, match="ann/none can't be had") as told:
        own_clone(
            other, endpoint(tmp_path / "server"), tmp_path / "clones", offline=False, tell=lambda _: None
        )
    assert "--clone" in told.value.hint
    left = sorted(path.name for path in (tmp_path / "clones" / "local" / "ann").iterdir())
    assert left == ["shop.git"]


def test_the_users_clone_may_be_bare_or_have_a_tree(served: History, tmp_path: Path) -> None:
    head = served.git("rev-parse", "HEAD")
    bare = tmp_path / "bare"
    subprocess.run(["git", "clone", "-q", "--bare", str(served.root), str(bare)], check=True)
    for path in (served.root, bare):
        assert check_ref(open_clone(path), "main") == head


def test_the_default_branch_is_the_servers(served: History, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(served.root), str(clone)], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=clone, check=True)
    assert default_ref(open_clone(clone)) == "refs/remotes/origin/main"
    assert default_ref(served.repo) == "HEAD"


def test_no_clones(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not in a git repository"):
        open_clone(tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        open_clone(tmp_path / "none")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "empty")], check=True)
    with pytest.raises(GitError):
        open_clone(tmp_path / "empty")


@pytest.mark.parametrize("ref", ["none", "--all", "-x", "HEAD:a.py", ""])
def test_no_commits(served: History, ref: str) -> None:
    with pytest.raises(UsageError, match="names no commit"):
        check_ref(served.repo, ref)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/pallets/click.git", "pallets/click"),
        ("git@github.com:pallets/click.git", "pallets/click"),
        ("ssh://git@github.com/pallets/click", "pallets/click"),
        ("https://user:word@github.com/pallets/click/", "pallets/click"),
        ("/srv/mirrors/click", ""),
        ("file:///srv/pallets/click", ""),
    ],
)
def test_where_a_clone_comes_from(served: History, address: str, name: str) -> None:
    served.git("remote", "add", "origin", address)
    assert origin_of(open_clone(served.root)) == name


def test_without_an_origin(served: History) -> None:
    assert origin_of(served.repo) == ""
