"""Host side of the screening: jobs out, one pytest process a workspace, exit statuses back."""

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codeforge.sandbox.model import Limits
from codeforge.sandbox.runner import run_command
from codeforge.sandbox.workspace import Workspace

PLUGIN_DIR = Path(__file__).parent / "plugin"


@dataclass(frozen=True, slots=True)
class ScreenJob:
    """One variant: the new bytes of one file."""

    id: str
    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ScreenResult:
    """What pytest said of one variant: its exit status (`None` when it ran out of time), its seconds."""

    id: str
    exit_code: int | None
    duration_s: float

    @property
    def judged(self) -> bool:
        """The tests had a say: pytest's 3 and 4 mean that it broke down or was called wrongly."""
        return self.exit_code not in (3, 4)

    @property
    def passed(self) -> bool:
        """pytest exited with 0."""
        return self.exit_code == 0


@dataclass(frozen=True, slots=True)
class ScreenPlan:
    """How variants are screened.

    Attributes:
        command: the pytest command line.
        env: the probe's variables for one workspace (which tests run first, fail fast, limits).
        limits: of the whole run of one workspace.
        job_limit_s: wall-clock seconds of one variant.
        stop_after: a workspace stops after so many passing variants.
        network: whether the tests may use the network.
    """

    command: str
    env: Callable[[Workspace], Mapping[str, str]]
    limits: Limits
    job_limit_s: float
    stop_after: int = 1
    network: bool = False


def screen(
    workspaces: Sequence[Workspace],
    jobs: Sequence[ScreenJob],
    plan: ScreenPlan,
    *,
    cancel: threading.Event | None = None,
) -> list[ScreenResult]:
    """Run the tests on every variant, best first, until some pass; results in the order of `jobs`.

    Jobs are dealt to the workspaces in turn; when one workspace has its passing variants the others stop
    after the variant they are at. A variant that was not reached has no result.
    """
    hands = [list(jobs[i :: len(workspaces)]) for i in range(len(workspaces))]
    folders = [workspace.reports / "screen" for workspace in workspaces]
    for workspace, folder, hand in zip(workspaces, folders, hands, strict=True):
        _write_jobs(workspace, folder, hand, plan)

    def run(place: int) -> list[ScreenResult]:
        results = _run_one(workspaces[place], folders[place], plan, cancel)
        if sum(result.passed for result in results) >= plan.stop_after:
            for folder in folders:
                (folder / "stop").touch()
        return results

    with ThreadPoolExecutor(max_workers=len(workspaces)) as pool:
        found = {r.id: r for results in pool.map(run, range(len(workspaces))) for r in results}
    return [found[job.id] for job in jobs if job.id in found and found[job.id].judged]


def _write_jobs(workspace: Workspace, folder: Path, jobs: Sequence[ScreenJob], plan: ScreenPlan) -> None:
    folder.mkdir()
    cage = workspace.cage()
    rows = []
    for job in jobs:
        content = folder / f"{job.id}.content"
        content.write_bytes(job.content)
        rows.append(
            {
                "id": job.id,
                "path": str(cage.inside(workspace.tree / job.path)),
                "content": str(content),
                "out": str(folder / f"{job.id}.probe.jsonl"),
            }
        )
    memory = plan.limits.memory_bytes
    settings = {
        "jobs": rows,
        "job_limit_s": plan.job_limit_s,
        "stop_after": plan.stop_after,
        "memory_bytes": memory // 2 if memory else 0,
    }
    (folder / "jobs.json").write_text(json.dumps(settings), encoding="utf-8")


def _run_one(
    workspace: Workspace, folder: Path, plan: ScreenPlan, cancel: threading.Event | None
) -> list[ScreenResult]:
    env = dict(plan.env(workspace))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PLUGIN_DIR), env.get("PYTHONPATH", "")]))
    env["PYTEST_ADDOPTS"] = f"-p _codeforge_screen {env.get('PYTEST_ADDOPTS', '')}".strip()
    env["CODEFORGE_SCREEN_DIR"] = str(folder)
    run_command(plan.command, workspace.cage(network=plan.network, env=env), plan.limits, cancel=cancel)
    return _read_results(folder / "results.jsonl")


def _read_results(path: Path) -> list[ScreenResult]:
    results: list[ScreenResult] = []
    if not path.exists():
        return results
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            break  # the run was killed while it wrote its last line
        results.append(ScreenResult(row["id"], row["exit"], row["duration"]))
    return results
