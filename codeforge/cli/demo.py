"""`codeforge demo`: fetch the model once, break a small repository, fix it, show everything."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    model: str = typer.Option("", "--model", help="The model to use; by default the embedded one."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document on stdout."),
) -> int:
    """Fix a small broken repository in a temporary folder, with the embedded model.

    The first time this fetches the model: about 1 GB, once.
    """
    from codeforge.cli.demo_flow import run_demo_command

    return run_demo_command(model or None, as_json=as_json)
