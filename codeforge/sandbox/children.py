"""Starting one caged command, and making sure that nothing of it is left: one class a kind of cage."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codeforge.errors import EnvironmentUnavailableError
from codeforge.sandbox import bubblewrap
from codeforge.sandbox.cage import RUN_COOKIE, Cage, hidden_paths
from codeforge.sandbox.isolation import probe_isolation
from codeforge.sandbox.model import Isolation

if TYPE_CHECKING:
    import psutil

_GONE_S = 10.0
_SUPERVISOR_S = 15.0  # longer than the supervisor itself tries
_PACKAGE_ROOT = str(Path(__file__).parents[2])
_SUPERVISOR = "import sys; sys.path.insert(0, {!r}); from codeforge.sandbox.supervisor import main; main()"


class Child(Protocol):
    """A running command in its cage.

    Attributes:
        process: what codeforge started; its pipes are the command's output. The command and all that it
            started are its descendants.
    """

    process: "subprocess.Popen[bytes]"

    def kill(self) -> None:
        """Kill the command and everything that it started. May return before they are gone."""
        ...

    def settle(self) -> None:
        """Wait until `process` has ended and nothing that the command started is left."""
        ...

    def exit_code(self) -> int | None:
        """The command's exit status (128 + N after signal N); `None` when it never ran or was killed."""
        ...


class BubblewrapChild:
    """A command in bubblewrap: the end of the pid namespace's first process ends them all."""

    def __init__(self, argv: Sequence[str], cage: Cage, folder: Path, env: Mapping[str, str]) -> None:
        read_fd, write_fd = os.pipe()
        self._status = open(read_fd, "rb", buffering=0)  # noqa: PTH123, SIM115 (a descriptor; closed in settle)
        self._reports: dict[str, int] = {}
        self._first_pidfd: int | None = None
        try:
            path = probe_isolation().bubblewrap.path
            full = [*bubblewrap.arguments(path, cage, folder, env, write_fd), *argv]
            self.process = _start(full, env, cage.cwd, (write_fd,))
        except BaseException:
            self._status.close()
            raise
        finally:
            os.close(write_fd)
        # bubblewrap says which process is the namespace's first before it does anything else, and
        # ends without a word when it can't create one.
        self._read_report()
        if "child-pid" in self._reports:
            with contextlib.suppress(OSError):
                self._first_pidfd = os.pidfd_open(self._reports["child-pid"])

    def kill(self) -> None:
        if self._first_pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_pidfd, signal.SIGKILL)
        self.process.kill()

    def settle(self) -> None:
        self.process.wait()
        if self._first_pidfd is not None:
            # Readable when the process is gone, and it is gone last of its namespace.
            select.select([self._first_pidfd], [], [], _GONE_S)
            os.close(self._first_pidfd)
            self._first_pidfd = None
            with contextlib.suppress(ChildProcessError):  # ours only where codeforge is the init process
                os.waitpid(self._reports["child-pid"], os.WNOHANG)
        while self._read_report():
            pass
        self._status.close()

    def exit_code(self) -> int | None:
        return self._reports.get("exit-code")

    def _read_report(self) -> bool:
        line = self._status.readline()
        if line:
            self._reports.update(json.loads(line))
        return bool(line)


class SupervisedChild:
    """A command below `codeforge.sandbox.supervisor`, in Landlock or with limits only."""

    def __init__(
        self, argv: Sequence[str], cage: Cage, folder: Path, env: Mapping[str, str], *, landlock: bool
    ) -> None:
        self._cookie = env[RUN_COOKIE]
        self._said = b""
        lifeline_read, self._lifeline = os.pipe()
        self._status, status_write = os.pipe()
        options = self._options(cage, folder) if landlock else []
        python = [sys.executable, "-I", "-S", "-c", _SUPERVISOR.format(_PACKAGE_ROOT)]
        full = [*python, str(lifeline_read), str(status_write), *options, "--", *argv]
        try:
            self.process = _start(full, env, cage.cwd, (lifeline_read, status_write))
        except BaseException:
            os.close(self._status)
            os.close(self._lifeline)
            raise
        finally:
            os.close(lifeline_read)
            os.close(status_write)

    @staticmethod
    def _options(cage: Cage, folder: Path) -> list[str]:
        options = ["--landlock", *(["--network"] if cage.network else [])]
        for path in (*cage.writable, folder / "tmp"):
            options += ["--writable", str(path)]
        for path in hidden_paths():
            options += ["--hidden", str(path)]
        return options

    def kill(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def settle(self) -> None:
        self.kill()
        try:
            self.process.wait(_SUPERVISOR_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        while chunk := os.read(self._status, 4096):
            self._said += chunk
        os.close(self._status)
        if not self._said.endswith(b"\n") or not sys.platform.startswith("linux"):
            # The supervisor was killed, or couldn't adopt orphans here.
            end_marked(self._cookie)
        if self._said.startswith(b"error"):
            raise EnvironmentUnavailableError(
                f"The command could not be caged: {self._said.decode('utf-8', 'replace')[6:].strip()}.",
                kept="Nothing was run.",
                hint="`codeforge doctor` says what the sandbox needs.",
            )

    def exit_code(self) -> int | None:
        return int(self._said.split()[1]) if self._said.startswith(b"exit") else None


class PlainChild:
    """A command with no cage, where there is neither Linux nor any POSIX system."""

    def __init__(self, argv: Sequence[str], cage: Cage, env: Mapping[str, str]) -> None:
        self._cookie = env[RUN_COOKIE]
        self.process = _start(argv, env, cage.cwd, ())

    def kill(self) -> None:
        import psutil

        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self.process.kill()

    def settle(self) -> None:
        self.process.wait()
        end_marked(self._cookie)

    def exit_code(self) -> int | None:
        code = self.process.returncode
        return 128 - code if code < 0 else code


def start_child(
    isolation: Isolation, argv: Sequence[str], cage: Cage, folder: Path, env: Mapping[str, str]
) -> Child:
    """Start `argv` under `isolation`.

    Raises:
        EnvironmentUnavailableError: that isolation does not work here.
    """
    if isolation is Isolation.BUBBLEWRAP:
        if not probe_isolation().bubblewrap.usable:
            raise EnvironmentUnavailableError(
                f"bubblewrap can't be used: {probe_isolation().bubblewrap.reason}.", kept="Nothing was run."
            )
        return BubblewrapChild(argv, cage, folder, env)
    if os.name != "posix":
        return PlainChild(argv, cage, env)
    return SupervisedChild(argv, cage, folder, env, landlock=isolation is Isolation.LANDLOCK)


def end_marked(cookie: str) -> None:
    """Kill every process whose environment carries the run's mark, until there is none."""
    import psutil

    deadline = time.monotonic() + _GONE_S
    while time.monotonic() < deadline:
        marked = [process for process in psutil.process_iter() if _has_mark(process, cookie)]
        if not marked:
            return
        for process in marked:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(marked, timeout=0.5)


def _has_mark(process: "psutil.Process", cookie: str) -> bool:
    import psutil

    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        environment: dict[str, str] = process.environ()
    except (psutil.Error, OSError):
        return False
    return environment.get(RUN_COOKIE) == cookie


def _start(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, pass_fds: tuple[int, ...]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=dict(env),
        cwd=cwd,
        pass_fds=pass_fds,
        start_new_session=True,
    )
