"""Who writes a session: enough about a process to tell later whether it still lives."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path


def current_owner() -> dict[str, object]:
    """This process: machine, process namespace, boot, pid and its start time."""
    pid = os.getpid()
    return {
        "host": platform.node(),
        "pid_namespace": _pid_namespace(),
        "boot": _boot(),
        "pid": pid,
        "started": _started(pid),
    }


def is_alive(owner: Mapping[str, object]) -> bool | None:
    """Whether the process of `owner` still runs; `None` when this machine can't know (another machine,
    another container)."""
    if not owner:
        return False  # an imported session: nobody here writes it
    if owner.get("host") != platform.node():
        return None
    if owner.get("boot") != _boot():
        return False
    if owner.get("pid_namespace") != _pid_namespace():
        return None
    pid = owner.get("pid")
    return isinstance(pid, int) and _started(pid) is not None and _started(pid) == owner.get("started")


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When `pid` started, in a form that no later process with the same pid has; `None` if it is gone."""
    try:
        # The clock ticks since boot: unlike a wall-clock time they don't move when the clock is set.
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return _started_by_psutil(pid)
    state, *rest = stat.rpartition(")")[2].split()
    return None if state in ("Z", "X") else rest[18]


def _started_by_psutil(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        return None
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.0f}"
    except psutil.Error:
        return None
