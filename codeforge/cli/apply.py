"""`codeforge apply`: edits that came from anywhere, through the same engine and the same refusals."""

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("apply")(apply)


def apply(
    answer: str = typer.Argument(..., help="A file with the answer; '-' reads it from standard input."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only show what would change."),
    commit: bool = typer.Option(False, "--commit", help="Commit the changed files."),
    test: str = typer.Option("", "--test", help="Apply only if this command passes on a scratch copy."),
    timeout: float = typer.Option(300.0, "--timeout", min=0.1, help="Seconds the test command may take."),
    scope: Annotated[
        list[str] | None, typer.Option("--scope", help="Glob of files that may be edited; repeatable.")
    ] = None,
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document on stdout."),
) -> int:
    """Apply edit blocks, diffs or whole functions from an answer.

    Exits with 0 when applied, 1 when refused or when the test command fails; then nothing is changed.
    """
    from codeforge.cli.apply_flow import ApplyArguments, run_apply_command

    return run_apply_command(
        ApplyArguments(
            answer=answer,
            dry_run=dry_run,
            commit=commit,
            test=test or None,
            timeout_s=timeout,
            scope=tuple(scope or ()),
            as_json=as_json,
        )
    )
