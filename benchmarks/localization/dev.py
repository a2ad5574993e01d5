"""Acc@k on real commits, without any model: the whole table with its ablations, in one command.

    python -m benchmarks.localization.dev --data loc-dev.jsonl --clones clones/ [--dense]

A task counts when all its gold files (functions) are among the first k. `--clones` holds clones named
`owner__name`; each is checked out at every task's base commit, so give it clones that nobody works in.
Tests are not searched, as in the data's own definition. Then every column is tested against the strongest
plain row in it (McNemar, exact). `--dense` adds the row with vectors, which needs the extra `dense`.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.localization.fit import ABLATIONS
from benchmarks.localization.measure import KS, accuracy, deepest, mcnemar, shown
from benchmarks.localization.plain import file_ranking, function_ranking
from benchmarks.localization.tasks import Task, by_repository, check_out, read_tasks
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex
from codeforge.localize.model import EntityKind
from codeforge.localize.ranker import Localizer, LocateQuery
from codeforge.localize.weights import read_weights

if TYPE_CHECKING:
    from codeforge.localize.dense.encoder import Encoder

DEPTH = 60
PLAIN = ("BM25 over functions", "BM25 over whole files")
OURS = "codeforge"


@dataclass
class Row:
    """A row: the ranks of all tasks so far, in their order, and the seconds spent."""

    files: list[int] = field(default_factory=list)
    functions: list[int] = field(default_factory=list)
    seconds: float = 0.0


Ranking = tuple[list[str], list[str]]
"""Files and functions, best first."""


def plain_rankings(task: Task, root: Path) -> Mapping[str, Ranking]:
    """The plain rows of one task."""
    with CodeIndex.open(root, list_files(root)) as index:
        return {
            PLAIN[0]: function_ranking(index, task.text),
            PLAIN[1]: (file_ranking(index, task.text), []),
        }


def ranking(localizer: Localizer, task: Task) -> Ranking:
    """What the localizer answers."""
    answer = localizer.locate_all(LocateQuery(task.text, limit=DEPTH * 4, tests=False))
    functions = [at.entity.id for at in answer.locations if at.entity.kind is EntityKind.FUNCTION]
    return [at.entity.path for at in answer.files], functions


Variants = Mapping[str, Callable[[Path], Localizer]]


def variants(encoder: str | None) -> Variants:
    """By row, what makes its localizer."""
    rows: dict[str, Callable[[Path], Localizer]] = {
        "lexical only": partial(_ablated, "lexical"),
        "+ graph": partial(_ablated, "graph"),
        OURS: Localizer,
    }
    if encoder:
        from codeforge.localize.dense.encoder import open_encoder

        rows["+ dense"] = partial(_with_dense, open_encoder(encoder))
    return rows


def _ablated(name: str, root: Path) -> Localizer:
    return Localizer(root, weights=read_weights(ABLATIONS / f"{name}.json"), history=False)


def _with_dense(encoder: "Encoder", root: Path) -> Localizer:
    from codeforge.localize.dense.scorer import DenseScorer

    return Localizer(root, scorer=DenseScorer.open(root, encoder))


def run(tasks: Mapping[str, list[Task]], clones: Path, rows: Variants, *, verbose: bool) -> dict[str, Row]:
    """Check every task's commit out and rank with every row."""
    table = {name: Row() for name in (*PLAIN, *rows)}
    for group in tasks.values():
        for task in group:
            root = check_out(task, clones)
            Localizer(root).prepare()
            for name, found in plain_rankings(task, root).items():
                _note(table[name], task, found)
            for name, make in rows.items():
                started = time.perf_counter()
                found = ranking(make(root), task)
                table[name].seconds += time.perf_counter() - started
                _note(table[name], task, found)
            if verbose:
                print(task.id, table[OURS].files[-1], table[OURS].functions[-1:], flush=True)
    return table


def _note(row: Row, task: Task, found: Ranking) -> None:
    files, functions = found
    row.files.append(deepest(task.gold_files, files))
    if task.gold_functions:
        row.functions.append(deepest(task.gold_functions, functions))


def printed(table: Mapping[str, Row]) -> Iterator[str]:
    """The table, and the tests of our rows against the strongest plain row in each column."""
    header = " ".join(f"{f'@{k}':>5}" for k in KS)
    yield f"{'':24} files {header}   functions {header}   s/task"
    for name, row in table.items():
        seconds = f"{row.seconds / len(row.files):6.2f}" if row.seconds else ""
        yield f"{name:24}       {shown(row.files)}             {shown(row.functions)}   {seconds}"
    for name in (name for name in table if name not in PLAIN):
        for column in ("files", "functions"):
            for k in KS:
                plain = max(PLAIN, key=lambda one: accuracy(getattr(table[one], column), k))
                ours, theirs = getattr(table[name], column), getattr(table[plain], column)
                won, lost, p = mcnemar(ours, theirs, k)
                gain = accuracy(ours, k) - accuracy(theirs, k)
                test = f"{won} won, {lost} lost, p {p:.4f}"
                yield f"{name:14} {column:9} @{k:<2} {gain:+6.1f} on {plain}: {test}"


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--dense", action="store_true", help="add the row with vectors of MiniLM")
    parser.add_argument("--verbose", action="store_true", help="print each task's ranks")
    arguments = parser.parse_args()
    tasks = by_repository(read_tasks(arguments.data), arguments.clones)
    rows = variants("minilm" if arguments.dense else None)
    table = run(tasks, arguments.clones, rows, verbose=arguments.verbose)
    print(f"{sum(len(group) for group in tasks.values())} tasks of {len(tasks)} repositories")
    for line in printed(table):
        print(line)


if __name__ == "__main__":
    main()
