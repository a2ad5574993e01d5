"""Work out the ranker's features of the training tasks.

    python -m benchmarks.localization.prepare --data loc-train.jsonl --clones clones/ --rows rows/
        [--dense --every 4]

`--clones` holds clones named `owner__name`; each is checked out at every task's commit, so give it clones
that nobody works in. One process a repository, as many at once as there are cores. What is in `--rows`
already is not worked out again. About 3 s a task; with `--dense`, which compares by meaning, more.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.localization.rows import rows_of
from benchmarks.localization.tasks import Task, by_repository, check_out, read_tasks
from codeforge.localize.dense.encoder import open_encoder


def prepare(tasks: list[Task], clones: Path, rows: Path, dense: bool) -> str:
    """Prepare the tasks of one repository; what to tell."""
    failed = []
    encoder = open_encoder("minilm") if dense else None
    for task in tasks:
        path = rows / f"{task.id}.npz"
        if path.exists():
            continue
        try:
            rows_of(task, check_out(task, clones), encoder).save(path)
        except Exception as error:  # noqa: BLE001  one task must not stop hundreds; each failure is told
            failed.append(f"{task.id}: {error!r}")
    return "\n".join([f"{tasks[0].repo}: {len(tasks) - len(failed)} of {len(tasks)} tasks", *failed])


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--dense", action="store_true", help="compare the best entities by meaning")
    parser.add_argument("--every", type=int, default=1, help="take only every nth task")
    arguments = parser.parse_args()
    arguments.rows.mkdir(parents=True, exist_ok=True)
    groups = by_repository(read_tasks(arguments.data)[:: arguments.every], arguments.clones)
    with ProcessPoolExecutor(min(len(groups), os.cpu_count() or 1)) as pool:
        ordered = sorted(groups.values(), key=len, reverse=True)
        running = [
            pool.submit(prepare, tasks, arguments.clones, arguments.rows, arguments.dense)
            for tasks in ordered
        ]
        for one in running:
            print(one.result(), flush=True)


if __name__ == "__main__":
    main()
