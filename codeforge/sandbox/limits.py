"""Enforcing `Limits`: what the kernel can do by itself, and a meter over the process tree for the rest."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeforge.sandbox.model import KillReason, Limits

if TYPE_CHECKING:
    import psutil

OUTPUT_KILL_FACTOR = 64
"""A command whose output grows to this many times its limit is killed; below that it is only drained."""


def limited_shell(command: str, shell: str, limits: Limits) -> list[str]:
    """The argument list that sets the kernel's limits, then runs `command` in `shell`.

    A small sh script sets them: it costs a millisecond, and unlike `preexec_fn` it is safe with threads.
    Memory is not among them: an address-space limit breaks runtimes that reserve far more than they use
    (JVM, Go, Node, sanitizers), so `TreeMeter` watches the memory in use instead.
    """
    lines = ["ulimit -c 0"]
    if limits.file_bytes is not None:
        lines.append(f"ulimit -f {max(1, limits.file_bytes // 512)}")  # POSIX: units of 512 bytes
    if limits.cpu_s is not None:
        seconds = max(1, math.ceil(limits.cpu_s))
        # A second between the two, so that the exit status tells SIGXCPU from any other kill.
        lines += [f"ulimit -S -t {seconds}", f"ulimit -H -t {seconds + 1}"]
    # Should the machine run out of memory, this tree is to die, not the process that holds the model.
    lines.append("echo 1000 >/proc/self/oom_score_adj")
    script = "; ".join(f"{{ {line}; }} 2>/dev/null" for line in lines) + '; exec "$0" -c "$1"'
    return ["/bin/sh", "-c", script, shell, command]


@dataclass(frozen=True, slots=True)
class TreeUsage:
    """What a process tree uses now."""

    processes: int
    memory_bytes: int


class TreeMeter:
    """Measures a process and all its descendants."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def exceeded(self, limits: Limits) -> tuple[KillReason, str] | None:
        """The limit that the tree is over, with a sentence for people; `None` when it keeps them all."""
        tree = self._tree()
        if limits.processes is not None and len(tree) > limits.processes:
            return KillReason.PROCESSES, f"it ran {len(tree)} processes, more than {limits.processes}"
        if limits.memory_bytes is None or _resident(tree) <= limits.memory_bytes:
            return None
        # Forked workers share pages, and the sum of resident sizes counts these once a worker.
        used = _proportional(tree)
        if used <= limits.memory_bytes:
            return None
        return KillReason.MEMORY, f"it used {_gib(used)} of memory, more than {_gib(limits.memory_bytes)}"

    def usage(self) -> TreeUsage:
        """Processes and proportional memory of the tree."""
        tree = self._tree()
        return TreeUsage(len(tree), _proportional(tree))

    def _tree(self) -> list["psutil.Process"]:
        import psutil

        try:
            root = psutil.Process(self._pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []


def _resident(tree: Iterable["psutil.Process"]) -> int:
    import psutil

    total = 0
    for process in tree:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue  # ended meanwhile
    return total


def _proportional(tree: Iterable["psutil.Process"]) -> int:
    """Memory with every shared page counted once over all its users, where the platform tells."""
    import psutil

    total = 0
    for process in tree:
        try:
            info = process.memory_full_info()
            total += getattr(info, "pss", info.uss)
        except psutil.AccessDenied:
            total += _resident([process])
        except psutil.Error:
            continue  # ended meanwhile
    return total


def _gib(size: int) -> str:
    return f"{size / 1024**3:.2f} GiB"
