"""The call and output of `tasks from-github`."""

import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from codeforge.errors import CodeforgeError, ExitCode, UsageError
from codeforge.paths import data_dir
from codeforge.tasks.github.address import Endpoint, RepositoryName
from codeforge.tasks.github.build import RULES, Selection, Source, Summary, build_tasks, with_kept
from codeforge.tasks.github.clone import open_clone
from codeforge.tasks.github.output import GrowingFile
from codeforge.tasks.spec import TaskSpec

SCHEMA_VERSION = 1
_STDOUT = Path("-")
_BY = {"api": "GitHub's API", "kept answers": "what GitHub answered earlier", "message": "commit messages"}


@dataclass(frozen=True, slots=True)
class FromGitHubArguments:
    """The command line of `tasks from-github`."""

    repo: str
    clone: Path | None
    offline: bool
    output: Path | None
    limit: int | None
    ref: str
    since: datetime | None
    until: datetime | None
    issues_only: bool
    max_files: int
    refresh: bool
    api_url: str


def github_folder() -> Path:
    """Where our clones, and what GitHub answered, are kept."""
    return data_dir() / "github"


def run_from_github(arguments: FromGitHubArguments, *, as_json: bool) -> int:
    """Make tasks; the status is 1 when there are none.

    Raises:
        UsageError: arguments that don't fit together.
        CodeforgeError: the clone, the API or the file can't be used; it says what is kept.
    """
    name = RepositoryName.parse(arguments.repo)
    to_stdout = arguments.output == _STDOUT
    if to_stdout and as_json:
        raise UsageError("Tasks and --json both go to stdout.", hint="Name a file with --output.")
    endpoint = Endpoint.resolve(arguments.api_url)
    source = Source(name, endpoint, arguments.clone, github_folder(), arguments.offline, arguments.refresh)
    selection = _selection(arguments)
    if arguments.clone is not None:
        open_clone(arguments.clone)  # before a file is made: without it nothing comes
    path = arguments.output or Path(f"{name.slug}.tasks.jsonl")
    opened = (
        nullcontext() if to_stdout else GrowingFile(path, _settings(source, selection), "tasks", "edit_scope")
    )
    with opened as out:
        try:
            summary = build_tasks(source, selection, out, _print if to_stdout else _ignore, _tell)
        except CodeforgeError as error:
            raise (with_kept(error, out) if out else error) from error.__cause__
    _show(summary, None if to_stdout else path, as_json=as_json)
    return int(ExitCode.SOLVED if summary.added + summary.before else ExitCode.NO_PATCH)


def _selection(arguments: FromGitHubArguments) -> Selection:
    since, until = arguments.since, arguments.until
    return Selection(
        ref=arguments.ref,
        since=since.replace(tzinfo=UTC) if since else None,
        # The whole day counts.
        until=until.replace(tzinfo=UTC) + timedelta(days=1, microseconds=-1) if until else None,
        limit=arguments.limit,
        issues_only=arguments.issues_only,
        max_files=arguments.max_files,
    )


def _settings(source: Source, selection: Selection) -> dict[str, object]:
    """What decides whether a commit that was looked at is a task."""
    online = bool(source.endpoint.token) and not source.offline
    return {
        "rules": RULES,
        "repo": str(source.name).lower(),
        "api": source.endpoint.api if online else "",
        "issues_only": selection.issues_only,
        "max_files": selection.max_files,
    }


def _print(task: TaskSpec) -> None:
    sys.stdout.write(json.dumps(task.to_json()) + "\n")
    sys.stdout.flush()


def _ignore(task: TaskSpec) -> None:
    """The file has it already."""


def _tell(text: str) -> None:
    sys.stderr.write(f"codeforge: {text}\n")


def _show(summary: Summary, path: Path | None, *, as_json: bool) -> None:
    skipped = dict(sorted(summary.skipped.items(), key=lambda item: (-item[1], item[0])))
    if as_json:
        document = {
            "schema_version": SCHEMA_VERSION,
            "repo": summary.repo,
            "file": str(path),
            "paired_by": summary.paired_by,
            "added": summary.added,
            "before": summary.before,
            "changes": summary.changes,
            "skipped": skipped,
            "complete": summary.complete,
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    by = _BY[summary.paired_by]
    where = f" in {path}" if path else ""
    before = f", {summary.before} were there" if summary.before else ""
    _tell(f"{summary.added} new tasks of {summary.changes} changes (by {by}){before}{where}")
    for reason, count in skipped.items():
        _tell(f"  {count:>6} no task: {reason}")
    if not summary.complete:
        _tell("  the limit was reached; a higher --limit goes on from there")
