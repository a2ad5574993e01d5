"""From edits to a candidate with evidence: resolve, write to a scratch tree, check, reward."""

import hashlib
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from codeforge.engine.candidate import Candidate, Origin
from codeforge.engine.evidence import Evidence, probed_check
from codeforge.errors import PatchRefusedError
from codeforge.localize.model import Location
from codeforge.patch.apply import resolve_patch
from codeforge.patch.diff import render_patch
from codeforge.patch.model import EditBlock, Patch
from codeforge.reward.changes import changed_lines
from codeforge.reward.compute import compute_reward
from codeforge.reward.protected import protected_reason
from codeforge.sandbox.check import run_check
from codeforge.sandbox.model import CheckResult, Limits
from codeforge.sandbox.probe import FailureDetail
from codeforge.sandbox.workspace import Workspace, WorkspacePool


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A candidate and why its failing tests fail, for the next round's prompt."""

    candidate: Candidate
    failures: tuple[FailureDetail, ...]


class Evaluator:
    """Checks candidates of one run. Safe to use from several threads.

    Args:
        pool: scratch trees of the user's tree.
        command: what judges; `None` when nothing can be verified.
        limits: of the full check.
        evidence: the baseline; `None` without a command.
        locations: what localization named.
        scope: globs of what may be edited; protected files need to be named by it.
        network: whether checks may use the network.
        cancel: ends running checks.
    """

    def __init__(
        self,
        pool: WorkspacePool,
        command: str | None,
        limits: Limits,
        evidence: Evidence | None,
        locations: Sequence[Location],
        *,
        scope: Sequence[str],
        network: bool,
        cancel: threading.Event,
    ) -> None:
        self._pool = pool
        self._command = command
        self._limits = limits
        self._evidence = evidence
        self._locations = tuple(locations)
        self._scope = tuple(scope)
        self._network = network
        self._cancel = cancel
        self._numbers = itertools.count(1)
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def resolve(self, edits: Sequence[EditBlock]) -> Patch:
        """Resolve `edits` against the captured tree.

        Raises:
            PatchRefusedError: they can't be made, change nothing, or touch protected files.
            PermissionDeniedError: they lie outside the scope.
        """
        patch = resolve_patch(edits, self._pool.template.tree, scope=self._scope)
        if not patch.changes:
            raise PatchRefusedError("The edits change nothing.", kept="nothing was changed")
        if not self._scope:
            for path in patch.paths:
                reason = protected_reason(path)
                if reason:
                    raise PatchRefusedError(
                        f"{path} {reason}, and what judges a change can't be part of it.",
                        kept="nothing was changed",
                        hint=f"name it to allow it: --scope {path}",
                    )
        return patch

    @staticmethod
    def key(patch: Patch) -> str:
        """A hash of the bytes that `patch` leads to."""
        digest = hashlib.sha256()
        for change in patch.changes:
            digest.update(change.path.encode() + b"\0")
            digest.update(b"\1" if change.after is None else b"\2" + change.after)
        return digest.hexdigest()

    def is_new(self, key: str) -> bool:
        """Whether no earlier patch of this run led to the same bytes; remembers it."""
        with self._lock:
            new = key not in self._seen
            self._seen.add(key)
        return new

    def evaluate(self, patch: Patch, origin: Origin, parent: str | None = None) -> Evaluated:
        """Check `patch` in a scratch tree and reward it."""
        checks: tuple[CheckResult, ...] = ()
        failures: tuple[FailureDetail, ...] = ()
        if self._command is not None:
            with self._pool.acquire() as workspace:
                workspace.write(patch)
                checks, failures = self._check(workspace, self._command)
        reward = compute_reward(
            patch,
            changed_lines(patch),
            baseline=self._evidence.check if self._evidence else None,
            check=checks[-1] if checks else None,
            locations=self._locations,
        )
        with self._lock:
            name = f"c{next(self._numbers)}"
        return Evaluated(
            Candidate(name, patch, render_patch(patch), origin, checks, reward, parent), failures
        )

    def _check(
        self, workspace: Workspace, command: str
    ) -> tuple[tuple[CheckResult, ...], tuple[FailureDetail, ...]]:
        """The cascade: a probed run that says why tests fail; when it finds nothing wrong, or nothing but
        tests that may just be slow, the user's command exactly as it is."""
        checks: list[CheckResult] = []
        failures: tuple[FailureDetail, ...] = ()
        if self._evidence is not None and self._evidence.probed:
            check, failures = self._probe(workspace, command, self._evidence)
            checks.append(check)
            only_slow = failures and all(failure.hung for failure in failures)
            if not check.passed and not (only_slow and not self._hung_before(failures)):
                return tuple(checks), failures
        checks.append(
            run_check(
                workspace, command, self._limits, stage="full", network=self._network, cancel=self._cancel
            )
        )
        return tuple(checks), failures

    def _probe(
        self, workspace: Workspace, command: str, evidence: Evidence
    ) -> tuple[CheckResult, tuple[FailureDetail, ...]]:
        check, report = probed_check(
            workspace,
            command,
            self._limits,
            stage="probe",
            hang_limit_s=evidence.hang_limit_s,
            network=self._network,
            cancel=self._cancel,
            first=evidence.failing_ids,
            coverage=False,
        )
        return check, report.failures

    def _hung_before(self, failures: Sequence[FailureDetail]) -> bool:
        before = {f.test_id for f in self._evidence.failures if f.hung} if self._evidence else set()
        return any(failure.test_id in before for failure in failures)
