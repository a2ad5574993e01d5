"""Forking: a new session with the first steps of another one, hashes included."""

from codeforge.archive.canonical import digest
from codeforge.archive.chain import Link, append_link, payload_body, put_link
from codeforge.archive.handle import Handle, Row, Transaction
from codeforge.archive.ids import new_id
from codeforge.archive.owner import current_owner
from codeforge.archive.reading import find_session, step_of, step_rows
from codeforge.archive.verify import verify_session
from codeforge.archive.writer import SessionWriter, session_row
from codeforge.errors import UsageError


def fork_session(handle: Handle, id_or_prefix: str, at_seq: int) -> SessionWriter:
    """Start a session that shares the steps 0 … `at_seq` of another one and goes on from there.

    Raises:
        UsageError: no such session or step, the step is the finish, or the session does not verify.
    """
    fork_id = new_id()
    with handle.write() as transaction:
        parent = find_session(transaction, id_or_prefix)
        report = verify_session(transaction, parent)
        if not report.ok:
            raise UsageError(
                f"Session {parent['id']} was changed after it was written: {report.problems[0]}.",
                kept="Nothing was changed.",
                hint="Fork another session.",
            )
        steps = step_rows(transaction, parent["id"])
        last = _last_step_to_fork(steps)
        if not 0 <= at_seq <= last:
            raise UsageError(
                f"Session {parent['id']} can't be forked at step {at_seq}.",
                kept="Nothing was changed.",
                hint=f"Give a step from 0 to {last}; codeforge sessions show {parent['id']} lists them.",
            )
        _copy(transaction, fork_id, steps[: at_seq + 1])
        origin = {"parent_session": parent["id"], "forked_at_seq": at_seq}
        link = append_link(transaction, fork_id, payload_body("fork", origin))
        transaction.execute(
            "UPDATE sessions SET parent_session = ?, forked_at_seq = ?, started_at = ? WHERE id = ?",
            (parent["id"], at_seq, link.at, fork_id),
        )
    return SessionWriter(handle, fork_id)


def _last_step_to_fork(steps: list[Row]) -> int:
    last: int = steps[-1]["seq"]
    return last - 1 if steps[-1]["kind"] == "finish" else last


def _copy(transaction: Transaction, fork_id: str, steps: list[Row]) -> None:
    start = dict(step_of(steps[0]).payload)
    transaction.add("sessions", session_row(fork_id, start, owner=current_owner()))
    for step in steps:
        link = Link(step["seq"], digest(step["body"]), step["hash"], step["at"])
        put_link(transaction, fork_id, link, step["body"], step["elapsed_s"], step["tokens"])
