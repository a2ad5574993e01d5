"""What the tree does before any change: the user's command, seen through the probe where it runs pytest."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.sandbox.check import run_check
from codeforge.sandbox.model import CheckResult, Limits, TestStatus
from codeforge.sandbox.probe import (
    FailureDetail,
    ObservedTypes,
    ProbeReport,
    is_pytest_command,
    probe_env,
    read_probe,
    suspicions,
)
from codeforge.sandbox.workspace import Workspace

HANG_LIMIT_S = 2.0
"""First guess of how long one test may run before it counts as hanging; see `examine`."""
PATIENT_LIMIT_S = 15.0
"""The limit with which a suspected hang is looked at once more."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The baseline.

    Attributes:
        check: the user's command on the unchanged tree.
        failures: why each failing test fails, where the probe could see it.
        types: observed types of locals; see `ProbeReport.types`.
        suspicious: by path, by 1-based line: suspicion in (0, 1].
        hang_limit_s: how long one test may run under the probe.
        probed: whether the probe works with this command.
    """

    check: CheckResult
    failures: tuple[FailureDetail, ...]
    types: ObservedTypes
    suspicious: Mapping[str, Mapping[int, float]]
    hang_limit_s: float
    probed: bool

    @property
    def failing_ids(self) -> list[str]:
        """Failing tests, those that fail soonest first: hanging ones cost their whole limit."""
        ranked = sorted(self.check.failing, key=lambda o: (o.status is TestStatus.TIMEOUT, o.duration_s))
        return [outcome.id for outcome in ranked]


def examine(
    workspace: Workspace, command: str, limits: Limits, *, network: bool, cancel: threading.Event
) -> Evidence:
    """Run `command` on the unchanged tree and say why it fails.

    Under the probe a test that runs longer than a limit is stopped where it stands, so that an endless
    loop becomes a failure with a line. A test that is merely slow must not be taken for one: when a
    hang is seen, one such test is given `PATIENT_LIMIT_S`, and if it ends all is run again with that limit.
    """
    if not is_pytest_command(command):
        check = run_check(workspace, command, limits, stage="baseline", cancel=cancel)
        return Evidence(check, (), {}, {}, HANG_LIMIT_S, probed=False)
    limit = HANG_LIMIT_S
    check, report = _probed(workspace, command, limits, limit, network=network, cancel=cancel)
    hung = [failure.test_id for failure in report.failures if failure.hung]
    if hung and _merely_slow(workspace, command, limits, hung[0], network=network, cancel=cancel):
        limit = PATIENT_LIMIT_S
        check, report = _probed(workspace, command, limits, limit, network=network, cancel=cancel)
    # A command that pytest refuses (a plugin clash, an odd interpreter) leaves no record: go without.
    probed = bool(report.outcomes)
    return Evidence(check, report.failures, report.types, suspicions(report), limit, probed)


def _probed(
    workspace: Workspace,
    command: str,
    limits: Limits,
    hang_limit_s: float,
    *,
    network: bool,
    cancel: threading.Event,
    only: Sequence[str] = (),
) -> tuple[CheckResult, ProbeReport]:
    root = workspace.cage().inside(workspace.tree)
    out = _fresh(workspace.reports, "baseline")
    base = dict(workspace.cage().env)
    env = probe_env(out, root=root, only=only, test_limit_s=hang_limit_s, base=base)
    check = run_check(workspace, command, limits, stage="baseline", env=env, network=network, cancel=cancel)
    report = read_probe(out, root)
    if report.outcomes:
        check = with_outcomes(check, report)
    return check, report


def _merely_slow(
    workspace: Workspace,
    command: str,
    limits: Limits,
    test_id: str,
    *,
    network: bool,
    cancel: threading.Event,
) -> bool:
    _, report = _probed(
        workspace, command, limits, PATIENT_LIMIT_S, network=network, cancel=cancel, only=[test_id]
    )
    return bool(report.outcomes) and not any(failure.hung for failure in report.failures)


def with_outcomes(check: CheckResult, report: ProbeReport) -> CheckResult:
    """The check with the probe's outcomes, which know hangs and are there even after a kill."""
    return CheckResult(
        stage=check.stage,
        command=check.command,
        exit_code=check.exit_code,
        outcomes=report.outcomes,
        duration_s=check.duration_s,
        stdout_tail=check.stdout_tail,
        stderr_tail=check.stderr_tail,
        timed_out=check.timed_out,
        isolation=check.isolation,
    )


def _fresh(folder: Path, stem: str) -> Path:
    """A file name below `folder` that no earlier run of this workspace used."""
    count = sum(1 for _ in folder.glob(f"{stem}-*.jsonl"))
    return folder / f"{stem}-{count + 1}.jsonl"
