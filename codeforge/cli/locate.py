"""`codeforge locate`."""

from typing import Literal

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def locate(
        text: str = typer.Argument("", help="The issue; `-` reads it from stdin."),
        issue_file: str = typer.Option("", "--issue-file", help="Read the issue from a file; `-` is stdin."),
        limit: int = typer.Option(10, "--limit", "-l", min=1, help="How many locations."),
        files: bool = typer.Option(False, "--files", help="Rank files instead of functions and classes."),
        agent: Literal["choose", "tools"] | None = typer.Option(
            None,
            "--agent",
            help="Let a model choose among the ranker's best, or look by itself with the graph tools.",
        ),
        model: str | None = typer.Option(None, "--model", help="The agent's model, as for fix."),
        samples: int = typer.Option(1, "--samples", min=1, max=100, help="Runs of the agent that vote."),
        encoder: str = typer.Option(
            "",
            "--encoder",
            help="Compare in meaning too: `minilm`, a model of the hub or a folder (codeforge[dense]).",
        ),
        as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
    ) -> int:
        """Show where an issue lives: ranked locations with reasons."""
        from codeforge.cli.locate_flow import AgentArguments, LocateArguments, run_locate_command

        chosen = AgentArguments(agent, model, samples)
        arguments = LocateArguments(text, issue_file, limit, files, as_json, encoder, chosen)
        return run_locate_command(arguments)
