"""The call and output of `tasks export-localization`."""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeforge.archive.model import SessionStatus
from codeforge.archive.store import Archive
from codeforge.cli.tasks_flow import github_folder
from codeforge.errors import CodeforgeError, ExitCode, UsageError
from codeforge.git import GitRepo
from codeforge.localize.dataset.examples import (
    Unusable,
    accepted_patch,
    example_of_session,
    example_of_task,
)
from codeforge.localize.dataset.export import Exporter
from codeforge.localize.dataset.negatives import LocalizerRanking, Ranking
from codeforge.localize.dataset.record import SCHEMA_VERSION, Example
from codeforge.paths import database_path
from codeforge.tasks.github.address import Endpoint, RepositoryName
from codeforge.tasks.github.build import with_kept
from codeforge.tasks.github.clone import open_clone, own_clone
from codeforge.tasks.github.output import GrowingFile, read_tasks


@dataclass(frozen=True, slots=True)
class ExportArguments:
    """The command line of `tasks export-localization`."""

    tasks: tuple[Path, ...]
    output: Path
    sessions: bool
    clones: tuple[str, ...]
    negatives: int
    limit: int | None


@dataclass(slots=True)
class _Export:
    """One run: what there is to export, by repository, and what came of it."""

    examples: dict[str, dict[str, Example]] = field(default_factory=dict)
    repos: dict[str, GitRepo] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    added: int = 0
    complete: bool = True


def run_export_localization(
    arguments: ExportArguments, *, as_json: bool, ranking: Ranking | None = None
) -> int:
    """Write training data; the status is 1 when there is none.

    Args:
        ranking: chooses hard negatives; `None` for the Localizer.

    Raises:
        UsageError: a file holds no tasks, or `--clone` names none.
        CodeforgeError: git, the archive or the output can't be used; it says what is kept.
    """
    ranking = ranking or LocalizerRanking()
    export = _Export()
    _add_tasks(export, arguments)
    if arguments.sessions:
        _add_sessions(export)
    settings: dict[str, object] = {
        "schema": SCHEMA_VERSION,
        "negatives": arguments.negatives,
        "ranker": ranking.name,
    }
    with GrowingFile(arguments.output, settings, "examples", "hard_negatives") as out:
        before = len(out.ids)
        try:
            _write(export, arguments, ranking, out)
        except CodeforgeError as error:
            raise with_kept(error, out) from error.__cause__
    _show(export, before, arguments.output, as_json=as_json)
    return int(ExitCode.SOLVED if export.added + before else ExitCode.NO_PATCH)


def _add_tasks(export: _Export, arguments: ExportArguments) -> None:
    given = dict(_clone_of(each) for each in arguments.clones)
    for file in arguments.tasks:
        for task in read_tasks(file):
            example = example_of_task(task)
            if isinstance(example, Unusable):
                export.skipped[example.reason] += 1
            elif _find(export, example.repo, given):
                export.examples.setdefault(example.repo, {})[example.id] = example
            else:
                export.skipped[f"no clone of {example.repo} (--clone {example.repo}=PATH names one)"] += 1


def _add_sessions(export: _Export) -> None:
    """Oldest first; a session that only repeats another one's fix (a fork) is left out."""
    path = database_path()
    if not path.exists():
        return
    known: set[tuple[object, ...]] = set()
    with Archive.open(path) as archive:
        for notice in archive.notices:
            _tell(notice)
        for summary in reversed(archive.sessions()):
            if summary.status is not SessionStatus.SOLVED:
                continue
            record = archive.session(summary.id)
            patch = accepted_patch(record)
            if isinstance(patch, Unusable):
                export.skipped[f"session: {patch.reason}"] += 1
                continue
            if not _find(export, summary.repo, {}):
                export.skipped["session: its repository is gone"] += 1
                continue
            example = example_of_session(record, patch, export.repos[summary.repo])
            if isinstance(example, Unusable):
                export.skipped[f"session: {example.reason}"] += 1
                continue
            key = (example.repo, example.base_commit, example.query, example.gold)
            if key in known:
                export.skipped["session: it repeats another one"] += 1
                continue
            known.add(key)
            export.examples.setdefault(example.repo, {})[example.id] = example


def _clone_of(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise UsageError(
            f"--clone {text!r} does not say which repository lies where.",
            kept="Nothing was changed.",
            hint="Write --clone OWNER/REPO=PATH.",
        )
    return name.casefold(), Path(path)


def _find(export: _Export, repo: str, given: Mapping[str, Path]) -> bool:
    """Whether there is a repository for `repo` (a name or a path) on this machine; it is then in `export`."""
    if repo in export.repos:
        return True
    try:
        if (path := given.get(repo.casefold())) is not None:
            export.repos[repo] = open_clone(path)
        elif Path(repo).is_absolute():
            export.repos[repo] = open_clone(Path(repo))
        else:
            export.repos[repo] = _kept_clone(repo)
    except CodeforgeError:
        if repo.casefold() in given:
            raise  # the user named it
        return False
    return True


def _kept_clone(repo: str) -> GitRepo:
    """The clone that `tasks from-github` made."""
    name, endpoint = RepositoryName.parse(repo), Endpoint.resolve()
    return own_clone(name, endpoint, github_folder() / "clones", offline=True, tell=_tell)


def _write(export: _Export, arguments: ExportArguments, ranking: Ranking, out: GrowingFile) -> None:
    for repo, examples in export.examples.items():
        waiting = [example for example in examples.values() if example.id not in out.ids]
        if not waiting or not export.complete:
            continue
        _tell(f"{repo}: {len(waiting)} examples")
        with tempfile.TemporaryDirectory(prefix="codeforge-trees-") as folder:
            exporter = Exporter(
                export.repos[repo], Path(folder), ranking, arguments.negatives, export.skipped
            )
            for row in exporter.rows(waiting):
                if arguments.limit is not None and len(out.ids) >= arguments.limit:
                    export.complete = False
                    break
                out.add(row)
                export.added += 1


def _tell(text: str) -> None:
    sys.stderr.write(f"codeforge: {text}\n")


def _show(export: _Export, before: int, path: Path, *, as_json: bool) -> None:
    skipped = dict(sorted(export.skipped.items(), key=lambda item: (-item[1], item[0])))
    if as_json:
        document = {
            "schema_version": 1,
            "file": str(path),
            "added": export.added,
            "before": before,
            "skipped": skipped,
            "complete": export.complete,
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    _tell(f"{export.added} new examples" + (f", {before} were there" if before else "") + f" in {path}")
    for reason, count in skipped.items():
        _tell(f"  {count:>6} left out: {reason}")
    if not export.complete:
        _tell("  the limit was reached; a higher --limit goes on from there")
