"""`codeforge sessions`: what was done, step by step."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from codeforge.archive.store import Archive

_JSON = typer.Option(False, "--json", help="Print one JSON document.")
_ID = typer.Argument(help='The session: its id, the start of its id, or "last".', metavar="ID")
_OUTPUT = typer.Option(None, "--output", "-o", help="The file to write; else stdout.")
_FILE = typer.Argument(help="An exported session, or - for stdin.", encoding="utf-8", errors="replace")


def register(app: typer.Typer) -> None:
    """Add the `sessions` commands."""
    group = typer.Typer(help="Look at recorded sessions.", no_args_is_help=True)
    group.command("list")(list_sessions)
    group.command("show")(show)
    group.command("export")(export)
    group.command("import")(import_session)
    group.command("verify")(verify)
    group.command("fork")(fork)
    app.add_typer(group, name="sessions")


def list_sessions(
    as_json: bool = _JSON,
    limit: int = typer.Option(50, "--limit", "-n", min=1, help="Most sessions to list, newest first."),
    everything: bool = typer.Option(False, "--all", help="List all of them."),
) -> None:
    """List the sessions, newest first."""
    from codeforge.archive import present

    with _open() as archive:
        sessions = archive.sessions(None if everything else limit)
        total = archive.count()
    if as_json:
        typer.echo(present.as_json({"sessions": sessions, "total": total}))
    else:
        present.print_list(sessions, total)


def show(session_id: str = _ID, as_json: bool = _JSON) -> None:
    """Show a session: its task, steps, candidates and result."""
    from codeforge.archive import present

    with _open() as archive:
        record = archive.session(session_id)
    if as_json:
        typer.echo(present.as_json({"session": record}))
    else:
        present.print_session(record)


def export(
    session_id: str = _ID,
    output: Path | None = _OUTPUT,
) -> None:
    """Write a session as JSONL."""
    from codeforge.archive.present import write_lines

    with _open() as archive:
        lines = archive.export(session_id)
    if output is None:
        for line in lines:
            typer.echo(line)
    else:
        write_lines(output, lines)
        typer.echo(f"Exported to {output}", err=True)


def import_session(
    file: typer.FileText = _FILE,
) -> None:
    """Add an exported session to the archive, after checking every hash in it."""
    with _open() as archive:
        typer.echo(archive.import_jsonl(file))


def verify(session_id: str = _ID, as_json: bool = _JSON) -> None:
    """Check that a session is as it was written; exit status 1 when it is not."""
    from codeforge.archive import present

    with _open() as archive:
        report = archive.verify(session_id)
    if as_json:
        typer.echo(present.as_json({"ok": report.ok, "report": report}))
    else:
        present.print_report(report)
    if not report.ok:
        raise typer.Exit(1)


def fork(
    session_id: str = _ID,
    at: int = typer.Option(..., "--at", help="The last step that both sessions share."),
) -> None:
    """Start a new session from a step of another one, and print its id."""
    with _open() as archive:
        typer.echo(archive.fork(session_id, at).id)


def _open() -> "Archive":
    from codeforge.archive.store import Archive
    from codeforge.paths import database_path

    archive = Archive.open(database_path())
    for notice in archive.notices:
        typer.echo(f"codeforge: {notice}", err=True)
    return archive
