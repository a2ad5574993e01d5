"""`codeforge config`: what is set, and where it comes from."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from codeforge.config import Origin

_JSON = typer.Option(False, "--json", help="Print one JSON document.")
_PROJECT = typer.Option(False, "--project", help="The project's settings, not yours.")


def register(app: typer.Typer) -> None:
    """Add the `config` commands."""
    group = typer.Typer(help="Show and change the settings.", no_args_is_help=True)
    group.command("show")(show)
    group.command("set")(set_setting)
    group.command("unset")(unset_setting)
    group.command("path")(path)
    group.command("trust")(trust)
    group.command("untrust")(untrust)
    app.add_typer(group, name="config")


def show(
    as_json: bool = _JSON,
    origin: bool = typer.Option(False, "--origin", help="Show where each value comes from."),
) -> None:
    """Show the settings in force here."""
    from codeforge.config import explain, load_settings

    root = _root()
    settings = load_settings(root)
    origins = explain(root)
    for notice in settings.settings_notices:
        typer.echo(f"codeforge: {notice}", err=True)
    if as_json:
        _print_json(origins, list(settings.settings_notices))
    else:
        _print_table(origins, origin)


def set_setting(
    key: str = typer.Argument(help="The setting, such as candidates or sandbox.memory_mb."),
    value: str = typer.Argument(help='Its value; "auto" leaves the choice to codeforge.'),
    project: bool = _PROJECT,
) -> None:
    """Set a value. Comments in the file stay."""
    from codeforge.config import set_value

    written, checked = set_value(key, value, _required_root() if project else None)
    typer.echo(f"{key} = {_shown(checked)} in {written}", err=True)


def unset_setting(
    key: str = typer.Argument(help="The setting to remove from the file."), project: bool = _PROJECT
) -> None:
    """Remove a value, so that the layer below counts again."""
    from codeforge.config import unset_value

    written, was_there = unset_value(key, _required_root() if project else None)
    typer.echo(f"{key} {'removed from' if was_there else 'was not set in'} {written}", err=True)


def path(project: bool = _PROJECT) -> None:
    """Print where the settings file lies."""
    from codeforge.paths import project_config_path, user_config_path

    typer.echo(str(project_config_path(_required_root()) if project else user_config_path()))


def trust() -> None:
    """Trust this project's settings as they are now: they may name commands and open the sandbox."""
    from codeforge.config import trust_project

    typer.echo(f"Trusted: {trust_project(_required_root())}", err=True)


def untrust() -> None:
    """Take the trust in this project's settings back."""
    from codeforge.config import untrust_project

    was_trusted = untrust_project(_required_root())
    typer.echo("No longer trusted." if was_trusted else "It was not trusted.", err=True)


def _root() -> Path | None:
    from codeforge.config_files import project_root

    return project_root(Path.cwd())


def _required_root() -> Path:
    from codeforge.errors import UsageError

    root = _root()
    if root is None:
        raise UsageError(
            f"{Path.cwd()} is not in a project.",
            kept="Nothing was changed.",
            hint="Go to a folder of a git repository.",
        )
    return root


def _print_json(origins: "list[Origin]", notices: list[str]) -> None:
    import json

    from codeforge.config_fields import nest
    from codeforge.redact import redact_json

    document = {
        "schema_version": 1,
        "settings": nest({item.key: item.value for item in origins if item.key != "schema_version"}),
        "origins": {item.key: item.source for item in origins if item.key != "schema_version"},
        "notices": notices,
    }
    typer.echo(json.dumps(redact_json(document), indent=2))


def _print_table(origins: "list[Origin]", with_source: bool) -> None:
    from codeforge.config_fields import fields
    from codeforge.redact import redact

    width = max(len(item.key) for item in origins)
    for item in origins:
        last = f"from {item.source}" if with_source else fields()[item.key].description
        if item.key != "schema_version":
            typer.echo(f"{item.key:{width}}  {redact(_shown(item.value)):12}  {last}")


def _shown(value: object) -> str:
    import json

    return "auto" if value is None else json.dumps(value)
