"""The process that stands between codeforge and a command where there is no pid namespace.

It adopts every orphan below it, so that a daemon can't slip away, and it ends them all when the command
ends, when codeforge says so, and when codeforge dies: both of the latter close its lifeline pipe.
Started as `python -I -S -c …`; only quick standard modules here.

Arguments: the lifeline's and the status pipe's file descriptors, then any of `--landlock`, `--network`,
`--writable PATH`, `--hidden PATH`, then `--` and the command's argument list. It writes one line to the
status pipe: `exit N`, `killed`, or `error TEXT` when the command could not be started.
"""

# Every import here delays every command: contextlib and enum (through `signal`) would double the start.
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_END_ALL_S = 10.0
_LINUX = sys.platform.startswith("linux")


def main() -> None:
    """Run the command line in `sys.argv` and leave with its exit status."""
    lifeline, status = int(sys.argv[1]), int(sys.argv[2])
    split = sys.argv.index("--")
    options, argv = sys.argv[3:split], sys.argv[split + 1 :]
    for descriptor in (lifeline, status):
        os.set_inheritable(descriptor, False)
    if _LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        _become_command(options, argv, status)
    # Holding these would keep codeforge waiting for the end of output after the command is gone.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    code = _wait(child, lifeline, wake_read)
    _end_all(child)
    try:
        os.write(status, b"killed\n" if code is None else f"exit {code}\n".encode())
    finally:  # codeforge may be gone
        os._exit(0)


def _become_command(options: list[str], argv: list[str], status: int) -> None:
    """In the child: cage itself, then turn into the command. Never returns."""
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if _LINUX:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            _die_first_when_memory_runs_out()
        if "--landlock" in options:
            from codeforge.sandbox import landlock

            landlock.restrict(
                _values(options, "--writable"),
                _values(options, "--hidden"),
                network="--network" in options,
            )
        os.execv(argv[0], argv)
    except OSError as error:
        os.write(status, f"error {error}\n".encode())
    finally:
        os._exit(127)


def _die_first_when_memory_runs_out() -> None:
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
            file.write("1000")
    except OSError:
        return  # some containers forbid it; the memory limit still holds


def _values(options: list[str], name: str) -> list[str]:
    return [options[i + 1] for i, flag in enumerate(options[:-1]) if flag == name]


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wait(child: int, lifeline: int, wake: int) -> int | None:
    """The command's exit status as a shell gives it; `None` when codeforge wants it dead or is gone."""
    while True:
        for pid, state in _reaped():
            if pid == child:
                code = os.waitstatus_to_exitcode(state)
                return 128 - code if code < 0 else code
        ready, _, _ = select.select([lifeline, wake], [], [])
        if lifeline in ready:
            return None
        os.read(wake, 512)


def _reaped() -> list[tuple[int, int]]:
    """Collect every child that has ended."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, state = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, state))


def _end_all(child: int) -> None:
    """Kill the command's group and every descendant, until there is none.

    Gives up after a while: a set-user-id program of another user can't be killed.
    """
    # The whole group at once first: a fork bomb outruns a loop over single processes.
    _kill(-child)
    deadline = time.monotonic() + _END_ALL_S
    while time.monotonic() < deadline:
        for pid in _descendants(os.getpid()) if _LINUX else ():
            _kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _kill(pid: int) -> None:
    """Kill a process, or the group `-pid`."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 (pathlib is too slow to import here)
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found
