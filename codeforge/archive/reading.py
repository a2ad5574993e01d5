"""Reading sessions back."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from codeforge.archive.handle import Row, Transaction
from codeforge.archive.model import (
    CandidateRecord,
    MessageRecord,
    SessionRecord,
    SessionStatus,
    SessionSummary,
    StepRecord,
)
from codeforge.archive.owner import is_alive
from codeforge.errors import EnvironmentUnavailableError, UsageError

LATEST = "last"

# A running session of another machine or container that was silent for so long is taken for dead.
_SILENCE = timedelta(hours=6)

_SUMMARY = """
    SELECT sessions.*,
        (SELECT count(*) FROM candidates WHERE candidates.session_id = sessions.id) AS candidate_count
    FROM sessions
"""


def list_sessions(transaction: Transaction, limit: int | None, repo: str | None) -> list[SessionSummary]:
    """The newest sessions first."""
    where, parameters = ("WHERE repo = ?", [repo]) if repo is not None else ("", [])
    rows = transaction.rows(
        f"{_SUMMARY} {where} ORDER BY started_at DESC, id DESC LIMIT ?",
        [*parameters, -1 if limit is None else limit],
    )
    return [summary_of(row) for row in rows]


def count_sessions(transaction: Transaction, repo: str | None) -> int:
    """How many sessions there are."""
    where, parameters = ("WHERE repo = ?", [repo]) if repo is not None else ("", [])
    row = transaction.row(f"SELECT count(*) AS n FROM sessions {where}", parameters)
    return int(row["n"]) if row else 0


def find_session(transaction: Transaction, id_or_prefix: str) -> Row:
    """The row of the one session whose id is, or starts with, `id_or_prefix` ("last": the newest).

    Raises:
        UsageError: there is none, or more than one.
    """
    wanted = id_or_prefix.strip().upper()
    if wanted == LATEST.upper():
        rows = transaction.rows(f"{_SUMMARY} ORDER BY started_at DESC, id DESC LIMIT 1")
    else:
        clean = wanted if wanted.isalnum() and wanted.isascii() else ""
        rows = transaction.rows(f"{_SUMMARY} WHERE id GLOB ? ORDER BY id", (f"{clean}*",)) if clean else []
    if len(rows) == 1:
        return rows[0]
    hint = "codeforge sessions list shows the ids."
    if not rows:
        raise UsageError(f"There is no session {id_or_prefix!r}.", kept="Nothing was changed.", hint=hint)
    names = ", ".join(row["id"] for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    raise UsageError(
        f"{len(rows)} sessions start with {id_or_prefix!r}: {names}.",
        kept="Nothing was changed.",
        hint="Give more of the id.",
    )


def load_session(transaction: Transaction, row: Row) -> SessionRecord:
    """Everything recorded of the session in `row`."""
    session_id = row["id"]
    try:
        return SessionRecord(
            summary=summary_of(row),
            task=json.loads(row["task"]),
            versions=json.loads(row["versions"]),
            result=json.loads(row["summary"]),
            messages=tuple(_messages(transaction, session_id)),
            steps=tuple(step_of(step) for step in step_rows(transaction, session_id)),
            candidates=tuple(_candidates(transaction, session_id)),
        )
    except (TypeError, ValueError, KeyError) as error:
        raise EnvironmentUnavailableError(
            f"Session {session_id} can't be read: what was recorded of it was changed.",
            kept="Nothing was changed.",
            hint=f"codeforge sessions verify {session_id} says what.",
        ) from error


def summary_of(row: Row) -> SessionSummary:
    """A session's row in the form people see."""
    task = json.loads(row["task"])
    return SessionSummary(
        id=row["id"],
        command=row["command"],
        status=_status(row),
        repo=row["repo"],
        issue=str(task.get("issue") or ""),
        model=row["model"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        steps=row["last_seq"] + 1,
        candidates=row["candidate_count"],
        parent_session=row["parent_session"],
        forked_at_seq=row["forked_at_seq"],
    )


def step_rows(transaction: Transaction, session_id: str) -> list[Row]:
    """The session's links with their bodies (`None` where a body is missing), in order."""
    return transaction.rows(
        "SELECT steps.*, payloads.body FROM steps LEFT JOIN payloads ON payloads.hash = steps.content_hash"
        " WHERE session_id = ? ORDER BY seq",
        (session_id,),
    )


def step_of(row: Row) -> StepRecord:
    """A link's row as a step."""
    return StepRecord(
        seq=row["seq"],
        kind=row["kind"],
        payload=json.loads(row["body"])["payload"],
        elapsed_s=row["elapsed_s"],
        tokens=json.loads(row["tokens"]),
        at=row["at"],
        content_hash=row["content_hash"],
        hash=row["hash"],
    )


def _messages(transaction: Transaction, session_id: str) -> list[MessageRecord]:
    rows = transaction.rows(
        "SELECT seq, step_seq, hash, body FROM session_messages"
        " JOIN messages ON messages.hash = session_messages.message_hash WHERE session_id = ? ORDER BY seq",
        (session_id,),
    )
    return [
        MessageRecord(row["seq"], row["step_seq"], row["hash"], body["role"], body["content"])
        for row in rows
        for body in [json.loads(row["body"])]
    ]


def _candidates(transaction: Transaction, session_id: str) -> list[CandidateRecord]:
    rows = transaction.rows(
        "SELECT body FROM candidates JOIN payloads ON payloads.hash = candidates.content_hash"
        " WHERE session_id = ? ORDER BY first_seq",
        (session_id,),
    )
    return [_candidate(json.loads(row["body"])["payload"]) for row in rows]


def _candidate(payload: dict[str, Any]) -> CandidateRecord:
    return CandidateRecord(**payload)


def _status(row: Row) -> SessionStatus:
    status = SessionStatus(row["status"])
    if status is not SessionStatus.RUNNING:
        return status
    alive = is_alive(json.loads(row["owner"]))
    if alive is None:
        alive = datetime.now(UTC) - datetime.fromisoformat(row["last_at"]) < _SILENCE
    return SessionStatus.RUNNING if alive else SessionStatus.INTERRUPTED
