"""What this machine has for a model: memory that is available and cores that are really free."""

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Bytes that a model may take: what the system has available, or the container if it has less."""
    import psutil

    available: int = psutil.virtual_memory().available
    limit, used = _read_number("memory.max"), _read_number("memory.current")
    if limit is None:
        return available
    reclaimable = _memory_stat("inactive_file") + _memory_stat("active_file")
    return max(0, min(available, limit - (used or 0) + reclaimable))


def usable_cores() -> int:
    """Physical cores that this process may use: affinity and the container's quota counted."""
    import psutil

    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    logical = psutil.cpu_count() or allowed
    physical = psutil.cpu_count(logical=False) or logical
    cores = min(allowed, max(1, allowed * physical // max(1, logical)), physical)
    quota = _cpu_quota()
    return max(1, min(cores, int(quota)) if quota is not None else cores)


def busy_cores() -> float:
    """Cores' worth of work going on now, sampled over a tenth of a second."""
    import psutil

    share: float = psutil.cpu_percent(interval=0.1)
    return share / 100 * (psutil.cpu_count() or 1)


def _read_number(name: str) -> int | None:
    try:
        text = (_CGROUP / name).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _memory_stat(field: str) -> int:
    try:
        lines = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{field} ")), 0)


def _cpu_quota() -> float | None:
    try:
        quota, period = (_CGROUP / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)
