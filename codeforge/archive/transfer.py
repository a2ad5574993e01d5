"""Sessions as JSONL: one JSON document a line, in the order of the chain.

{"schema_version": 1, "type": "session", "id": …, "started_at": …}
{"type": "message", "hash": …, "role": …, "content": …}          (once, before the step that uses it)
{"type": "step", "seq": 0, "kind": "start", "payload": …, "elapsed_s": …, "tokens": …, "at": …,
 "content_hash": …, "hash": …}
{"type": "end", "steps": N, "hash": …}                           (the hash of the last step)
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator

from codeforge.archive.canonical import canonical, chain_hash, digest
from codeforge.archive.chain import Link, message_body, payload_body, put_link, store_message
from codeforge.archive.handle import Handle, Row, Transaction
from codeforge.archive.ids import is_id
from codeforge.archive.model import FORMAT_VERSION, SessionRecord
from codeforge.archive.reading import step_rows
from codeforge.archive.writer import session_row
from codeforge.errors import UsageError
from codeforge.redact import redact_json


def export_lines(record: SessionRecord) -> Iterator[str]:
    """The lines of a session, without line breaks at their ends."""
    summary = record.summary
    head = {"id": summary.id, "started_at": summary.started_at, "status": summary.status.value}
    yield json.dumps({"schema_version": FORMAT_VERSION, "type": "session", **head})
    messages = {message.hash: message for message in record.messages}
    for step in record.steps:
        message = messages.pop(str(step.payload.get("message")), None) if step.kind == "message" else None
        if message is not None:
            content = {"hash": message.hash, "role": message.role, "content": message.content}
            yield json.dumps({"type": "message", **content})
        yield json.dumps(
            {
                "type": "step",
                "seq": step.seq,
                "kind": step.kind,
                "payload": step.payload,
                "elapsed_s": step.elapsed_s,
                "tokens": step.tokens,
                "at": step.at,
                "content_hash": step.content_hash,
                "hash": step.hash,
            }
        )
    yield json.dumps({"type": "end", "steps": len(record.steps), "hash": record.steps[-1].hash})


def import_lines(handle: Handle, lines: Iterable[str]) -> str:
    """Add an exported session under its own id, and return the id. All of it is checked first.

    A session that is there already with the same steps is left as it is.

    Raises:
        UsageError: a line is broken, a hash is wrong, the end is missing, something looks like a secret,
            or another session with this id is there.
    """
    documents = [(number, _parse(number, line)) for number, line in enumerate(lines, 1) if line.strip()]
    session_id, end = _frame(documents)
    with handle.write() as transaction:
        known = step_rows(transaction, session_id)
        if known:
            return _same_session(session_id, known, end)
        _write(transaction, session_id, documents[1:-1], end)
    return session_id


def _parse(number: int, line: str) -> Row:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise _refused(number, f"it is not JSON ({error})") from error
    if not isinstance(document, dict) or not isinstance(document.get("type"), str):
        raise _refused(number, 'it is not an object with a "type"')
    if redact_json(document) != document:
        raise _refused(number, "it holds what looks like a secret")
    return document


def _frame(documents: list[tuple[int, Row]]) -> tuple[str, Row]:
    """The session's id and the end line."""
    if not documents:
        raise _refused(1, "the file is empty")
    number, head = documents[0]
    if head["type"] != "session" or not is_id(str(head.get("id"))):
        raise _refused(number, 'it is not a "session" with an id')
    if head.get("schema_version") != FORMAT_VERSION:
        raise _refused(number, f"schema_version is {head.get('schema_version')}, not {FORMAT_VERSION}")
    number, end = documents[-1]
    if end["type"] != "end":
        raise _refused(number, "the file is cut off: it has no end")
    return str(head["id"]), end


def _same_session(session_id: str, known: list[Row], end: Row) -> str:
    if known[-1]["hash"] == end.get("hash"):
        return session_id
    raise UsageError(
        f"Another session {session_id} is in the archive already.",
        kept="Nothing was changed.",
        hint="Export that one, or import into another CODEFORGE_DATA_DIR.",
    )


def _write(transaction: Transaction, session_id: str, documents: list[tuple[int, Row]], end: Row) -> None:
    previous, count = "", 0
    for number, document in documents:
        try:
            if document["type"] == "message":
                body = message_body(document["role"], document["content"])
                _expect(number, digest(body) == document["hash"], "the message was changed")
                store_message(transaction, body)
                continue
            _expect(number, document["type"] == "step" and document["seq"] == count, "a step is missing")
            previous = _write_step(transaction, session_id, number, document, previous)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _refused(number, f"a member is missing or has the wrong type ({error})") from error
        except sqlite3.IntegrityError as error:
            raise _refused(number, f"it does not fit the lines before it ({error})") from error
        count += 1
    whole = count > 0 and (count, previous) == (end.get("steps"), end.get("hash"))
    _expect(len(documents) + 2, whole, "steps are missing")


def _write_step(transaction: Transaction, session_id: str, number: int, document: Row, previous: str) -> str:
    body = payload_body(document["kind"], document["payload"])
    tokens, elapsed_s, at = canonical(document["tokens"]), float(document["elapsed_s"]), document["at"]
    link = Link(document["seq"], digest(body), str(document["hash"]), at)
    recomputed = chain_hash(previous, link.seq, link.content_hash, elapsed_s, tokens, at)
    _expect(number, recomputed == link.hash, "the step was changed")
    payload = document["payload"]
    if link.seq == 0:
        _expect(number, document["kind"] == "start", "the first step is not the start")
        transaction.add("sessions", session_row(session_id, payload, owner={}))
        _date(transaction, session_id, at, None, None)
    put_link(transaction, session_id, link, body, elapsed_s, tokens)
    if document["kind"] == "fork":
        _date(transaction, session_id, at, payload["parent_session"], payload["forked_at_seq"])
    return link.hash


def _date(
    transaction: Transaction, session_id: str, at: str, parent: str | None, forked_at_seq: int | None
) -> None:
    transaction.execute(
        "UPDATE sessions SET started_at = ?, parent_session = ?, forked_at_seq = ? WHERE id = ?",
        (at, parent, forked_at_seq, session_id),
    )


def _expect(number: int, condition: bool, problem: str) -> None:
    if not condition:
        raise _refused(number, problem)


def _refused(number: int, problem: str) -> UsageError:
    return UsageError(
        f"Line {number} of the exported session can't be imported: {problem}.",
        kept="Nothing was changed.",
        hint="Export the session again.",
    )
