"""How `codeforge models` looks: the list as a table or JSON, and what pulling and removing say."""

import json
from pathlib import Path
from typing import Any

import typer

from codeforge.cli.ask import confirm
from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.models import manage, store
from codeforge.models.catalog import get
from codeforge.models.manage import ListedModel
from codeforge.models.progress import terminal_progress
from codeforge.models.sources.base import size_of


def print_list(*, as_json: bool) -> None:
    """The list on stdout."""
    listed, active = manage.list_models(), store.active_name()
    if as_json:
        document = {
            "schema_version": 1,
            "active": active or None,
            "models": [_row(model) for model in listed],
        }
        typer.echo(json.dumps(document, indent=2))
        return
    lines = [("", "NAME", "SIZE", "MEMORY", "LICENCE", "STATE")]
    lines += [
        (
            "*" if model.active else "",
            model.entry.name,
            f"{'~' if model.entry.approximate_size else ''}{model.entry.size / 1e9:.1f} GB",
            f"{model.entry.memory / 1e9:.1f} GB" + ("" if model.fits else " (too much)"),
            model.entry.licence,
            _state(model),
        )
        for model in listed
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())
    if active and not any(model.active for model in listed):
        typer.echo(f"in use: {active}")


def pull(name: str | None) -> None:
    """Pull, and print where the file is."""
    from codeforge.models.pull import pull as pull_model

    typer.echo(str(pull_model(name, terminal_progress())))


def adopt(path: Path, name: str | None) -> None:
    """Take a file, and print where its copy is."""
    entry = manage.adopt(path, name)
    typer.echo(f"{path} is {entry.name}.", err=True)
    typer.echo(str(store.model_path(entry)))


def remove(name: str, *, yes: bool) -> None:
    """Remove, after asking unless `yes`.

    Raises:
        UsageError: nobody said yes.
    """
    entry = get(name)
    size = sum(size_of(path) for path in manage.removable(entry)) / 1e6
    if size and not yes and not confirm(f"Remove {entry.name} ({size:.0f} MB)?"):
        raise UsageError(f"{entry.name} was not removed.", kept="everything", hint="say yes, or give --yes")
    typer.echo(f"Removed {entry.name}: {manage.remove(name) / 1e6:.0f} MB freed.", err=True)


def verify(name: str | None) -> None:
    """Verify, print a line for each model, and fail when one is damaged.

    Raises:
        EnvironmentUnavailableError: a file is damaged.
    """
    results = manage.verify_models(name)
    for result in results:
        typer.echo(f"{result.name}: {'damaged' if result.problem else 'whole'} ({result.path})")
    if not results:
        typer.echo("No model is here.", err=True)
    damaged = [result for result in results if result.problem]
    if damaged:
        raise EnvironmentUnavailableError(
            " ".join(result.problem for result in damaged),
            kept="the files are where they were",
            hint="; ".join(f"run `codeforge models pull {result.name}`" for result in damaged),
        )


def _state(model: ListedModel) -> str:
    here = model.installed
    if here is None:
        return f"{model.pulled / 1e6:.0f} MB pulled" if model.pulled else "not here"
    if here.problem:
        return f"damaged: {here.problem}"
    return "here, verified" if here.verified else "here, not verified yet"


def _row(model: ListedModel) -> dict[str, Any]:
    entry, here = model.entry, model.installed
    return {
        "name": entry.name,
        "title": entry.title,
        "parameters": round(entry.parameters * 1e9),
        "size": entry.size,
        "approximate_size": entry.approximate_size,
        "sha256": entry.sha256 or None,
        "licence": entry.licence,
        "context_window": entry.context_window,
        "memory": entry.memory,
        "fits": model.fits,
        "active": model.active,
        "installed": here is not None,
        "verified": here is not None and here.verified,
        "problem": here.problem if here is not None else "",
        "path": str(here.path) if here is not None else None,
        "pulled": model.pulled,
    }
