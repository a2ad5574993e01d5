"""`TaskSpec`: what is to be solved, and how it is judged."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task.

    Attributes:
        id: names the task; for `fix` the session's id.
        repo: the repository's root (a path) or its name.
        base_commit: the commit that the tree stands on.
        issue: the issue text.
        test_command: the command that judges; `None` when there is none.
        allowed_commands: further commands that a candidate's checks may run.
        visible_tests: ids of the tests whose outcome a proposer may see.
        hidden_tests: ids of tests that no proposer ever sees.
        edit_scope: globs of the files that may be edited; empty means every file but the tests.
        source: where the task comes from ("fix", "smoke", "swe-bench", …).
        meta: what else the source says.
    """

    id: str
    repo: str
    base_commit: str
    issue: str
    test_command: str | None = None
    allowed_commands: tuple[str, ...] = ()
    visible_tests: tuple[str, ...] = ()
    hidden_tests: tuple[str, ...] = ()
    edit_scope: tuple[str, ...] = ()
    source: str = "fix"
    meta: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The task as plain JSON values."""
        return asdict(self)
