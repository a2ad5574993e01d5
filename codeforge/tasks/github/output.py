"""Files of tasks that grow line by line, so that an interrupted run goes on where it stopped.

Beside `FILE` lies `FILE.seen`: the commits that were looked at, tasks or not, under the settings of its first
line. Under other settings it starts anew; tasks that are in `FILE` stay there.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.tasks.spec import TaskSpec

FORMAT = "codeforge-tasks-seen 1"


class TaskFile:
    """A file of tasks, open for adding. Use it as a context manager.

    Args:
        path: the file; a last line that was cut off is dropped.
        settings: what decides which commits become tasks.

    Raises:
        UsageError: the file holds something else than tasks.
        EnvironmentUnavailableError: it can't be written.
    """

    def __init__(self, path: Path, settings: Mapping[str, object]) -> None:
        self.path = path
        self._seen_path = path.with_name(f"{path.name}.seen")
        header = f"{FORMAT} {hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.ids = _ids(path, _whole_lines(path))
            lines = _whole_lines(self._seen_path)
            goes_on = bool(lines) and lines[0] == header and path.exists()
            self.seen = set(lines[1:]) if goes_on else set[str]()
            self._tasks: IO[str] = path.open("a", encoding="utf-8", newline="\n")
            mode = "a" if goes_on else "w"
            self._log: IO[str] = self._seen_path.open(mode, encoding="ascii", newline="\n")
            if not goes_on:
                self._log.write(f"{header}\n")
        except OSError as error:
            raise EnvironmentUnavailableError(
                f"{path} can't be written: {error.strerror or error}.", hint="Choose another file with --out."
            ) from error

    def add(self, task: TaskSpec) -> None:
        """Write a task, at once."""
        self._tasks.write(line_of(task) + "\n")
        self._tasks.flush()
        self.ids.add(task.id)

    def look_at(self, commits: Iterable[str]) -> None:
        """Write down that these commits need not be looked at again; their tasks are written."""
        new = list(commits)
        self.seen.update(new)
        self._log.writelines(f"{commit}\n" for commit in new)
        self._log.flush()

    def __enter__(self) -> "TaskFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._tasks, self._log):
            file.flush()
            os.fsync(file.fileno())
            file.close()


def line_of(task: TaskSpec) -> str:
    """A task as one line of JSON, ASCII only."""
    return json.dumps(task.to_json())


def _whole_lines(path: Path) -> list[str]:
    """The file's lines; what follows the last line break is cut off the file."""
    if not path.exists():
        return []
    with path.open("r+b") as file:
        raw = file.read()
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw):
            file.truncate(whole)
    return raw[:whole].decode("utf-8", "replace").splitlines()


def _ids(path: Path, lines: Iterable[str]) -> set[str]:
    ids = set()
    for number, line in enumerate(lines, 1):
        try:
            row: Any = json.loads(line)
            ids.add(str(row["id"]))
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(
                f"{path} holds something else than tasks (line {number}).",
                kept="Nothing was changed.",
                hint="Choose another file with --out.",
            ) from error
    return ids
