"""`codeforge undo`: take back what codeforge wrote."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("undo")(undo)


def undo(
    entry: str = typer.Argument("", help="The journal entry; by default the latest.", show_default=False),
    list_only: bool = typer.Option(False, "--list", help="List what can be undone or redone."),
    redo: bool = typer.Option(False, "--redo", help="Apply again what was undone."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document on stdout."),
) -> int:
    """Take back what codeforge wrote, if the files are as it left them."""
    from codeforge.cli.undo_flow import run_list_command, run_undo_command

    if list_only:
        return run_list_command(as_json=as_json)
    return run_undo_command(entry or None, redo=redo, as_json=as_json)
