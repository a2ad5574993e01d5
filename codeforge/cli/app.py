"""The Typer application: every command is registered by its own file."""

from importlib import import_module

import typer

from codeforge import __version__

_COMMANDS = (
    "fix",
    "apply",
    "undo",
    "locate",
    "demo",
    "models",
    "sessions",
    "config",
    "doctor",
    "graph",
    "tasks",
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"codeforge {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """A coding agent for the terminal that proves its patches with your tests."""


def build_app() -> typer.Typer:
    """Build the application. Command files import only typer and the standard library at the top."""
    app = typer.Typer(
        name="codeforge",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in _COMMANDS:
        import_module(f"codeforge.cli.{name}").register(app)
    return app
