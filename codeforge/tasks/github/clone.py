"""The repository's history on this machine: the user's clone, which is only read, or one of our own."""

import base64
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.git import GitError, GitRepo
from codeforge.redact import redact
from codeforge.tasks.github.address import Endpoint, RepositoryName

Tell = Callable[[str], None]

_HEADS = "+refs/heads/*:refs/heads/*"
# A transfer that stands still for a minute is dead; a slow one may take as long as it wants.
_STALLED = ("-c", "http.lowSpeedLimit=100", "-c", "http.lowSpeedTime=60")


def open_clone(path: Path) -> GitRepo:
    """The clone at `path`: a working tree or a bare repository. It is only read.

    Raises:
        UsageError: `path` does not exist.
        GitError: there is no repository.
    """
    try:
        return GitRepo.discover(path)
    except GitError:
        bare = GitRepo(path.resolve(), path.resolve(), path.resolve())
        try:
            answer = bare.text("rev-parse", "--is-bare-repository", "--verify", "--quiet", "HEAD^{commit}")
        except (GitError, OSError):
            answer = ""
        if not answer.startswith("true"):
            raise
        return bare


def origin_of(repo: GitRepo) -> str:
    """The `owner/name` that the clone was made from; "" when its origin doesn't say."""
    try:
        address = repo.text("config", "--get", "remote.origin.url").strip()
    except GitError:
        return ""
    # As a web address, or as ssh writes it (`git@host:owner/name.git`). A path on this machine says nothing.
    match = re.fullmatch(r"(?:\w+://[^/]+/|[^/@\s]+@[^/:]+:)([\w.-]+/[\w.-]+?)(?:\.git)?/?", address)
    return match[1] if match and not address.startswith("file:") else ""


def default_ref(repo: GitRepo) -> str:
    """The default branch as the clone knows it, else what is checked out."""
    try:
        return (
            repo.text("rev-parse", "--verify", "--quiet", "--symbolic-full-name", "origin/HEAD").strip()
            or "HEAD"
        )
    except GitError:
        return "HEAD"


def check_ref(repo: GitRepo, ref: str) -> str:
    """The id of the commit that `ref` names.

    Raises:
        UsageError: it names none.
    """
    try:
        return repo.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").split()[
            -1
        ]
    except (GitError, IndexError) as error:
        raise UsageError(
            f"{ref!r} names no commit in {repo.root}.",
            kept="Nothing was changed.",
            hint="git branch -a shows the branches.",
        ) from error


def own_clone(
    name: RepositoryName, endpoint: Endpoint, folder: Path, *, offline: bool, tell: Tell
) -> GitRepo:
    """Our bare clone of `name` below `folder`: made when there is none, else brought up to date.

    Raises:
        EnvironmentUnavailableError: it can't be had; what was there before is kept.
    """
    host = urlsplit(endpoint.server).hostname or "local"
    target = folder / host / name.owner.lower() / f"{name.name.lower()}.git"
    if offline:
        if not target.is_dir():
            raise EnvironmentUnavailableError(
                f"There is no clone of {name} on this machine, and --offline forbids making one.",
                kept="Nothing was changed.",
                hint="Name a clone with --clone PATH, or run once without --offline.",
            )
        return open_clone(target)
    if target.is_dir():
        tell(f"fetching {name}")
        _transfer(name, endpoint, ("fetch", "--quiet", "--prune", "--no-tags", "origin", _HEADS), target)
        return open_clone(target)
    tell(f"cloning {name}")
    return _clone(name, endpoint, target)


def _clone(name: RepositoryName, endpoint: Endpoint, target: Path) -> GitRepo:
    """Clone beside the target and move the whole into place: there is never half a clone."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    address = f"{endpoint.server}/{name}.git"
    try:
        _transfer(name, endpoint, ("clone", "--quiet", "--bare", "--no-tags", address, str(partial)), partial)
        if not target.is_dir():
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return open_clone(target)


def _transfer(name: RepositoryName, endpoint: Endpoint, command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            ["git", *_STALLED, *command],
            cwd=folder,
            env=_environment(endpoint),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed (or not on PATH).", hint="Install git.") from error
    if done.returncode == 0:
        return
    reason = redact(done.stderr.decode("utf-8", "replace").strip()) or f"exit status {done.returncode}"
    fetching = command[0] == "fetch"
    kept = "The clone is as it was." if fetching else "Nothing was kept of the clone."
    instead = "use it as it is: --offline" if fetching else "name a clone of your own: --clone PATH"
    raise GitError(
        f"{name} can't be had from {endpoint.server} ({command[0]}): {reason}",
        kept=kept,
        hint=f"Check the name, the network and the token, or {instead}.",
    )


def _environment(endpoint: Endpoint) -> Mapping[str, str]:
    """With the token, for this server only; the command line would show it to everybody."""
    env = {key: value for key, value in os.environ.items() if key not in ("GIT_DIR", "GIT_WORK_TREE")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    if endpoint.token and endpoint.server.startswith("https://"):
        secret = base64.b64encode(f"x-access-token:{endpoint.token}".encode()).decode()
        number = int(env.get("GIT_CONFIG_COUNT") or 0)
        env[f"GIT_CONFIG_KEY_{number}"] = f"http.{endpoint.server}/.extraHeader"
        env[f"GIT_CONFIG_VALUE_{number}"] = f"Authorization: Basic {secret}"
        env["GIT_CONFIG_COUNT"] = str(number + 1)
    return env
