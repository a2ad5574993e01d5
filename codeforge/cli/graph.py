"""`codeforge graph`: the code graph of a repository, as the agents' tools see it."""

from enum import StrEnum
from pathlib import Path

import typer


class _Kind(StrEnum):
    DIRECTORY = "directory"
    FILE = "file"
    CLASS = "class"
    FUNCTION = "function"


class _Relation(StrEnum):
    CONTAINS = "contains"
    IMPORTS = "imports"
    INVOKES = "invokes"
    INHERITS = "inherits"
    TESTS = "tests"


class _Direction(StrEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"


class _View(StrEnum):
    AUTO = "auto"
    FOLD = "fold"
    PREVIEW = "preview"
    FULL = "full"


class _Format(StrEnum):
    GRAPHML = "graphml"
    JSON = "json"
    DOT = "dot"


_IDS = typer.Argument(
    help="Entity ids: path.py:Class.method, path.py, folder/, or / for all.", metavar="ID..."
)
_KINDS = typer.Option([], "--kind", "-k", help="Only entities of this kind; may be repeated.")
_JSON = typer.Option(False, "--json", help="Print one JSON document.")
_MAX_TOKENS = typer.Option(
    8_000, "--max-tokens", min=1, help="Most tokens of what is shown, at three bytes each."
)


def register(app: typer.Typer) -> None:
    """Add the `graph` commands."""
    group = typer.Typer(help="Search the code graph, and follow its edges.", no_args_is_help=True)
    group.command("search")(search)
    group.command("traverse")(traverse)
    group.command("show")(show)
    group.command("stats")(stats)
    group.command("export")(export)
    app.add_typer(group, name="graph")


def search(
    keywords: list[str] = typer.Argument(
        help="Ids, path.py:LINE, names, or words of the code.", metavar="KEYWORD..."
    ),
    kinds: list[_Kind] = _KINDS,
    path: str = typer.Option("", "--path", "-p", help="Only paths that match this glob, as in a .gitignore."),
    limit: int = typer.Option(10, "--limit", "-l", min=1, help="Most entities."),
    view: _View = typer.Option(_View.AUTO, "--view", help="How much of each is shown."),
    max_tokens: int = _MAX_TOKENS,
    as_json: bool = _JSON,
) -> int:
    """Find entities by id, place, name, similar name or content; exit status 1 when there is none."""
    from codeforge.cli.graph_flow import SearchArguments, run_search

    arguments = SearchArguments(tuple(keywords), tuple(kinds), path, limit, view, max_tokens)
    return run_search(arguments, as_json=as_json)


def traverse(
    ids: list[str] = _IDS,
    direction: _Direction = typer.Option(
        _Direction.FORWARD, "--direction", "-d", help="Along edges, against them, or both."
    ),
    hops: int = typer.Option(1, "--hops", min=-1, help="Most edges from a start; -1 for no limit."),
    kinds: list[_Kind] = _KINDS,
    relations: list[_Relation] = typer.Option(
        [], "--relation", "-r", help="Only edges of this kind; may be repeated."
    ),
    weak: bool = typer.Option(False, "--weak", help="Follow guessed edges too."),
    max_tokens: int = _MAX_TOKENS,
    as_json: bool = _JSON,
) -> int:
    """Show what is connected with entities, as a tree; exit status 1 when an id is unknown."""
    from codeforge.cli.graph_flow import TraverseArguments, run_traverse

    arguments = TraverseArguments(
        tuple(ids), direction, hops, tuple(kinds), tuple(relations), weak, max_tokens
    )
    return run_traverse(arguments, as_json=as_json)


def show(
    ids: list[str] = typer.Argument(help="Entity ids, or path.py:FIRST-LAST.", metavar="ID..."),
    max_tokens: int = _MAX_TOKENS,
    as_json: bool = _JSON,
) -> int:
    """Show the source of entities with line numbers; exit status 1 when an id is unknown."""
    from codeforge.cli.graph_flow import run_show

    return run_show(tuple(ids), max_tokens, as_json=as_json)


def stats(as_json: bool = _JSON) -> int:
    """Count the entities and edges."""
    from codeforge.cli.graph_flow import run_stats

    return run_stats(as_json=as_json)


def export(
    file_format: _Format = typer.Option(
        _Format.JSON, "--format", "-f", help="json writes one JSON document a line."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="The file to write; else stdout."),
) -> int:
    """Write the whole graph, guessed edges too, always in the same order."""
    from codeforge.cli.graph_flow import run_export

    return run_export(file_format, output)
