"""`codeforge tasks`: tasks from a repository's history, and training data from tasks and sessions."""

from datetime import datetime
from pathlib import Path

import typer

_JSON = typer.Option(False, "--json", help="Print one JSON document.")


def register(app: typer.Typer) -> None:
    """Add the `tasks` commands."""
    group = typer.Typer(help="Make tasks and training data.", no_args_is_help=True)
    group.command("from-github")(from_github)
    group.command("export-localization")(export_localization)
    app.add_typer(group, name="tasks")


def from_github(
    repo: str = typer.Argument(help="The repository, as GitHub spells it.", metavar="OWNER/REPO"),
    clone: Path | None = typer.Option(None, "--clone", help="Read this clone instead of making one."),
    offline: bool = typer.Option(False, "--offline", help="Use no network: go by commit messages."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="The file to add to (OWNER__REPO.tasks.jsonl); - for stdout."
    ),
    limit: int = typer.Option(0, "--limit", "-n", min=0, help="Most tasks in the file (0: all)."),
    ref: str = typer.Option("", "--ref", help="The branch or commit to walk back from."),
    since: datetime | None = typer.Option(
        None, "--since", formats=["%Y-%m-%d"], help="Only commits from this day on (UTC)."
    ),
    until: datetime | None = typer.Option(
        None, "--until", formats=["%Y-%m-%d"], help="Only commits up to this day, inclusive (UTC)."
    ),
    issues_only: bool = typer.Option(False, "--issues-only", help="Only changes that closed an issue."),
    max_files: int = typer.Option(10, "--max-files", min=1, help="Most product files that a change touches."),
    refresh: bool = typer.Option(False, "--refresh", help="Ask GitHub anew for what is kept of it."),
    api_url: str = typer.Option("", "--api-url", help="The API of a GitHub server (else GITHUB_API_URL)."),
    as_json: bool = _JSON,
) -> int:
    """Make tasks from issues and pull requests and the commits that closed them, newest first.

    With GITHUB_TOKEN or GH_TOKEN set, GitHub says what closed what; else commit messages do. Run again, it
    goes on where it stopped. Exit status 1 when there are no tasks.
    """
    from codeforge.cli.tasks_flow import FromGitHubArguments, run_from_github

    return run_from_github(
        FromGitHubArguments(
            repo=repo,
            clone=clone,
            offline=offline,
            output=output,
            limit=limit or None,
            ref=ref,
            since=since,
            until=until,
            issues_only=issues_only,
            max_files=max_files,
            refresh=refresh,
            api_url=api_url,
        ),
        as_json=as_json,
    )


def export_localization(
    tasks: list[Path] = typer.Argument(
        None, help="Files of tasks, as from-github writes them.", metavar="[FILE]..."
    ),
    output: Path = typer.Option(Path("localization.jsonl"), "--output", "-o", help="The file to add to."),
    sessions: bool = typer.Option(
        True, "--sessions/--no-sessions", help="Solved sessions of the archive too."
    ),
    clones: list[str] = typer.Option(
        [], "--clone", help="OWNER/REPO=PATH: where a repository of the tasks lies; repeatable."
    ),
    negatives: int = typer.Option(10, "--negatives", min=0, help="Most hard negatives of an example."),
    limit: int = typer.Option(0, "--limit", "-n", min=0, help="Most examples in the file (0: all)."),
    as_json: bool = _JSON,
) -> int:
    """Write training data for localization: queries with gold locations and hard negatives, as JSON lines.

    codeforge/localize/dataset/record.py documents them. Run again, it goes on where it stopped.
    Exit status 1 when there are no examples.
    """
    from codeforge.cli.tasks_export_flow import ExportArguments, run_export_localization

    arguments = ExportArguments(tuple(tasks or ()), output, sessions, tuple(clones), negatives, limit or None)
    return run_export_localization(arguments, as_json=as_json)
