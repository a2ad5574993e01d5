"""Running one command in its cage: `run_command`."""

import codecs
import os
import queue
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from codeforge.errors import EnvironmentUnavailableError
from codeforge.sandbox.cage import Cage, filtered_environment, shell_path
from codeforge.sandbox.children import Child, start_child
from codeforge.sandbox.isolation import available_isolation, isolation_warning, supports_mounts
from codeforge.sandbox.limits import OUTPUT_KILL_FACTOR, TreeMeter, limited_shell
from codeforge.sandbox.model import CommandResult, Isolation, KillReason, Limits
from codeforge.sandbox.output import BoundedOutput
from codeforge.sandbox.run_folder import remove_stale_run_folders, run_folder

__all__ = ["Cage", "available_isolation", "isolation_warning", "run_command", "supports_mounts"]

Stream = Literal["stdout", "stderr"]
OutputCallback = Callable[[Stream, str], None]

_CHUNK = 65536
_CANCEL_POLL_S = 0.05
_METER_POLL_S = 0.15
_DRAIN_S = 2.0

_swept_lock = threading.Lock()
_swept = False


def run_command(
    command: str,
    cage: Cage,
    limits: Limits,
    *,
    cancel: threading.Event | None = None,
    on_output: OutputCallback | None = None,
    isolation: Isolation | None = None,
) -> CommandResult:
    """Run a shell command line in its cage and wait for its end.

    Standard input is empty. When this returns or raises, no process that the command started is left,
    whether it ended by itself, ran into a limit or was cancelled. A command that codeforge killed has
    `exit_code` `None`, `killed` says why, and the last line of `stderr` says it in words.

    Args:
        command: run by bash where there is one, else by sh.
        cage: what it may see and do.
        limits: what it may use. Memory and processes count over the whole tree and are measured every
            0.15 s; CPU time and file size are limits of each process, kept by the kernel.
        cancel: kills the command soon (0.05 s) after it is set, from any thread.
        on_output: gets the output as it comes, in the calling thread; an exception from it kills the
            command and goes to the caller.
        isolation: another than `available_isolation()`.

    Raises:
        EnvironmentUnavailableError: a folder of the cage is missing, or the cage can't be set up.
    """
    cage.check()
    _sweep_once()
    chosen = isolation or available_isolation()
    run_id = uuid.uuid4().hex
    with run_folder() as folder:
        tmp = folder / "tmp"
        tmp.mkdir()
        if os.name == "posix":
            tmp.chmod(0o1777)
        env = filtered_environment(cage, "/tmp" if supports_mounts(chosen) else str(tmp), run_id)
        argv = _shell_arguments(command, env, limits)
        return _Run(command, cage, limits, chosen, cancel, on_output).run(argv, folder, env)


def _shell_arguments(command: str, env: dict[str, str], limits: Limits) -> list[str]:
    if os.name == "posix":
        return limited_shell(command, shell_path(env), limits)
    return [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c", command]


def _sweep_once() -> None:
    global _swept
    with _swept_lock:
        if not _swept:
            _swept = True
            remove_stale_run_folders()


@dataclass(frozen=True, slots=True)
class _Output:
    """A piece of a stream; empty at its end."""

    stream: Stream
    data: bytes


@dataclass(frozen=True, slots=True)
class _Exited:
    """The started process has ended."""


_Event = _Output | _Exited


class _Run:
    """One run: threads turn the pipes and the process's end into events, the caller's thread acts on them."""

    def __init__(
        self,
        command: str,
        cage: Cage,
        limits: Limits,
        isolation: Isolation,
        cancel: threading.Event | None,
        on_output: OutputCallback | None,
    ) -> None:
        self._command = command
        self._cage = cage
        self._limits = limits
        self._isolation = isolation
        self._cancel = cancel
        self._on_output = on_output
        # Bounded, so that a flood waits for this thread instead of filling the memory.
        self._events: queue.Queue[_Event] = queue.Queue(maxsize=64)
        self._outputs: dict[Stream, BoundedOutput] = {
            "stdout": BoundedOutput(limits.output_bytes),
            "stderr": BoundedOutput(limits.output_bytes),
        }
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in self._outputs}
        self._open: set[Stream] = {"stdout", "stderr"}
        self._exited = False
        self._killed: tuple[KillReason, str] | None = None

    def run(self, argv: list[str], folder: Path, env: dict[str, str]) -> CommandResult:
        started = time.monotonic()
        child = start_child(self._isolation, argv, self._cage, folder, env)
        try:
            try:
                self._listen(child)
                self._killed = self._until_exit(child, started)
            finally:
                # Whatever happened, an interrupt included.
                child.kill()
                child.settle()
            self._until_drained(tell=True)
        except BaseException:
            self._until_drained(tell=False)  # lets the threads end
            raise
        return self._result(child, time.monotonic() - started)

    def _listen(self, child: Child) -> None:
        pipes: dict[Stream, IO[bytes] | None] = {
            "stdout": child.process.stdout,
            "stderr": child.process.stderr,
        }
        for name, pipe in pipes.items():
            threading.Thread(target=self._pump, args=(name, pipe), daemon=True).start()
        threading.Thread(target=self._wait, args=(child,), daemon=True).start()

    def _pump(self, name: Stream, pipe: IO[bytes]) -> None:
        with pipe:
            while data := pipe.read(_CHUNK):
                self._events.put(_Output(name, data))
        self._events.put(_Output(name, b""))

    def _wait(self, child: Child) -> None:
        child.process.wait()
        self._events.put(_Exited())

    def _until_exit(self, child: Child, started: float) -> tuple[KillReason, str] | None:
        """Follow the command to its end, or to the limit that it broke."""
        deadline = started + self._limits.wall_s
        meter = TreeMeter(child.process.pid)
        measure_at = started + _METER_POLL_S
        while not self._exited:
            now = time.monotonic()
            if self._cancel is not None and self._cancel.is_set():
                return KillReason.CANCELLED, "it was cancelled"
            if now >= deadline:
                return KillReason.TIMEOUT, f"it ran longer than {self._limits.wall_s:g} s"
            if now >= measure_at:
                if over := meter.exceeded(self._limits):
                    return over
                # A large tree is dear to measure: never spend more than a tenth of the time on it.
                now, before = time.monotonic(), now
                measure_at = now + max(_METER_POLL_S, 10 * (now - before))
            wait = min(deadline, measure_at) - now
            self._next_event(wait if self._cancel is None else min(wait, _CANCEL_POLL_S))
            if self._flooded():
                return KillReason.OUTPUT, f"it wrote over {OUTPUT_KILL_FACTOR} times the output limit"
        return None

    def _next_event(self, timeout: float, *, tell: bool = True) -> bool:
        try:
            event = self._events.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return False
        if isinstance(event, _Exited):
            self._exited = True
            return True
        self._outputs[event.stream].feed(event.data)
        if not event.data:
            self._open.discard(event.stream)
        if tell and self._on_output is not None:
            text = self._decoders[event.stream].decode(event.data, final=not event.data)
            if text:
                self._on_output(event.stream, text)
        return True

    def _flooded(self) -> bool:
        most = OUTPUT_KILL_FACTOR * self._limits.output_bytes
        return any(output.total > most for output in self._outputs.values())

    def _until_drained(self, *, tell: bool) -> None:
        """Take what is left in the pipes; they close as the last process that holds them ends."""
        deadline = time.monotonic() + _DRAIN_S
        while self._open or not self._exited:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._next_event(left, tell=tell)

    def _result(self, child: Child, duration_s: float) -> CommandResult:
        stderr = self._outputs["stderr"].text()
        exit_code = None
        if self._killed is not None:
            stderr += f"\n[codeforge killed the command: {self._killed[1]}]\n"
        else:
            exit_code = child.exit_code()
            if exit_code is None:
                raise EnvironmentUnavailableError(
                    f"The command could not be run in its cage ({self._isolation}): "
                    f"{stderr.strip() or 'its supervisor was killed'}",
                    hint="`codeforge doctor` says what the sandbox needs.",
                )
        reason = self._killed[0] if self._killed else None
        return CommandResult(
            command=self._command,
            exit_code=exit_code,
            stdout=self._outputs["stdout"].text(),
            stderr=stderr,
            duration_s=duration_s,
            timed_out=reason is KillReason.TIMEOUT,
            output_truncated=any(output.truncated for output in self._outputs.values()),
            isolation=self._isolation,
            killed=reason,
        )
