"""Acc@k of localization on real commits: are all gold files (functions) among the first k?

    python benchmarks/locate_dev.py --data loc-dev.jsonl --repos clones/

`--repos` holds clones named `owner__name`; each is checked out at every task's base commit, so give it
clones that nobody works in. Test files are not searched, as in the data's own definition.
"""

import argparse
import json
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.git import GitRepo
from codeforge.localize.model import EntityKind
from codeforge.localize.ranker import Localizer, LocateAnswer, LocateQuery
from codeforge.localize.roles import FileRole, role_of

KS = (1, 3, 5, 10)
DEPTH = 40


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the data."""

    id: str
    repo: str
    base_commit: str
    text: str
    gold_files: frozenset[str]
    gold_functions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Result:
    """The smallest k at which everything gold is there; `None` when it isn't among `DEPTH`.

    `functions` is -1 for a task that names no function.
    """

    task: Task
    files: int | None
    functions: int | None
    seconds: float


def read_tasks(path: Path, repos: Path) -> list[Task]:
    """The tasks whose repository is there, grouped by repository, oldest first."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows.sort(key=lambda row: (row["repo"], row.get("date", "")))
    return [
        Task(
            row["id"],
            row["repo"],
            row["base_commit"],
            row["text"],
            frozenset(row["gold_files"]),
            frozenset(row["gold_functions"]),
        )
        for row in rows
        if (repos / row["repo"].replace("/", "__")).is_dir()
    ]


def run_task(task: Task, repos: Path) -> Result:
    """Check the base commit out and locate."""
    folder = repos / task.repo.replace("/", "__")
    subprocess.run(
        ["git", "-C", str(folder), "checkout", "--quiet", "--force", "--detach", task.base_commit], check=True
    )
    repo = GitRepo.discover(folder)
    files = [path for path in repo.list_files() if role_of(path) is not FileRole.TEST]
    started = time.perf_counter()
    answer = Localizer(repo.root, files).locate_all(LocateQuery(task.text, limit=DEPTH))
    return Result(task, *_ranks(task, answer), time.perf_counter() - started)


def _ranks(task: Task, answer: LocateAnswer) -> tuple[int | None, int | None]:
    files = [location.entity.path for location in answer.files]
    functions = [
        location.entity.id for location in answer.locations if location.entity.kind is EntityKind.FUNCTION
    ]
    if not task.gold_functions:
        return _deepest(task.gold_files, files), -1
    return _deepest(task.gold_files, files), _deepest(task.gold_functions, functions)


def _deepest(gold: frozenset[str], ranked: Sequence[str]) -> int | None:
    if not gold <= set(ranked):
        return None
    return max((ranked.index(name) + 1 for name in gold), default=None)


def table(results: Sequence[Result]) -> Iterator[str]:
    """Acc@k by repository and over all."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.task.repo].append(result)
    groups["all"] = list(results)
    header = " ".join(f"@{k:<4}" for k in KS)
    yield f"{'repository':24} {'tasks':>5}   files {header}   functions (tasks) {header}   s/task"
    for name, group in groups.items():
        with_functions = [result for result in group if result.functions != -1]
        files = " ".join(_share([result.files for result in group], k) for k in KS)
        functions = " ".join(_share([result.functions for result in with_functions], k) for k in KS)
        seconds = sum(result.seconds for result in group) / len(group)
        yield (
            f"{name:24} {len(group):5}         {files}             ({len(with_functions):3}) {functions}   "
            f"{seconds:6.2f}"
        )


def _share(ranks: Sequence[int | None], k: int) -> str:
    if not ranks:
        return "    -"
    return f"{100 * sum(rank is not None and rank <= k for rank in ranks) / len(ranks):5.1f}"


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--verbose", action="store_true", help="print each task's ranks")
    arguments = parser.parse_args()
    results = []
    for task in read_tasks(arguments.data, arguments.repos):
        result = run_task(task, arguments.repos)
        results.append(result)
        if arguments.verbose:
            print(f"{task.id:40} files {result.files} functions {result.functions}", flush=True)
    for line in table(results):
        print(line)


if __name__ == "__main__":
    main()
