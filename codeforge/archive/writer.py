"""Writing a session: every call is one transaction, so that it is on record when the call returns."""

from collections.abc import Mapping
from types import TracebackType

from codeforge.archive.canonical import canonical, to_jsonable
from codeforge.archive.chain import append_link, message_body, payload_body, store_message, utc_now
from codeforge.archive.handle import Handle, Transaction
from codeforge.archive.ids import new_id
from codeforge.archive.model import CandidateRecord, SessionStatus
from codeforge.archive.owner import current_owner
from codeforge.errors import UsageError
from codeforge.redact import redact, redact_json


class SessionWriter:
    """Records one session. Safe to use from several threads.

    As a context manager it finishes a session that the block left unfinished: as interrupted after
    Ctrl-C, as an error otherwise.
    """

    def __init__(self, handle: Handle, session_id: str) -> None:
        self._handle = handle
        self.id = session_id

    def message(self, role: str, content: str) -> str:
        """Record a message and return its hash."""
        body = message_body(role, redact(content))
        with self._handle.write() as transaction:
            self._refuse_if_finished(transaction)
            key = store_message(transaction, body)
            append_link(transaction, self.id, payload_body("message", {"message": key}))
        return key

    def step(
        self, kind: str, payload: Mapping[str, object], elapsed_s: float = 0.0, tokens: object = None
    ) -> str:
        """Record a step and return its hash in the chain.

        Args:
            kind: "localize", "context", "propose", "check", "select", "apply", "note", …
            payload: plain data, dataclasses, enums and paths.
            elapsed_s: seconds it took.
            tokens: a count, a `Usage`, a mapping, or `None`.
        """
        return self._append(kind, payload, elapsed_s, tokens)

    def candidate(self, record: CandidateRecord) -> str:
        """Record a candidate, or its new state, and return the hash of the step that holds it."""
        return self._append("candidate", {field: getattr(record, field) for field in _CANDIDATE_FIELDS})

    def finish(self, status: SessionStatus, summary: Mapping[str, object]) -> None:
        """Record the result. Nothing can be written to the session afterwards.

        Raises:
            UsageError: the session is finished already.
        """
        if status is SessionStatus.RUNNING:
            raise ValueError("a finished session is not running")
        self._append("finish", {"status": status, "summary": summary})

    @property
    def finished(self) -> bool:
        """Whether the session has its result."""
        with self._handle.read() as transaction:
            return _is_finished(transaction, self.id)

    def __enter__(self) -> "SessionWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.finished:
            return
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        status = SessionStatus.INTERRUPTED if interrupted else SessionStatus.ERROR
        reason = f"{kind.__name__}: {error}" if kind is not None else "it ended without a result"
        self.finish(status, {"reason": reason})

    def _append(
        self, kind: str, payload: Mapping[str, object], elapsed_s: float = 0.0, tokens: object = None
    ) -> str:
        body = payload_body(redact(kind), redact_json(to_jsonable(payload)))
        with self._handle.write() as transaction:
            self._refuse_if_finished(transaction)
            return append_link(transaction, self.id, body, float(elapsed_s), tokens).hash

    def _refuse_if_finished(self, transaction: Transaction) -> None:
        if _is_finished(transaction, self.id):
            raise UsageError(
                f"Session {self.id} is finished; nothing more can be recorded in it.",
                kept="The session is as it was.",
                hint=f"To go on from it, fork it: codeforge sessions fork {self.id} --at N",
            )


_CANDIDATE_FIELDS = ("id", "parent", "origin", "edits", "diff", "checks", "reward", "status")


def start_session(
    handle: Handle,
    command: str,
    task: Mapping[str, object],
    *,
    model: str,
    versions: Mapping[str, object],
) -> SessionWriter:
    """Create a session whose first step holds what it was started with."""
    start = redact_json(to_jsonable({"command": command, "task": task, "model": model, "versions": versions}))
    if not isinstance(start, dict):
        raise TypeError("a session starts with a mapping")
    session_id = new_id()
    with handle.write() as transaction:
        transaction.add("sessions", session_row(session_id, start, owner=current_owner()))
        link = append_link(transaction, session_id, payload_body("start", start))
        transaction.execute("UPDATE sessions SET started_at = ? WHERE id = ?", (link.at, session_id))
        for kind, version in {**start["versions"], "model": start["model"]}.items():
            row = {"kind": kind, "version": _text(version), "first_session": session_id}
            transaction.add("versions", {**row, "first_seen_at": link.at}, if_new=True)
    return SessionWriter(handle, session_id)


def session_row(
    session_id: str, start: dict[str, object], *, owner: Mapping[str, object]
) -> dict[str, object]:
    """The row of a session that has no steps yet, from the payload of its first step."""
    now = utc_now()
    return {
        "id": session_id,
        **header_columns(start),
        "status": SessionStatus.RUNNING.value,
        "summary": "{}",
        "started_at": now,
        "finished_at": None,
        "parent_session": None,
        "forked_at_seq": None,
        "owner": canonical(owner),
        "last_seq": -1,
        "last_hash": "",
        "last_at": now,
    }


def header_columns(start: Mapping[str, object]) -> dict[str, object]:
    """The columns of a session's row that repeat the payload of its first step."""
    task = start["task"]
    members = task if isinstance(task, dict) else {}
    return {
        "command": start["command"],
        "repo": _text(members.get("repo") or ""),
        "base_commit": _text(members.get("base_commit") or ""),
        "task": canonical(task),
        "model": start["model"],
        "versions": canonical(start["versions"]),
    }


def _is_finished(transaction: Transaction, session_id: str) -> bool:
    row = transaction.row("SELECT finished_at FROM sessions WHERE id = ?", (session_id,))
    return row is not None and row["finished_at"] is not None


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical(value)
