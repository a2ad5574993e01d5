"""The graph commands' calls and output."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from codeforge.errors import EnvironmentUnavailableError, ExitCode
from codeforge.git import GitRepo
from codeforge.localize.graph.model import Direction, GraphView, RelationKind
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.views import View
from codeforge.localize.tools.workspace import GraphWorkspace, open_workspace

SCHEMA_VERSION = 1

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SearchArguments:
    """The command line of `graph search`."""

    keywords: tuple[str, ...]
    kinds: tuple[str, ...]
    path: str
    limit: int
    view: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class TraverseArguments:
    """The command line of `graph traverse`."""

    ids: tuple[str, ...]
    direction: str
    hops: int
    kinds: tuple[str, ...]
    relations: tuple[str, ...]
    weak: bool
    max_tokens: int


def run_search(arguments: SearchArguments, *, as_json: bool) -> int:
    """Search; the status is 1 when nothing was found."""
    root, result = _ask(
        lambda workspace: workspace.search_entity(
            arguments.keywords,
            kinds=[EntityKind(kind) for kind in arguments.kinds],
            path=arguments.path,
            limit=arguments.limit,
            view=None if arguments.view == "auto" else View(arguments.view),
            budget=Budget(arguments.max_tokens),
        )
    )
    if as_json:
        hits = [
            {
                **_entity(hit.entity),
                "matches": [
                    {"kind": match.kind, "keyword": match.keyword, "score": round(match.score, 4)}
                    for match in hit.matches
                ],
                "view": hit.view or None,
                "text": hit.text,
            }
            for hit in result.hits
        ]
        notes = list(result.notes)
        _print_document(
            root, {"hits": hits, "more": result.more, "notes": notes, "error": result.error or None}
        )
    elif result.hits:
        _print(result.text)
    else:
        _complain([result.text])
    return int(ExitCode.SOLVED if result.hits else ExitCode.NO_PATCH)


def run_traverse(arguments: TraverseArguments, *, as_json: bool) -> int:
    """Traverse; the status is 1 when an id is unknown."""
    root, result = _ask(
        lambda workspace: workspace.traverse_graph(
            arguments.ids,
            direction=Direction(arguments.direction),
            hops=arguments.hops,
            kinds=[EntityKind(kind) for kind in arguments.kinds],
            relations=[RelationKind(relation) for relation in arguments.relations],
            weak=arguments.weak,
            budget=Budget(arguments.max_tokens),
        )
    )
    if as_json:
        entities = [{**_entity(item.entity), "depth": item.depth} for item in result.reached]
        edges = [
            {"source": edge.source, "relation": edge.relation, "target": edge.target, "weak": edge.weak}
            for edge in result.edges
        ]
        kept_entities, kept_edges = _fitting(entities, edges, arguments.max_tokens)
        document = {
            "entities": kept_entities,
            "edges": kept_edges,
            "left_out": {
                "entities": len(entities) - len(kept_entities),
                "edges": len(edges) - len(kept_edges),
            },
            "complete": result.complete and len(kept_edges) == len(edges),
            "errors": list(result.errors),
            "text": result.text,
        }
        _print_document(root, document)
    elif result.reached:
        _print(result.text)
    else:
        _complain([result.text])
    return _status(result.errors)


def _fitting(
    entities: Sequence[dict[str, Any]], edges: Sequence[dict[str, Any]], max_tokens: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The first entities (the nearest) and the first edges within the budget, at three bytes a token; half of
    it is kept for the edges."""
    room = max_tokens * 3
    sizes = [[len(json.dumps(item, indent=2)) for item in items] for items in (entities, edges)]
    kept = _count_within(sizes[0], max(room // 2, room - sum(sizes[1])))
    return list(entities[:kept]), list(edges[: _count_within(sizes[1], room - sum(sizes[0][:kept]))])


def _count_within(sizes: Sequence[int], room: int) -> int:
    return sum(total <= room for total in accumulate(sizes))


def run_show(ids: Sequence[str], max_tokens: int, *, as_json: bool) -> int:
    """Show sources; the status is 1 when an id is unknown."""
    root, result = _ask(lambda workspace: workspace.retrieve_entity(ids, budget=Budget(max_tokens)))
    if as_json:
        entities = [
            {**_entity(item.entity), "view": item.view or None, "text": item.text} for item in result.entities
        ]
        _print_document(root, {"entities": entities, "errors": list(result.errors)})
    elif result.entities:
        _print(result.text)
    else:
        _complain([result.text])
    return _status(result.errors)


def run_stats(*, as_json: bool) -> int:
    """Count."""
    root, counts = _ask(lambda workspace: workspace.stats())
    nodes = {str(kind): counts.nodes.get(kind, 0) for kind in EntityKind}
    edges = {str(relation): counts.edges.get(relation, 0) for relation in RelationKind}
    if as_json:
        _print_document(root, {"nodes": nodes, "edges": edges, "weak_edges": counts.weak})
        return int(ExitCode.SOLVED)
    width = 2 + max(map(len, [*nodes, *edges]))
    for title, rows in (("nodes", nodes), ("edges", edges)):
        _print(f"{title:<{width}}  {sum(rows.values()):>9,}")
        for name, number in rows.items():
            _print(f"{f'  {name}':<{width}}  {number:>9,}")
    _print(f"{counts.weak:,} of the edges are weak: guessed from a name that several entities have")
    return int(ExitCode.SOLVED)


def run_export(file_format: str, output: Path | None) -> int:
    """Write the graph as it is read: no copy of it is made."""
    from codeforge.cli.graph_export import WRITERS

    lines = WRITERS[file_format]

    def write(graph: GraphView) -> None:
        _write(lines(graph), output)

    _ask(lambda workspace: workspace.read(write))
    if output is not None:
        sys.stderr.write(f"Exported to {output}\n")
    return int(ExitCode.SOLVED)


def _ask(question: Callable[[GraphWorkspace], Awaitable[_T]]) -> tuple[Path, _T]:
    """The repository's root, and the answer of its workspace."""
    root = GitRepo.discover(Path.cwd()).root

    async def asked() -> _T:
        async with open_workspace(root) as workspace:
            answer = await question(workspace)
            _complain(await workspace.notices())
            return answer

    return root, asyncio.run(asked())


def _write(lines: Iterable[str], output: Path | None) -> None:
    with ExitStack() as stack:
        try:
            if output is None:
                sys.stdout.writelines(f"{_encodable(line)}\n" for line in lines)
                return
            output = Path(os.path.realpath(output))
            if output.exists() and not output.is_file():  # a device or a pipe
                stream = stack.enter_context(output.open("w", encoding="utf-8", newline="\n"))
                stream.writelines(f"{line}\n" for line in lines)
                return
            unfinished = output.with_name(f".{output.name}.unfinished")
            stack.callback(unfinished.unlink, missing_ok=True)
            with unfinished.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{line}\n" for line in lines)
            unfinished.replace(output)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise EnvironmentUnavailableError(
                f"{output or 'stdout'} can't be written: {error.strerror or error}.",
                kept="The repository and its index are unchanged, and so is a file that was there.",
                hint="Choose another file with -o.",
            ) from error


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "kind": entity.kind,
        "path": entity.path,
        "qualname": entity.qualname,
        "start_line": entity.start_line,
        "end_line": entity.end_line,
        "signature": entity.signature,
    }


def _status(errors: Sequence[str]) -> int:
    return int(ExitCode.NO_PATCH if errors else ExitCode.SOLVED)


def _print(text: str) -> None:
    sys.stdout.write(f"{_encodable(text)}\n")


def _encodable(text: str) -> str:
    """`text` with escapes for what stdout's encoding doesn't have (`LC_ALL=POSIX`, old Windows consoles)."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _print_document(root: Path, members: Mapping[str, object]) -> None:
    document = {"schema_version": SCHEMA_VERSION, "repository": str(root), **members}
    _print(json.dumps(document, indent=2))


def _complain(texts: Iterable[str]) -> None:
    for text in texts:
        sys.stderr.write(f"codeforge: {text}\n")
