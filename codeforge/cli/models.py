"""`codeforge models`: the local models, and which one is used."""

from pathlib import Path

import typer

_NAME = typer.Argument(help="The model's name (see `codeforge models list`).", metavar="NAME")
_MAYBE_NAME = typer.Argument(
    None, help="The model's name; by default the choice is codeforge's.", metavar="[NAME]"
)
_FROM_FILE = typer.Option(
    None, "--from-file", help="Take the model from this file instead (for machines offline)."
)


def register(app: typer.Typer) -> None:
    """Add the `models` commands."""
    group = typer.Typer(help="Get, choose and check local models.", no_args_is_help=True)
    group.command("list")(list_models)
    group.command("pull")(pull)
    group.command("use")(use)
    group.command("rm")(remove)
    group.command("verify")(verify)
    group.command("path")(path)
    app.add_typer(group, name="models")


def list_models(as_json: bool = typer.Option(False, "--json", help="Print one JSON document.")) -> None:
    """List the known models: which are here, whole, in use, and fit in memory."""
    from codeforge.cli import models_view

    models_view.print_list(as_json=as_json)


def pull(name: str | None = _MAYBE_NAME, from_file: Path | None = _FROM_FILE) -> None:
    """Get a model; without a name the one that suits this machine. Interrupted, it goes on where it was."""
    from codeforge.cli import models_view

    if from_file is None:
        models_view.pull(name)
    else:
        models_view.adopt(from_file, name)


def use(
    name: str = typer.Argument(
        help="A model that is here, a .gguf file, provider/model, or auto.", metavar="NAME"
    ),
) -> None:
    """Choose the model of commands without --model; auto leaves the choice to codeforge."""
    from codeforge.models.manage import use as choose

    typer.echo(f"model: {choose(name)}", err=True)


def remove(name: str = _NAME, yes: bool = typer.Option(False, "--yes", "-y", help="Don't ask.")) -> None:
    """Delete a model's file, and what unfinished pulls of it left."""
    from codeforge.cli import models_view

    models_view.remove(name, yes=yes)


def verify(
    name: str | None = typer.Argument(None, help="The model's name; by default all.", metavar="[NAME]"),
) -> None:
    """Read whole model files and compare their hashes; exit status 3 when one is damaged."""
    from codeforge.cli import models_view

    models_view.verify(name)


def path(name: str = _NAME) -> None:
    """Print where a model's file is, after checking it."""
    from codeforge.models.store import verified_path

    typer.echo(str(verified_path(name)))
