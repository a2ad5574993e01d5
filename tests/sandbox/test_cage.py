"""What a caged command can't do, and what it can't see."""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codeforge.sandbox.cage import Cage, filtered_environment, is_passed_on
from codeforge.sandbox.isolation import isolation_warning, probe_isolation
from codeforge.sandbox.model import CommandResult, Isolation, Limits
from codeforge.sandbox.runner import run_command

Run = Callable[[str, Cage], CommandResult]


def confining() -> list[Isolation]:
    probed = probe_isolation()
    kinds = [Isolation.BUBBLEWRAP] if probed.bubblewrap.usable else []
    return [*kinds, *([Isolation.LANDLOCK] if probed.landlock_abi >= 4 else [])]


needs_mounts = pytest.mark.skipif(
    not probe_isolation().bubblewrap.usable, reason="bubblewrap does not work here"
)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CODEFORGE_SANDBOX", raising=False)
    return home


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


@pytest.fixture(params=confining())
def run(request: pytest.FixtureRequest) -> Run:
    return lambda command, cage: run_command(command, cage, Limits(wall_s=20), isolation=request.param)


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_writes_outside_the_tree_are_refused(run: Run, tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    command = (
        f"echo x > {outside}/new; rm {outside}/kept; mv {outside}/kept here; echo x > {outside}/kept; "
        f"truncate -s 0 {outside}/kept; ln {outside}/kept linked && echo x > linked; "
        f"ln -s {outside}/kept soft && echo x > soft; true"
    )
    run(command, Cage(tree, (tree,)))
    assert sorted(path.name for path in outside.iterdir()) == ["kept"]
    assert (outside / "kept").read_text() == "kept"


@needs_mounts
def test_modes_outside_the_tree_are_kept(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    # /tmp is private inside, so the folder has to be shown to be tried at all.
    shown = Cage(tree, (tree,), read_only_mounts=((outside, outside),))
    result = run_command(f"chmod 777 {outside}", shown, Limits(wall_s=20))
    assert "Read-only file system" in result.stderr
    assert stat.S_IMODE(outside.stat().st_mode) == 0o750


def test_a_tree_that_is_not_writable_is_read_only(run: Run, tree: Path) -> None:
    (tree / "file").write_text("old")
    result = run("cat file; echo new > file", Cage(tree, ()))
    assert result.stdout == "old"
    assert result.exit_code != 0
    assert (tree / "file").read_text() == "old"


def test_the_network_is_closed(run: Run, tree: Path, listener: int) -> None:
    assert run(f": < /dev/tcp/127.0.0.1/{listener}", Cage(tree, (tree,))).exit_code != 0


def test_the_network_can_be_opened(run: Run, tree: Path, listener: int) -> None:
    opened = Cage(tree, (tree,), network=True)
    assert run(f": < /dev/tcp/127.0.0.1/{listener}", opened).exit_code == 0


@needs_mounts
def test_a_local_server_works_without_network(tree: Path) -> None:
    (tree / "local.py").write_text(
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname())\n"
        "print('connected')\n"
    )
    result = run_command("python3 local.py", Cage(tree, (tree,)), Limits(wall_s=20))
    assert result.stdout == "connected\n"


def test_credentials_and_own_data_are_hidden(run: Run, tree: Path, own_home: Path, tmp_path: Path) -> None:
    (own_home / ".ssh").mkdir()
    (own_home / ".ssh" / "id_ed25519").write_text("SECRET")
    (own_home / ".netrc").write_text("SECRET")
    (own_home / ".profile").write_text("seen")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "codeforge.db").write_text("SECRET")
    scratch = tmp_path / "data" / "scratch"
    scratch.mkdir()
    command = f"cat ~/.ssh/id_ed25519 ~/.netrc {tmp_path}/data/codeforge.db; touch made; echo end"
    result = run(command, Cage(scratch, (scratch,)))
    assert result.stdout == "end\n"
    assert (scratch / "made").exists()


@pytest.mark.parametrize("run", [Isolation.LANDLOCK], indirect=True)
def test_landlock_shows_the_rest_of_home(run: Run, tree: Path, own_home: Path) -> None:
    (own_home / ".ssh").mkdir()
    (own_home / ".profile").write_text("seen")
    assert run("cat ~/.profile", Cage(tree, (tree,))).stdout == "seen"


def test_multiprocessing_works(run: Run, tree: Path) -> None:
    (tree / "many.py").write_text(
        "import multiprocessing as m\n"
        "if __name__ == '__main__':\n"
        "    with m.Pool(2) as pool:\n"
        "        print(pool.map(abs, [-1, -2]))\n"
    )
    assert run("python3 many.py", Cage(tree, (tree,))).stdout == "[1, 2]\n"


def test_other_processes_are_out_of_reach(run: Run, tree: Path) -> None:
    result = run(f"kill -0 {os.getpid()} && echo reached", Cage(tree, (tree,)))
    assert "reached" not in result.stdout


def test_a_program_of_the_environment_below_tmp_can_be_run(
    run: Run, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "tools" / "bin" / "my-tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho tool\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    assert run("my-tool", Cage(tree, (tree,))).stdout == "tool\n"


@needs_mounts
def test_a_scratch_tree_is_shown_at_the_repository(tree: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "sub").mkdir(parents=True)
    (repo / "file").write_text("user's")
    (tree / "sub").mkdir()
    (tree / "file").write_text("scratch")
    cage = Cage(tree / "sub", (tree,), mount_as=((tree, repo),))
    result = run_command(f"pwd; cat {repo}/file; echo new > ../file", cage, Limits(wall_s=20))
    assert result.stdout == f"{repo}/sub\nscratch"
    assert (repo / "file").read_text() == "user's"
    assert (tree / "file").read_text() == "new\n"


@needs_mounts
def test_read_only_mounts_lie_over_the_scratch_tree(tree: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "node_modules").mkdir(parents=True)
    (repo / "node_modules" / "lib").write_text("lib")
    modules = repo / "node_modules"
    cage = Cage(tree, (tree,), mount_as=((tree, repo),), read_only_mounts=((modules, modules),))
    result = run_command("cat node_modules/lib; echo x > node_modules/lib", cage, Limits(wall_s=20))
    assert result.stdout == "lib"
    assert result.exit_code != 0
    assert (modules / "lib").read_text() == "lib"


@needs_mounts
def test_scratch_below_the_repository_keeps_no_mount_points(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    scratch = repo / ".codeforge" / "trees" / "1"
    scratch.mkdir(parents=True)
    cage = Cage(scratch, (scratch,), mount_as=((scratch, repo),))
    assert run_command("touch made; pwd", cage, Limits(wall_s=20)).stdout == f"{repo}\n"
    assert [path.name for path in scratch.iterdir()] == ["made"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root could do more")
@needs_mounts
def test_root_can_not_undo_the_cage(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    command = f"mount -o remount,rw,bind {outside}; touch {outside}/x; mknod disk b 8 0; ls disk"
    shown = Cage(tree, (tree,), read_only_mounts=((outside, outside),))
    result = run_command(command, shown, Limits(wall_s=20))
    assert result.exit_code != 0
    assert not list(outside.iterdir())


def test_the_environment_holds_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "DB_PASSWORD", "NODE_AUTH_TOKEN"]
    secret += ["CARGO_REGISTRY_TOKEN", "PYTHON_KEYRING_SECRET", "SSH_AUTH_SOCK", "MY_OWN_THING"]
    for name in secret:
        monkeypatch.setenv(name, "x")
    for name in ("LC_ALL", "JAVA_HOME", "NODE_OPTIONS", "GOPATH", "PYTHONPATH", "CARGO_HOME", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "kept")
    env = filtered_environment(Cage(tmp_path, (), env={"WANTED_TOKEN": "given"}), "/tmp", "id")
    assert not [name for name in secret if name in env]
    assert env["LC_ALL"] == env["JAVA_HOME"] == env["GOPATH"] == env["PYTHONPATH"] == "kept"
    assert env["WANTED_TOKEN"] == "given"
    assert env["PATH"] == os.environ["PATH"]
    assert env["GIT_TERMINAL_PROMPT"] == "0"


@pytest.mark.parametrize("name", ["PATH", "HOME", "PYTHONHASHSEED", "GOMONKEY", "NPM_CONFIG_REGISTRY"])
def test_names_that_only_contain_a_secret_word_are_kept(name: str) -> None:
    assert is_passed_on(name)


def test_the_warning_says_what_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_SANDBOX", "limits-only")
    assert "limits only" in isolation_warning()
    assert "CODEFORGE_SANDBOX" in isolation_warning()
    monkeypatch.delenv("CODEFORGE_SANDBOX")
    assert (isolation_warning() == "") is probe_isolation().bubblewrap.usable
