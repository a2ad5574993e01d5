"""What a command may see and do: `Cage`, its environment, and the folders it must not see."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError
from codeforge.paths import data_dir

RUN_COOKIE = "CODEFORGE_RUN"
"""The environment variable that marks every process of one run, so that stray ones can be found."""

_KEPT_NAMES = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES"),
        *("JAVA_HOME", "MAVEN_OPTS", "GRADLE_OPTS", "VIRTUAL_ENV", "PYENV_ROOT", "NVM_DIR", "DENO_DIR"),
        *("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "MAKEFLAGS"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "SOURCE_DATE_EPOCH", "DJANGO_SETTINGS_MODULE"),
        *("SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    )
)
_KEPT_PREFIXES = (
    *("LC_", "PYTHON", "PYTEST_", "CONDA", "UV_", "NODE", "NPM_CONFIG_", "GO", "CGO_"),
    *("CARGO", "RUSTUP", "RUST", "DOTNET_", "NIX_", "OMP_", "MKL_", "OPENBLAS_"),
)
_SECRET = re.compile(
    r"(^|_)(KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?|AUTH|API|AWS|COOKIE)(_|$)",
    re.IGNORECASE,
)

_NON_INTERACTIVE = {
    "CI": "1",
    "NO_COLOR": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    # Two candidates can write one file twice within a second at the same size; Python would then
    # take the first one's cached byte code for the second one's.
    "PYTHONDONTWRITEBYTECODE": "1",
}

_CREDENTIALS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".pypirc"),
    *(".npmrc", ".yarnrc.yml", ".vault-token", ".password-store", ".huggingface", ".terraform.d"),
    *(".config/gh", ".config/hub", ".config/gcloud", ".config/git/credentials", ".config/op"),
    *(".config/google-chrome", ".config/chromium", ".mozilla", ".thunderbird", ".local/share/keyrings"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".cache/huggingface/token"),
    *(".bash_history", ".zsh_history", ".python_history"),
)


@dataclass(frozen=True, slots=True)
class Cage:
    """What one command may see and do. All paths are absolute.

    Attributes:
        cwd: where it runs (host path).
        writable: trees that it may write (host paths); besides these, only a private temporary folder.
        mount_as: pairs (host path, path inside): the host folder is shown, writable, at the other path,
            so that editable installs and absolute paths lead to a scratch tree. Only bubblewrap can
            (`supports_mounts`); elsewhere it is ignored and the command runs in `cwd` itself.
        read_only_mounts: pairs (host path, path inside), bound read-only after `mount_as`. A missing
            mount point below a writable tree is created there, empty.
        network: whether it may use the network.
        env: added to the filtered copy of codeforge's own environment.
    """

    cwd: Path
    writable: tuple[Path, ...]
    mount_as: tuple[tuple[Path, Path], ...] = ()
    read_only_mounts: tuple[tuple[Path, Path], ...] = ()
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict)

    def inside(self, path: Path) -> Path:
        """Where the host path `path` is seen from inside, `mount_as` considered."""
        for host, target in sorted(self.mount_as, key=lambda pair: -len(pair[0].parts)):
            if path.is_relative_to(host):
                return target / path.relative_to(host)
        return path

    def check(self) -> None:
        """Refuse folders that don't exist, before anything starts.

        Raises:
            EnvironmentUnavailableError: one of the folders is missing.
        """
        shown = (*self.mount_as, *self.read_only_mounts)
        for path in (self.cwd, *self.writable, *(host for host, _ in shown)):
            if not is_reachable(path):
                raise EnvironmentUnavailableError(
                    f"The command can't be run: {path} does not exist or is closed to you.",
                    kept="Nothing was run.",
                )


def filtered_environment(cage: Cage, tmp: str, run_id: str) -> dict[str, str]:
    """The command's environment: known harmless variables, nothing that looks like a secret.

    Args:
        cage: its `env` is added last and is not filtered.
        tmp: the private temporary folder as the command sees it.
        run_id: marks the processes of this run.
    """
    env = {name: value for name, value in os.environ.items() if is_passed_on(name)}
    env.update(_NON_INTERACTIVE)
    cache = f"{tmp}/.cache"
    env.update({"TMPDIR": tmp, "TEMP": tmp, "TMP": tmp, "XDG_CACHE_HOME": cache})
    env.update({"GOCACHE": f"{cache}/go-build", "npm_config_cache": f"{cache}/npm"})
    env.update(cage.env)
    env[RUN_COOKIE] = run_id
    return env


def is_passed_on(name: str) -> bool:
    """Whether an environment variable of this name may reach a caged command."""
    upper = name.upper()
    kept = upper in _KEPT_NAMES or upper.startswith(_KEPT_PREFIXES)
    return kept and not _SECRET.search(name)


def hidden_paths() -> tuple[Path, ...]:
    """The credentials and private folders that exist here (resolved), codeforge's own data included."""
    home = Path.home()
    wanted = [*(home / name for name in _CREDENTIALS), data_dir()]
    return tuple(sorted({path.resolve() for path in wanted if is_reachable(path)}))


def is_reachable(path: Path) -> bool:
    """Whether `path` exists and this user may get to it (`Path.exists` raises where it may not)."""
    try:
        path.stat()
    except OSError:
        return False
    return True


def tool_paths(env: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders that hold the tools on `PATH`, the virtual environment and this Python.

    They must stay visible when they lie below a folder that the cage replaces, such as `/tmp`.
    """
    folders = [Path(sys.prefix), Path(sys.base_prefix)]
    if env.get("VIRTUAL_ENV"):
        folders.append(Path(env["VIRTUAL_ENV"]))
    for entry in env.get("PATH", "").split(os.pathsep):
        path = Path(entry)
        if path.is_absolute() and is_reachable(path):
            folders.append(path.parent if path.name in ("bin", "Scripts") else path)
    return tuple(dict.fromkeys(folders))


def shell_path(env: Mapping[str, str]) -> str:
    """The shell that runs command lines: bash where there is one, else sh."""
    return shutil.which("bash", path=env.get("PATH")) or "/bin/sh"
