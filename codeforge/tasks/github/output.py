"""Files of JSON lines that grow one by one, so that an interrupted run goes on where it stopped.

Beside `FILE` lies `FILE.seen`: the keys that were looked at, with or without a line in `FILE`, under the
settings of its first line. Under other settings it starts anew; what is in `FILE` stays there.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.tasks.spec import TaskSpec

FORMAT = "codeforge-seen 1"


class GrowingFile:
    """A file of JSON objects, each with an `id`, open for adding. Use it as a context manager.

    Args:
        path: the file; a last line that was cut off is dropped.
        settings: what decides which keys get a line.
        holds: what is in it, for messages ("tasks").
        member: what every line of it has, and other files of codeforge don't.

    Attributes:
        ids: those in the file.
        seen: the keys that were looked at under these settings.

    Raises:
        UsageError: the file holds something else, or another process is writing it.
        EnvironmentUnavailableError: it can't be written.
    """

    def __init__(self, path: Path, settings: Mapping[str, object], holds: str, member: str) -> None:
        from filelock import FileLock, Timeout

        self.path = path
        self.holds = holds
        seen_path = path.with_name(f"{path.name}.seen")
        header = f"{FORMAT} {hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]}"
        self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            self.ids = _ids(path, holds, member)
            lines = _whole_lines(seen_path)
            goes_on = bool(lines) and lines[0] == header and path.exists()
            self.seen = set(lines[1:]) if goes_on else set[str]()
            self._file: IO[str] = path.open("a", encoding="utf-8", newline="\n")
            mode = "a" if goes_on else "w"
            self._log: IO[str] = seen_path.open(mode, encoding="utf-8", newline="\n")
            if not goes_on:
                self._log.write(f"{header}\n")
                self._log.flush()
        except Timeout as error:
            raise UsageError(
                f"Another codeforge is writing {path}.",
                kept="Nothing was changed.",
                hint="Wait for it, or choose another file with --output.",
            ) from error
        except UsageError:
            self._lock.release()
            raise
        except OSError as error:
            self._lock.release()
            raise EnvironmentUnavailableError(
                f"{path} can't be written: {error.strerror or error}.",
                hint="Choose another file with --output.",
            ) from error

    def add(self, row: Mapping[str, Any]) -> None:
        """Write an object, at once."""
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        self.ids.add(str(row["id"]))

    def look_at(self, keys: Iterable[str]) -> None:
        """Write down that these keys need not be looked at again; their lines are written."""
        new = list(keys)
        self.seen.update(new)
        self._log.writelines(f"{key}\n" for key in new)
        self._log.flush()

    def __enter__(self) -> "GrowingFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._file, self._log):
            file.flush()
            os.fsync(file.fileno())
            file.close()
        self._lock.release()


def read_tasks(path: Path) -> Iterator[TaskSpec]:
    """The tasks of a file of JSON lines; blank lines are skipped.

    Raises:
        UsageError: the file can't be read, or a line is no task.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(TaskSpec)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror or error}.", kept="Nothing was changed."
        ) from error
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield adapter.validate_json(line)
        except ValidationError as error:
            what = error.errors()[0]
            where = ".".join(str(part) for part in what["loc"]) or "the line"
            raise UsageError(
                f"{path}, line {number}, is no task: {where}: {what['msg']}.", kept="Nothing was changed."
            ) from error


def _whole_lines(path: Path) -> list[str]:
    """The file's lines; what follows the last line break is cut off the file."""
    if not path.exists():
        return []
    with path.open("r+b") as file:
        raw = file.read()
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw):
            file.truncate(whole)
    return raw[:whole].decode("utf-8", "replace").split("\n")[:-1]


def _ids(path: Path, holds: str, member: str) -> set[str]:
    """The ids in the file. Nothing of it is changed before all of it is known to be ours."""
    if not path.exists():
        return set()
    ids = set()
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = json.loads(line)
            ids.add(str(row["id"]))
            row[member]
        except (ValueError, TypeError, KeyError) as error:
            raise _foreign(path, holds, number) from error
    if not (lines[-1].startswith(b'{"') or b'{"'.startswith(lines[-1])):
        raise _foreign(path, holds, len(lines))  # rather somebody's text than a line of ours that was cut off
    _whole_lines(path)
    return ids


def _foreign(path: Path, holds: str, line: int) -> UsageError:
    return UsageError(
        f"{path} holds something else than {holds} (line {line}).",
        kept="Nothing was changed.",
        hint="Choose another file with --output.",
    )
