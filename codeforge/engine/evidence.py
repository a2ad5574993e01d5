"""What the tree does before any change: the user's command, seen through the probe where it runs pytest."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
        check = run_check(workspace, command, limits, stage="baseline", network=network, cancel=cancel)
        return Evidence(check, (), {}, {}, HANG_LIMIT_S, probed=False)
    probed = partial(
        probed_check, workspace, command, limits, stage="baseline", network=network, cancel=cancel
    )
    limit = HANG_LIMIT_S
    check, report = probed(hang_limit_s=limit)
    hung = [failure.test_id for failure in report.failures if failure.hung]
    if hung and _merely_slow(probed(hang_limit_s=PATIENT_LIMIT_S, only=hung[:1])[1]):
        limit = PATIENT_LIMIT_S
        check, report = probed(hang_limit_s=limit)
    # A command that pytest refuses (a plugin clash, an odd interpreter) leaves no record: go without.
    seen = bool(report.outcomes)
    return Evidence(check, report.failures, report.types, suspicions(report), limit, seen)


def probed_check(
    workspace: Workspace,
    command: str,
    limits: Limits,
    *,
    stage: str,
    hang_limit_s: float,
    network: bool,
    cancel: threading.Event,
    only: Sequence[str] = (),
    first: Sequence[str] = (),
    coverage: bool = True,
) -> tuple[CheckResult, ProbeReport]:
    """Run a pytest command under the probe; the check has the probe's outcomes, which know hangs and are
    there even after a kill. `only`, `first` and `coverage` are those of `probe_env`."""
    cage = workspace.cage()
    root = cage.inside(workspace.tree)
    out = _fresh(workspace.reports, stage)
    env = probe_env(
        out,
        root=root,
        only=only,
        first=first,
        coverage=coverage,
        test_limit_s=hang_limit_s,
        base=dict(cage.env),
    )
    check = run_check(workspace, command, limits, stage=stage, env=env, network=network, cancel=cancel)
    report = read_probe(out, root)
    if report.outcomes:
        check = replace(check, outcomes=report.outcomes)
    return check, report


def _merely_slow(patient: ProbeReport) -> bool:
    """Whether the suspected hang ended after all, with whatever result."""
    return bool(patient.outcomes) and not any(failure.hung for failure in patient.failures)


def _fresh(folder: Path, stem: str) -> Path:
    """A file name below `folder` that no earlier run of this workspace used."""
    count = sum(1 for _ in folder.glob(f"{stem}-*.jsonl"))
    return folder / f"{stem}-{count + 1}.jsonl"
