"""Screening mutants with a command that is not pytest: one run of it for each mutant."""

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from codeforge.patch.model import Patch
from codeforge.sandbox.check import run_check
from codeforge.sandbox.model import Limits
from codeforge.sandbox.workspace import WorkspacePool

MIN_RUNS = 20
"""A command of which fewer runs fit in the time budget is not worth running for guesses."""


@dataclass(slots=True)
class _Progress:
    """What the workers share."""

    waiting: Iterator[tuple[str, Patch]]
    deadline: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    tried: int = 0
    passing: list[str] = field(default_factory=list)

    def next(self) -> tuple[str, Patch] | None:
        """The next mutant, or `None` when one passed, time is up or none is left."""
        with self.lock:
            if self.passing or time.monotonic() > self.deadline:
                return None
            found = next(self.waiting, None)
            self.tried += found is not None
            return found


def rerun_screen(
    pool: WorkspacePool,
    command: str,
    patches: Mapping[str, Patch],
    *,
    baseline_s: float,
    wall_s: float,
    workers: int,
    limits: Limits,
    network: bool,
    cancel: threading.Event,
) -> tuple[int, list[str]]:
    """Run `command` on the tree with each patch, in order, until one passes.

    Args:
        patches: by name, best first.
        baseline_s: seconds that the command took before any change.
        wall_s: seconds for all of it.

    Returns:
        how many were tried, and the names of those that pass.
    """
    if baseline_s * MIN_RUNS > wall_s * workers:
        return 0, []
    # A mutant that runs much longer than the defect did is hanging.
    patient = replace(limits, wall_s=min(limits.wall_s, 2.0 + 5 * baseline_s))
    progress = _Progress(iter(patches.items()), time.monotonic() + wall_s)

    def work(_: int) -> None:
        with pool.acquire() as workspace:
            while not cancel.is_set() and (item := progress.next()) is not None:
                name, patch = item
                workspace.write(patch)
                check = run_check(workspace, command, patient, stage="screen", network=network, cancel=cancel)
                workspace.reset()
                if check.passed:
                    with progress.lock:
                        progress.passing.append(name)

    with ThreadPoolExecutor(max_workers=workers) as threads:
        list(threads.map(work, range(workers)))
    return progress.tried, sorted(progress.passing, key=list(patches).index)
