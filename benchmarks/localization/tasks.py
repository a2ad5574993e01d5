"""Tasks of localization, and checkouts of the commits that they start from."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the data: the text of a commit, and what it changed."""

    id: str
    repo: str
    base_commit: str
    text: str
    gold_files: frozenset[str]
    gold_functions: frozenset[str]

    @property
    def names_a_gold_file(self) -> bool:
        """Whether the text holds the name of a file that is to be found."""
        text = self.text.lower()
        return any(PurePosixPath(path).stem.lower().strip("_") in text for path in self.gold_files)


def read_tasks(path: Path) -> list[Task]:
    """All tasks of a file, grouped by repository, oldest first where dates are known."""
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
    ]


def by_repository(tasks: Sequence[Task], clones: Path) -> Mapping[str, list[Task]]:
    """The tasks whose repository has a clone, by repository.

    Raises:
        SystemExit: there is no clone at all.
    """
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        if folder_of(task, clones).is_dir():
            groups.setdefault(task.repo, []).append(task)
    if not groups:
        raise SystemExit(f"no clone of {sorted({task.repo for task in tasks})} in {clones} (owner__name)")
    return groups


def folder_of(task: Task, clones: Path) -> Path:
    """The clone of a task's repository."""
    return clones / task.repo.replace("/", "__")


def check_out(task: Task, clones: Path) -> Path:
    """Put the clone at the task's commit, without whatever else lay in it; its folder."""
    folder = folder_of(task, clones)
    if _git(folder, "checkout", "--quiet", "--force", "--detach", task.base_commit):
        # A clone without all its blobs: what is there is enough for code.
        (folder / ".git" / "HEAD").write_text(task.base_commit + "\n", encoding="utf-8")
        _git(folder, "read-tree", task.base_commit)
        _git(folder, "checkout-index", "--force", "--all")
    _git(folder, "clean", "-fdq", "-e", ".codeforge")
    return folder


def _git(folder: Path, *arguments: str) -> int:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True).returncode
