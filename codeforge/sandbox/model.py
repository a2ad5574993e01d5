"""The nouns of the sandbox: limits, command results, per-test outcomes, `CheckResult`."""

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one command. Sizes in bytes, times in seconds."""

    wall_s: float = 300.0
    cpu_s: float | None = None
    memory_bytes: int | None = 4 * 1024**3
    file_bytes: int | None = 512 * 1024**2
    output_bytes: int = 2 * 1024**2
    processes: int | None = 512


class Isolation(StrEnum):
    """How a command was caged, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    LIMITS_ONLY = "limits-only"


class KillReason(StrEnum):
    """Why codeforge killed a command."""

    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What one caged command did.

    Attributes:
        command: the shell command line.
        exit_code: its exit status; `None` when it was killed by codeforge.
        stdout, stderr: decoded output; when longer than the limit, the head and the tail with a
            line between them that says how much was dropped.
        duration_s: wall-clock seconds.
        timed_out: the wall-clock limit was reached.
        output_truncated: the output limit was reached.
        isolation: how it was caged.
        killed: why codeforge killed it; `None` when it ended by itself.
    """

    command: str
    exit_code: int | None
    stdout: str
    stderr: str
    duration_s: float
    timed_out: bool
    output_truncated: bool
    isolation: Isolation
    killed: KillReason | None = None


class TestStatus(StrEnum):
    """Outcome of one test."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """One test's outcome; `message` is one line, `details` the traceback or log."""

    __test__ = False

    id: str
    status: TestStatus
    duration_s: float = 0.0
    message: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One stage of checking one tree.

    Attributes:
        stage: "baseline", "probe", "full", …
        command: the command line that ran.
        exit_code: `None` when killed.
        outcomes: per-test results; empty when the output could not be parsed.
        duration_s: wall-clock seconds.
        stdout_tail, stderr_tail: the ends of the output.
        timed_out: the wall-clock limit was reached.
        isolation: how it was caged.
    """

    stage: str
    command: str
    exit_code: int | None
    outcomes: tuple[TestOutcome, ...] = field(default=())
    duration_s: float = 0.0
    stdout_tail: str = ""
    stderr_tail: str = ""
    timed_out: bool = False
    isolation: Isolation = Isolation.LIMITS_ONLY

    @property
    def passed(self) -> bool:
        """The command exited with 0 in time, and no parsed test failed."""
        return self.exit_code == 0 and not self.timed_out and not self.failing

    @property
    def failing(self) -> tuple[TestOutcome, ...]:
        """The outcomes that count against the tree."""
        bad = (TestStatus.FAILED, TestStatus.ERROR, TestStatus.TIMEOUT)
        return tuple(outcome for outcome in self.outcomes if outcome.status in bad)

    @property
    def stopped_because(self) -> str:
        """Why codeforge killed the command, in words; "" when it ended by itself."""
        if self.exit_code is not None:
            return ""
        lines = self.stderr_tail.strip().splitlines()
        return lines[-1] if lines else f"it ran out of time after {self.duration_s:.0f} s"

    @property
    def pass_fraction(self) -> float:
        """Share of non-skipped tests that pass; 1.0 or 0.0 by exit status when none was parsed."""
        counted = [outcome for outcome in self.outcomes if outcome.status is not TestStatus.SKIPPED]
        if not counted:
            return 1.0 if self.passed else 0.0
        return sum(outcome.status is TestStatus.PASSED for outcome in counted) / len(counted)
