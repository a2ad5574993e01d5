"""What a small model adds that chooses among the ranker's best entities, and what a second of it is worth.

    python -m benchmarks.localization.choose --data loc-dev.jsonl --clones clones/ [--model NAME] [--limit N]

Each task is asked once, greedily. The fusion of the choice with the ranker's scores is then worked out for
several values of `trust` (the shipped one for local models is 1). Acc@k as in `dev.py`.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.localization.measure import accuracy, deepest, mcnemar, shown
from benchmarks.localization.tasks import Task, by_repository, check_out, read_tasks
from codeforge.localize.agent.choosing import ChoosingAgent
from codeforge.localize.agent.events import AgentEvent, SampleEnded
from codeforge.localize.agent.fusing import fuse_choice
from codeforge.localize.agent.voting import vote
from codeforge.localize.model import EntityKind
from codeforge.localize.ranker import Localizer, LocateAnswer, LocateQuery
from codeforge.models.protocol import ChatModel
from codeforge.models.registry import open_model
from codeforge.models.sampling import SampleSpec

TRUSTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
DEPTH = 240
Ranks = dict[float, tuple[list[int], list[int]]]


def ask(model: ChatModel, root: Path, task: Task, ranked: LocateAnswer) -> tuple[list[list[str]], float]:
    """The ids that the model chose (none when it gave no answer), and the seconds that took."""
    chosen: list[list[str]] = []

    def note(event: AgentEvent) -> None:
        if isinstance(event, SampleEnded) and event.ids:
            chosen.append(list(event.ids))

    started = time.perf_counter()
    ChoosingAgent(model, root).locate(task.text, ranked, [SampleSpec(seed=0, temperature=0.0)], note)
    return chosen, time.perf_counter() - started


def note(ranks: Ranks, task: Task, ranked: LocateAnswer, chosen: Sequence[Sequence[str]]) -> None:
    """Add a task's ranks for every trust."""
    candidates = [location.entity.id for location in ranked.locations[:10]]
    for trust, (files, functions) in ranks.items():
        answer = fuse_choice(ranked, vote(chosen, candidates), 1, trust) if chosen else ranked
        files.append(deepest(task.gold_files, [at.entity.path for at in answer.files]))
        found = [at.entity.id for at in answer.locations if at.entity.kind is EntityKind.FUNCTION]
        functions.append(deepest(task.gold_functions, found))


def report(ranks: Ranks, seconds: Sequence[float]) -> None:
    """Print the table and what a second adds."""
    mean = sum(seconds) / len(seconds)
    print(f"{len(seconds)} tasks, {mean:.1f} s of the model each")
    base = ranks[0.0]
    for trust, (files, functions) in ranks.items():
        gain = accuracy(functions, 1) - accuracy(base[1], 1)
        won, lost, p = mcnemar(functions, base[1], 1)
        print(
            f"trust {trust:<4} files {shown(files)}   functions {shown(functions)}   "
            f"functions @1 {gain:+.1f} ({won} won, {lost} lost, p {p:.3f}), {gain / mean:+.2f} a second"
        )


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--limit", type=int, default=10_000, help="of tasks")
    arguments = parser.parse_args()
    groups = by_repository(read_tasks(arguments.data), arguments.clones)
    tasks = [task for group in groups.values() for task in group]
    tasks = tasks[:: max(1, len(tasks) // arguments.limit)][: arguments.limit]
    ranks: Ranks = {trust: ([], []) for trust in TRUSTS}
    seconds = []
    model = open_model(arguments.model)
    for task in tasks:
        root = check_out(task, arguments.clones)
        ranked = Localizer(root).locate_all(LocateQuery(task.text, limit=DEPTH, tests=False))
        chosen, spent = ask(model, root, task, ranked)
        seconds.append(spent)
        note(ranks, task, ranked, chosen)
        print(f"{task.id} {spent:.1f} s, {ranks[0.0][1][-1]} -> {ranks[1.0][1][-1]}", flush=True)
    model.close()
    report(ranks, seconds)


if __name__ == "__main__":
    main()
