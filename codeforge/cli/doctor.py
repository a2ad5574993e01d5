"""`codeforge doctor`."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def doctor(
        as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
    ) -> None:
        """Check what works here, what is missing, and say what to do."""
        import json
        from pathlib import Path

        from codeforge.doctor import failed, run_checks, to_document, to_text
        from codeforge.errors import ExitCode

        checks = run_checks(Path.cwd())
        typer.echo(json.dumps(to_document(checks), indent=2) if as_json else to_text(checks))
        if failed(checks):
            raise typer.Exit(int(ExitCode.ENVIRONMENT))
