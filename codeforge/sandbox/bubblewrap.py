"""bubblewrap: its arguments for a cage, and whether it works here."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.sandbox.cage import Cage, hidden_paths, is_reachable, tool_paths

_PROBE_S = 5.0
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts")

# Folders whose sockets lead out of any cage (Docker, D-Bus, the ssh agent); /tmp is replaced too.
_REPLACED = ("/run", "/var/run")
_KEPT_BELOW_RUN = ("/run/current-system", "/run/wrappers", "/run/systemd/resolve", "/run/opengl-driver")

# Root keeps what tests of a repository that other users own need, and nothing that reaches the kernel.
_ROOT_CAPABILITIES = ("DAC_OVERRIDE", "CHOWN", "FOWNER", "SETUID", "SETGID", "KILL", "NET_BIND_SERVICE")


@dataclass(frozen=True, slots=True)
class BubblewrapProbe:
    """Whether bubblewrap works here: its path (or ""), and why not (or "")."""

    path: str
    reason: str

    @property
    def usable(self) -> bool:
        """A command was really run in it."""
        return bool(self.path) and not self.reason


def probe() -> BubblewrapProbe:
    """Run `true` in every namespace that a cage uses."""
    path = shutil.which("bwrap")
    if path is None:
        return BubblewrapProbe("", "bwrap is not installed")
    argv = [path, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *_NAMESPACES, "--unshare-net"]
    argv += [*_capabilities(), "--die-with-parent", "--json-status-fd", "2", "--", "/bin/sh", "-c", "exit 0"]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return BubblewrapProbe(path, f"bwrap can't be run: {error}")
    if done.returncode == 0:
        return BubblewrapProbe(path, "")
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    told = [line for line in lines if not line.startswith("{")]
    return BubblewrapProbe(path, told[-1] if told else f"bwrap exited with {done.returncode}")


def arguments(bwrap: str, cage: Cage, folder: Path, env: Mapping[str, str], status_fd: int) -> list[str]:
    """bubblewrap's argument list for `cage`, up to and including `--`.

    Args:
        bwrap: the program.
        cage: what to show.
        folder: the run's private folder; its `tmp` becomes `/tmp`.
        env: the command's environment (only read, to keep its tools visible).
        status_fd: where bubblewrap reports the process id and the exit status.
    """
    argv = [bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *_NAMESPACES]
    argv += [] if cage.network else ["--unshare-net"]
    argv += [*_capabilities(), "--die-with-parent", "--json-status-fd", str(status_fd)]
    replaced = [path for path in map(Path, _REPLACED) if path.is_dir() and not path.is_symlink()]
    argv += ["--bind", str(folder / "tmp"), "/tmp"]
    for path in replaced:
        argv += ["--tmpfs", str(path)]
    for kept in _KEPT_BELOW_RUN:
        argv += ["--ro-bind-try", kept, kept]
    needed = (*tool_paths(env), cage.cwd)
    argv += _binds("--ro-bind", _below(needed, [Path("/tmp"), *replaced]))
    # Masks come after the tools, which may contain a masked folder, and before what lies inside a mask.
    hidden = hidden_paths()
    masked = [path for path in hidden if path.is_dir()]
    for path in hidden:
        argv += ["--tmpfs", str(path)] if path in masked else ["--ro-bind", "/dev/null", str(path)]
    argv += _binds("--ro-bind", _below(needed, masked))
    argv += _binds("--bind", ((path, path) for path in cage.writable))
    argv += _binds("--bind", cage.mount_as)
    argv += _binds("--ro-bind", cage.read_only_mounts)
    for path in (*replaced, *masked):
        argv += ["--remount-ro", str(path)]
    return [*argv, "--chdir", str(cage.inside(cage.cwd)), "--"]


def _capabilities() -> list[str]:
    """For root: drop all but a few. Others get a user namespace, in which they hold none."""
    if os.geteuid() != 0:
        return []
    argv = ["--cap-drop", "ALL"]
    for name in _ROOT_CAPABILITIES:
        argv += ["--cap-add", f"CAP_{name}"]
    return argv


def _below(paths: Iterable[Path], covered: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Binds for those of `paths` that the cage would hide, outermost first so that none hides another."""
    found = {path for path in paths if any(path != top and path.is_relative_to(top) for top in covered)}
    return [(path, path) for path in sorted(found) if is_reachable(path)]


def _binds(option: str, pairs: Iterable[tuple[Path, Path]]) -> list[str]:
    argv: list[str] = []
    for host, inside in pairs:
        argv += [option, str(host), str(inside)]
    return argv
