"""The nouns of the archive: what a session, a step, a message and a candidate look like when read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

FORMAT_VERSION = 1


class SessionStatus(StrEnum):
    """How a session stands. `INTERRUPTED` also shows for a running session whose process is gone."""

    RUNNING = "running"
    SOLVED = "solved"
    NO_PATCH = "no_patch"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A candidate as recorded. Recording the same id again replaces what the archive shows of it.

    Attributes:
        id: unique within its session.
        parent: the candidate it was made from.
        origin: model version, prompt version, seed, temperature, operator.
        edits: the edits (dataclasses or plain mappings; read back as mappings).
        diff: the unified diff.
        checks: the check results (dataclasses or mappings; read back as mappings).
        reward: the reward, when it has one.
        status: "proposed", "refused", "checked", "selected", "applied", …
    """

    id: str
    parent: str | None
    origin: Mapping[str, object]
    edits: Sequence[object]
    diff: str
    checks: Sequence[object] = ()
    reward: Mapping[str, object] | None = None
    status: str = "proposed"


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message of a session; `step_seq` is its place among the steps."""

    seq: int
    step_seq: int
    hash: str
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A link of the chain.

    Attributes:
        seq: its place, from 0.
        kind: "start", "message", "localize", "context", "propose", "check", "candidate", "finish", …
        payload: what happened.
        elapsed_s: seconds it took.
        tokens: a count or a usage mapping, or `None`.
        at: when it was written, UTC, ISO 8601.
        content_hash: SHA-256 of the canonical JSON of kind and payload.
        hash: covers the content hash, the step before, seq, elapsed_s, tokens and at.
    """

    seq: int
    kind: str
    payload: Mapping[str, object]
    elapsed_s: float
    tokens: object
    at: str
    content_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in one line. `repo` and `issue` are "" when the task names none."""

    id: str
    command: str
    status: SessionStatus
    repo: str
    issue: str
    model: str
    started_at: str
    finished_at: str | None
    steps: int
    candidates: int
    parent_session: str | None
    forked_at_seq: int | None


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A whole session."""

    summary: SessionSummary
    task: Mapping[str, object]
    versions: Mapping[str, object]
    result: Mapping[str, object]
    messages: tuple[MessageRecord, ...]
    steps: tuple[StepRecord, ...]
    candidates: tuple[CandidateRecord, ...]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What verifying a session found; no problems means that nothing was changed since it was written."""

    session_id: str
    steps: int
    messages: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the session is as it was written."""
        return not self.problems
