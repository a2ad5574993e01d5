"""Sessions as people and programs read them: rich tables, and JSON documents with a stable shape."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from codeforge.archive.canonical import to_jsonable
from codeforge.archive.model import FORMAT_VERSION, SessionRecord, SessionSummary, StepRecord, VerifyReport
from codeforge.errors import EnvironmentUnavailableError

if TYPE_CHECKING:
    from rich.console import Console

_MOST_DETAIL = 200
_COLOURS = {"solved": "green", "running": "cyan", "no_patch": "yellow"}


def as_json(members: Mapping[str, object]) -> str:
    """One JSON document with the format's version first."""
    document = to_jsonable({"schema_version": FORMAT_VERSION, **members})
    return json.dumps(document, indent=2)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write `lines` to a file of the user's choice, line breaks added."""
    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise EnvironmentUnavailableError(
            f"{path} can't be written: {error.strerror or error}.",
            kept="The session is still in the archive.",
            hint="Choose another file with -o.",
        ) from error


def print_list(sessions: Sequence[SessionSummary], total: int) -> None:
    """The sessions as a table."""
    from rich.table import Table
    from rich.text import Text

    console = _console()
    if not sessions:
        console.print("No sessions yet.")
        return
    table = Table(box=None, pad_edge=False)
    # On a narrow terminal the issue gives way: an id that is cut can't be used.
    for heading, width in (("id", 26), ("started", 16), ("command", 7), ("status", 11)):
        table.add_column(heading, no_wrap=True, min_width=width)
    table.add_column("steps", justify="right", min_width=5)
    table.add_column("issue", overflow="ellipsis", no_wrap=True, ratio=1)
    for session in sessions:
        table.add_row(
            session.id,
            _local(session.started_at),
            Text(_printable(session.command)),
            Text(session.status.value, style=_COLOURS.get(session.status.value, "red")),
            str(session.steps),
            Text(_one_line(session.issue)),
        )
    console.print(table)
    if total > len(sessions):
        console.print(f"{len(sessions)} of {total} sessions; --all lists all of them.")


def print_session(record: SessionRecord) -> None:
    """A session from its task to its result."""
    from rich.table import Table
    from rich.text import Text

    console, summary = _console(), record.summary
    lineage = f", forked from {summary.parent_session} at step {summary.forked_at_seq}"
    console.print(Text(f"Session {summary.id}{lineage if summary.parent_session else ''}", style="bold"))
    facts = {
        "command": summary.command,
        "status": summary.status.value,
        "repository": summary.repo,
        "model": summary.model,
        "started": _local(summary.started_at),
        "finished": _local(summary.finished_at) if summary.finished_at else "",
        "result": _brief(record.result),
        "issue": summary.issue,
    }
    for name, value in facts.items():
        if value:
            console.print(Text(f"{name + ':':12}{_printable(value)}"))
    table = Table(box=None, pad_edge=False, title="Steps", title_justify="left")
    table.add_column("seq", justify="right", min_width=3)
    table.add_column("kind", no_wrap=True, min_width=12)
    table.add_column("seconds", justify="right", no_wrap=True, min_width=7)
    table.add_column("what", overflow="ellipsis", no_wrap=True, ratio=1)
    contents = {message.hash: f"{message.role}: {message.content}" for message in record.messages}
    for step in record.steps:
        seconds = f"{step.elapsed_s:.2f}" if step.elapsed_s else ""
        table.add_row(str(step.seq), Text(_printable(step.kind)), seconds, Text(_what(step, contents)))
    console.print(table)
    for candidate in record.candidates:
        parent = f" from {candidate.parent}" if candidate.parent else ""
        console.print(Text(f"\nCandidate {candidate.id}{parent}: {candidate.status}", style="bold"))
        console.print(Text(_printable(candidate.diff).rstrip("\n")))


def print_report(report: VerifyReport) -> None:
    """What verifying found."""
    console = _console()
    if report.ok:
        console.print(
            f"Session {report.session_id} is as it was written: "
            f"{report.steps} steps, {report.messages} messages."
        )
        return
    console.print(f"Session {report.session_id} was changed after it was written:")
    for problem in report.problems:
        console.print(f"  {problem}", markup=False)


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False, emoji=False)


def _what(step: StepRecord, contents: Mapping[str, str]) -> str:
    if step.kind == "message":
        return _one_line(contents.get(str(step.payload.get("message")), ""))
    if step.kind == "candidate":
        return _one_line(f"{step.payload['id']}: {step.payload['status']}")
    return _brief(step.payload)


def _brief(payload: Mapping[str, object]) -> str:
    return _one_line(", ".join(f"{key}={json.dumps(value)}" for key, value in payload.items()))


def _one_line(text: str) -> str:
    line = " ".join(_printable(text).split())
    return line if len(line) <= _MOST_DETAIL else f"{line[: _MOST_DETAIL - 1]}…"


def _printable(text: str) -> str:
    """`text` without what a terminal can't show or would obey (lone surrogates, escape sequences)."""
    return "".join(
        character if character in "\n\t" or character.isprintable() else "\ufffd" for character in text
    )


def _local(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
