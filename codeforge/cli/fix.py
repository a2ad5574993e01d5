"""`codeforge fix`: from an issue text to a patch that passes the tests."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fix")(fix)


def fix(
    issue: str = typer.Argument(
        "", help="The issue text; '-' reads it from standard input.", show_default=False
    ),
    issue_file: str = typer.Option("", "--issue-file", help="Read the issue text from a file ('-': stdin)."),
    test: str = typer.Option("", "--test", help="The command that judges. Found by itself when not given."),
    model: str = typer.Option(
        "", "--model", help="A catalog name, a .gguf file, provider/model, replay:FILE."
    ),
    candidates: int = typer.Option(
        0, "-n", "--candidates", min=0, help="Most model answers (0: by model size)."
    ),
    rounds: int = typer.Option(0, "--rounds", min=0, help="Rounds; later ones see what failed (0: setting)."),
    budget_tokens: int = typer.Option(0, "--budget-tokens", min=0, help="Tokens of a prompt (0: by model)."),
    timeout: float = typer.Option(0.0, "--timeout", min=0.0, help="Seconds for one run of the test command."),
    scope: list[str] = typer.Option([], "--scope", help="Glob of files that may be edited; repeatable."),
    seed: int = typer.Option(-1, "--seed", help="Seed of everything random."),
    apply: bool = typer.Option(False, "--apply", help="Apply the patch without asking."),
    commit: bool = typer.Option(False, "--commit", help="Apply the patch and commit it."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Never apply; only show."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document on stdout."),
) -> int:
    """Find, prove and offer a patch for an issue.

    Exits with 0 when a patch passes the checks, 1 when none does.
    """
    from codeforge.cli.fix_flow import FixArguments, run_fix_command

    return run_fix_command(
        FixArguments(
            issue=issue,
            issue_file=issue_file,
            test=test or None,
            model=model or None,
            candidates=candidates or None,
            rounds=rounds or None,
            budget_tokens=budget_tokens or None,
            timeout_s=timeout or None,
            scope=tuple(scope),
            seed=seed if seed >= 0 else None,
            apply=apply,
            commit=commit,
            dry_run=dry_run,
            as_json=as_json,
        )
    )
