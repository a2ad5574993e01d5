"""Candidates that need no model: deterministic mutations of suspicious lines, screened by the tests."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from codeforge.engine.candidate import Origin
from codeforge.engine.evidence import HANG_LIMIT_S, Evidence
from codeforge.engine.mutate import Mutation, MutationHints, mutate
from codeforge.engine.rerun_screen import rerun_screen
from codeforge.engine.targets import function_targets
from codeforge.errors import CodeforgeError
from codeforge.localize.model import EntityKind, Location
from codeforge.patch.apply import resolve_patch
from codeforge.patch.model import Patch
from codeforge.patch.textfile import read_text_file
from codeforge.reward.protected import protected_reason
from codeforge.sandbox.model import Limits, TestStatus
from codeforge.sandbox.probe import probe_env
from codeforge.sandbox.screen.screen import ScreenJob, ScreenPlan, screen
from codeforge.sandbox.workspace import Workspace, WorkspacePool

_FILES = 4
_FUNCTIONS = 3
_JOB_FLOOR_S = 5.0
_HANG_S = 0.7
"""A mutant's test counts as hanging after this; the probe raises it to 20 times the longest passing test."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What screening found: how many mutants ran, and those that pass, best first."""

    tried: int
    passing: tuple[tuple[Patch, Origin], ...]
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class ScreenBudget:
    """How much screening may cost: mutants, wall-clock seconds, processes side by side."""

    mutants: int
    wall_s: float
    workers: int


def screen_mutants(
    pool: WorkspacePool,
    command: str,
    evidence: Evidence,
    locations: Sequence[Location],
    budget: ScreenBudget,
    limits: Limits,
    *,
    scope: Sequence[str],
    seed: int,
    network: bool,
    cancel: threading.Event,
) -> Screened:
    """Mutate the suspicious lines and run the tests on every mutant until some pass.

    Where the probe works (pytest), coverage says which lines are suspicious, and one interpreter judges
    many mutants. With another command that fails, the lines of the likeliest functions are mutated, and the
    command runs once a mutant.
    """
    started = time.monotonic()
    if evidence.check.passed or evidence.check.timed_out or budget.mutants <= 0:
        return Screened(0, (), 0.0)
    ranked = _ranked_mutations(pool, evidence, locations, scope, budget.mutants, seed)
    patches = dict(_resolved(pool, ranked, scope))
    if not evidence.probed:
        tried, names = rerun_screen(
            pool,
            command,
            {name: patch for name, (patch, _) in patches.items()},
            baseline_s=evidence.check.duration_s,
            wall_s=budget.wall_s,
            workers=budget.workers,
            limits=limits,
            network=network,
            cancel=cancel,
        )
        return Screened(tried, tuple(patches[name] for name in names), time.monotonic() - started)
    jobs = [
        ScreenJob(name, patch.changes[0].path, patch.changes[0].after or b"")
        for name, (patch, _) in patches.items()
    ]
    if not jobs:
        return Screened(0, (), time.monotonic() - started)
    with ExitStack() as stack:
        workers = min(budget.workers, len(jobs))
        workspaces = [stack.enter_context(pool.acquire()) for _ in range(workers)]
        plan = _plan(command, evidence, budget, limits, network=network)
        results = screen(workspaces, jobs, plan, cancel=cancel)
    passing = tuple(patches[result.id] for result in results if result.passed)
    return Screened(len(results), passing, time.monotonic() - started)


def _plan(
    command: str,
    evidence: Evidence,
    budget: ScreenBudget,
    limits: Limits,
    *,
    network: bool,
) -> ScreenPlan:
    """Failing tests first, stop at the first failure. A mutant may take as long as all the tests that
    passed took, threefold, plus one hang."""
    passing_s = sum(o.duration_s for o in evidence.check.outcomes if o not in evidence.check.failing)
    hang_limit = _hang_limit(evidence)
    job_limit = max(_JOB_FLOOR_S, 3 * passing_s + 2 * hang_limit)

    def env(workspace: Workspace) -> dict[str, str]:
        return probe_env(
            workspace.reports / "screen.jsonl",
            root=workspace.cage().inside(workspace.tree),
            first=evidence.failing_ids,
            fail_fast=True,
            coverage=False,
            test_limit_s=hang_limit,
            base=dict(workspace.cage().env),
        )

    return ScreenPlan(command, env, replace(limits, wall_s=budget.wall_s), job_limit, network=network)


def _hang_limit(evidence: Evidence) -> float:
    """Seconds after which a mutant's test counts as hanging: a wrong result may take as long to compute as
    the right one, so three times the longest test that ended is allowed."""
    if evidence.hang_limit_s > HANG_LIMIT_S:
        return evidence.hang_limit_s  # a merely slow test was seen
    ended = [o.duration_s for o in evidence.check.outcomes if o.status is not TestStatus.TIMEOUT]
    return max(_HANG_S, 3 * max(ended, default=0.0))


def _ranked_mutations(
    pool: WorkspacePool,
    evidence: Evidence,
    locations: Sequence[Location],
    scope: Sequence[str],
    limit: int,
    seed: int,
) -> list[Mutation]:
    hints = MutationHints.from_failures(evidence.failures, evidence.types)
    found: list[Mutation] = []
    suspicious = evidence.suspicious or _lines_of_likely_functions(locations)
    for path, lines in _suspicious_files(suspicious, scope):
        source = read_text_file(pool.template.tree, path).text
        weighted = [(line, score * _weight(path, line, locations)) for line, score in lines.items()]
        found.extend(mutate(source, path, weighted, limit=limit, seed=seed, hints=hints))
    # Each file's own order is kept where priors tie (sorted is stable): it interleaves lines and operators.
    return sorted(found, key=lambda mutation: -mutation.prior)[:limit]


def _lines_of_likely_functions(locations: Sequence[Location]) -> dict[str, dict[int, float]]:
    """Without coverage every line of the likeliest functions is as suspicious as its function."""
    lines: dict[str, dict[int, float]] = {}
    for target in function_targets(locations, _FUNCTIONS):
        span = range(target.start_line, target.end_line + 1)
        lines.setdefault(target.path, {}).update(dict.fromkeys(span, 1.0))
    return lines


def _suspicious_files(
    suspicious: Mapping[str, Mapping[int, float]], scope: Sequence[str]
) -> Iterator[tuple[str, Mapping[int, float]]]:
    """The Python files with the most suspicious lines, most suspicious first."""
    allowed = [
        (path, lines)
        for path, lines in suspicious.items()
        if path.endswith(".py") and lines and (scope or protected_reason(path) is None)
    ]
    yield from sorted(allowed, key=lambda item: -max(item[1].values()))[:_FILES]


def _weight(path: str, line: int, locations: Sequence[Location]) -> float:
    """How much localization believes in a line, in (0, 1]: the share of the best location's score."""
    if not locations:
        return 1.0
    best = locations[0].score or 1.0
    inside = [
        location.score / best
        for location in locations
        if location.entity.kind is EntityKind.FUNCTION
        and location.entity.path == path
        and location.entity.start_line <= line <= location.entity.end_line
    ]
    return max(inside, default=0.2)


def _resolved(
    pool: WorkspacePool, mutations: Sequence[Mutation], scope: Sequence[str]
) -> Iterator[tuple[str, tuple[Patch, Origin]]]:
    for place, mutation in enumerate(mutations, start=1):
        try:
            patch = resolve_patch([mutation.edit], pool.template.tree, scope=scope)
        except CodeforgeError:
            continue  # outside the scope: not a mutant that may be tried
        if len(patch.changes) == 1:
            yield f"m{place}", (patch, Origin("mutation", mutation.operator, seed=place))
