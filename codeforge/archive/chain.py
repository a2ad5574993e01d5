"""The one place that adds links to a session's chain, and the bodies that the links point to."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from codeforge.archive.canonical import canonical, chain_hash, digest
from codeforge.archive.handle import Transaction


@dataclass(frozen=True, slots=True)
class Link:
    """A link that was just written."""

    seq: int
    content_hash: str
    hash: str
    at: str


def utc_now() -> str:
    """Now, UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def payload_body(kind: str, payload: object) -> str:
    """The canonical body of a step."""
    return canonical({"kind": kind, "payload": payload})


def message_body(role: str, content: str) -> str:
    """The canonical body of a message."""
    return canonical({"role": role, "content": content})


def store_message(transaction: Transaction, body: str) -> str:
    """Store a message body once and return its hash."""
    key = digest(body)
    transaction.add("messages", {"hash": key, "body": body}, if_new=True)
    return key


def append_link(
    transaction: Transaction, session_id: str, body: str, elapsed_s: float = 0.0, tokens: object = None
) -> Link:
    """Add the step with canonical `body` to the end of the session's chain."""
    head = transaction.row("SELECT last_seq, last_hash FROM sessions WHERE id = ?", (session_id,))
    if head is None:
        raise KeyError(session_id)
    seq, at, count = head["last_seq"] + 1, utc_now(), canonical(tokens)
    content_hash = digest(body)
    link = Link(seq, content_hash, chain_hash(head["last_hash"], seq, content_hash, elapsed_s, count, at), at)
    put_link(transaction, session_id, link, body, elapsed_s, count)
    return link


def put_link(
    transaction: Transaction, session_id: str, link: Link, body: str, elapsed_s: float, tokens: str
) -> None:
    """Write `link` with its body, and move the session's head to it."""
    transaction.add("payloads", {"hash": link.content_hash, "body": body}, if_new=True)
    transaction.add(
        "steps",
        {
            "session_id": session_id,
            "seq": link.seq,
            "kind": json.loads(body)["kind"],
            "content_hash": link.content_hash,
            "elapsed_s": elapsed_s,
            "tokens": tokens,
            "at": link.at,
            "hash": link.hash,
        },
    )
    transaction.execute(
        "UPDATE sessions SET last_seq = ?, last_hash = ?, last_at = ? WHERE id = ?",
        (link.seq, link.hash, link.at, session_id),
    )
    project(transaction, session_id, link, json.loads(body))


def project(transaction: Transaction, session_id: str, link: Link, body: dict[str, object]) -> None:
    """Bring the tables that show a session up to date with a link of its chain."""
    kind, payload = body["kind"], body["payload"]
    if not isinstance(payload, dict):
        raise TypeError("a step's payload is a mapping")
    if kind == "message":
        count = transaction.row(
            "SELECT count(*) AS n FROM session_messages WHERE session_id = ?", (session_id,)
        )
        transaction.add(
            "session_messages",
            {
                "session_id": session_id,
                "seq": count["n"] if count else 0,
                "step_seq": link.seq,
                "message_hash": payload["message"],
            },
        )
    elif kind == "candidate":
        known = transaction.row(
            "SELECT first_seq FROM candidates WHERE session_id = ? AND id = ?", (session_id, payload["id"])
        )
        row = candidate_row(session_id, link.seq, link.content_hash, payload)
        transaction.put("candidates", {**row, "first_seq": known["first_seq"] if known else link.seq})
    elif kind == "finish":
        transaction.execute(
            "UPDATE sessions SET status = ?, summary = ?, finished_at = ? WHERE id = ?",
            (payload["status"], canonical(payload["summary"]), link.at, session_id),
        )


def candidate_row(
    session_id: str, step_seq: int, content_hash: str, payload: dict[str, object]
) -> dict[str, object]:
    """The row that shows the candidate recorded by a step (without `first_seq`)."""
    reward = payload["reward"]
    total = reward.get("total") if isinstance(reward, dict) else None
    return {
        "session_id": session_id,
        "id": payload["id"],
        "parent_id": payload["parent"],
        "status": payload["status"],
        "reward_total": float(total) if isinstance(total, int | float) else None,
        "step_seq": step_seq,
        "content_hash": content_hash,
    }
