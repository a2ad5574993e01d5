"""Verifying a session: what is shown of it must follow from its chain, and the chain from its hashes."""

import json
from collections.abc import Iterator

from codeforge.archive.canonical import canonical, chain_hash, digest
from codeforge.archive.chain import candidate_row
from codeforge.archive.handle import Row, Transaction
from codeforge.archive.model import SessionStatus, VerifyReport
from codeforge.archive.reading import step_rows
from codeforge.archive.writer import header_columns


def verify_session(transaction: Transaction, session: Row) -> VerifyReport:
    """Check every hash and every row of a session."""
    steps = step_rows(transaction, session["id"])
    links = transaction.rows(
        "SELECT session_messages.*, body FROM session_messages"
        " LEFT JOIN messages ON messages.hash = message_hash WHERE session_id = ? ORDER BY seq",
        (session["id"],),
    )
    shown = transaction.rows("SELECT * FROM candidates WHERE session_id = ?", (session["id"],))
    problems = [*_chain(steps), *_head(session, steps)]
    if not problems:  # with a broken chain there is nothing to hold the rest against
        bodies = [json.loads(step["body"]) for step in steps]
        problems += [
            *_header(session, steps, bodies),
            *_messages(links, steps, bodies),
            *_candidates(shown, steps, bodies, session["id"]),
        ]
    return VerifyReport(session["id"], len(steps), len(links), tuple(problems))


def _chain(steps: list[Row]) -> Iterator[str]:
    previous = ""
    for expected, step in enumerate(steps):
        name = f"step {step['seq']} ({step['kind']})"
        if step["seq"] != expected:
            yield f"step {expected} is missing"
            return
        if step["body"] is None:
            yield f"{name}: its content is missing"
        elif digest_or_none(step["body"]) != step["content_hash"]:
            yield f"{name}: its content was changed"
        elif json.loads(step["body"])["kind"] != step["kind"]:
            yield f"{name}: its kind was changed"
        recomputed = chain_hash(
            previous, step["seq"], step["content_hash"], step["elapsed_s"], step["tokens"], step["at"]
        )
        if recomputed != step["hash"]:
            yield f"{name}: it does not follow from the step before it"
        previous = step["hash"]


def _head(session: Row, steps: list[Row]) -> Iterator[str]:
    if not steps:
        yield "it has no steps"
    elif (steps[-1]["seq"], steps[-1]["hash"]) != (session["last_seq"], session["last_hash"]):
        yield f"the last step is {steps[-1]['seq']}, but {session['last_seq']} was written last"


def _header(session: Row, steps: list[Row], bodies: list[Row]) -> Iterator[str]:
    if bodies[0]["kind"] != "start":
        yield "the first step is not the start"
        return
    expected = header_columns(bodies[0]["payload"])
    expected |= {"status": SessionStatus.RUNNING.value, "summary": "{}", "finished_at": None}
    expected |= {"parent_session": None, "forked_at_seq": None, "started_at": steps[0]["at"]}
    for step, body in zip(steps, bodies, strict=True):
        payload = body["payload"]
        if body["kind"] == "finish":
            expected |= {"status": payload["status"], "summary": canonical(payload["summary"])}
            expected["finished_at"] = step["at"]
        elif body["kind"] == "fork":
            expected |= {"parent_session": payload["parent_session"], "started_at": step["at"]}
            expected["forked_at_seq"] = payload["forked_at_seq"]
    for column, value in expected.items():
        if session[column] != value:
            yield f"the session's {column} was changed"


def _messages(links: list[Row], steps: list[Row], bodies: list[Row]) -> Iterator[str]:
    expected = [
        (step["seq"], body["payload"]["message"])
        for step, body in zip(steps, bodies, strict=True)
        if body["kind"] == "message"
    ]
    if [(link["step_seq"], link["message_hash"]) for link in links] != expected:
        yield "the list of messages was changed"
    for link in links:
        if link["body"] is None:
            yield f"message {link['seq']}: its content is missing"
        elif digest_or_none(link["body"]) != link["message_hash"]:
            yield f"message {link['seq']}: its content was changed"


def _candidates(shown: list[Row], steps: list[Row], bodies: list[Row], session_id: str) -> Iterator[str]:
    expected: dict[object, Row] = {}
    for step, body in zip(steps, bodies, strict=True):
        if body["kind"] == "candidate":
            row = candidate_row(session_id, step["seq"], step["content_hash"], body["payload"])
            first = expected.get(row["id"], {"first_seq": step["seq"]})["first_seq"]
            expected[row["id"]] = {**row, "first_seq": first}
    found = {row["id"]: row for row in shown}
    for name in sorted({*expected, *found}, key=str):
        if expected.get(name) != found.get(name):
            yield f"candidate {name}: its row was changed"


def digest_or_none(text: str) -> str | None:
    """The hash of a stored text; `None` for one that can't be canonical (not ASCII)."""
    return digest(text) if text.isascii() else None
