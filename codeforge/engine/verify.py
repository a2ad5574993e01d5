"""Check one patch in a scratch tree, outside of any run of the loop."""

from collections.abc import Callable

from codeforge.git import GitRepo
from codeforge.patch.model import Patch
from codeforge.sandbox.check import run_check
from codeforge.sandbox.model import CheckResult, Limits
from codeforge.sandbox.workspace import WorkspacePool


def verifier(repo: GitRepo, command: str, *, timeout_s: float) -> Callable[[Patch], CheckResult]:
    """A function that runs `command` on a scratch copy of the user's tree with the patch written to it."""

    def verify(patch: Patch) -> CheckResult:
        with WorkspacePool.open(repo) as pool, pool.acquire() as workspace:
            workspace.write(patch)
            return run_check(workspace, command, Limits(wall_s=timeout_s), stage="full")

    return verify
