"""From parsed options of `apply` to an applied answer, and from that to output and an exit status."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import ExitCode, PatchRefusedError, UsageError
from codeforge.git import GitRepo
from codeforge.patch.service import AppliedAnswer, apply_answer


@dataclass(frozen=True, slots=True)
class ApplyArguments:
    """The command line of `apply`; `test` is `None` when not given."""

    answer: str
    dry_run: bool
    commit: bool
    test: str | None
    timeout_s: float
    scope: tuple[str, ...]
    as_json: bool


def run_apply_command(arguments: ApplyArguments) -> int:
    """Run `apply` and return the exit status."""
    if arguments.dry_run and arguments.commit:
        raise UsageError("--dry-run and --commit exclude each other.", kept="nothing was changed")
    text = read_answer(arguments.answer)
    repo = GitRepo.discover(Path.cwd())
    label = "apply" if arguments.answer == "-" else f"apply {Path(arguments.answer).name}"

    dirty = repo.dirty_paths() if arguments.commit else frozenset()

    def commit(paths: Sequence[str]) -> str:
        mixed = sorted(dirty & set(paths))
        if mixed:
            raise PatchRefusedError(
                f"{', '.join(mixed)} had changes of your own that the commit would take along.",
                kept="the edits stay applied, uncommitted",
                hint="commit yourself, or `codeforge undo`",
            )
        return repo.commit_paths(paths, f"codeforge {label}\n")

    verify = None
    if arguments.test is not None:
        from codeforge.engine.verify import verifier

        verify = verifier(repo, arguments.test, timeout_s=arguments.timeout_s)
    from codeforge.localize.entity_source import RepoEntitySource

    files = repo.list_files()
    done = apply_answer(
        text,
        repo.root,
        entities=RepoEntitySource(repo.root, files),
        known_paths=files,
        scope=arguments.scope,
        dry_run=arguments.dry_run,
        verify=verify,
        commit=commit if arguments.commit else None,
        label=label,
    )
    if arguments.as_json:
        sys.stdout.write(json.dumps(_document(done), indent=2) + "\n")
    else:
        _show(done)
    return int(ExitCode.SOLVED if done.acceptable else ExitCode.NO_PATCH)


def read_answer(source: str) -> str:
    """The answer's text.

    Raises:
        UsageError: the file can't be read.
    """
    if source == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(source).read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise UsageError(
            f"The answer {source} can't be read: {error.strerror or error}.", kept="nothing was changed"
        ) from error


def _show(done: AppliedAnswer) -> None:
    from codeforge.cli.diff_view import show_diff

    show_diff(done.diff)
    for line in (*done.notes, *_verdict(done)):
        sys.stderr.write(line + "\n")


def _verdict(done: AppliedAnswer) -> list[str]:
    stats = f"{done.stats.files} file(s), +{done.stats.added} -{done.stats.removed}"
    lines = []
    if done.check is not None and not done.check.passed:
        how = "ran out of time" if done.check.timed_out else f"exit status {done.check.exit_code}"
        lines += [f"the test command failed ({how}); nothing was changed"]
        lines += [f"  {outcome.status.value}: {outcome.id}" for outcome in done.check.failing[:20]]
        if not done.check.failing:
            lines += (done.check.stdout_tail + done.check.stderr_tail).splitlines()[-20:]
    elif done.check is not None:
        lines.append("the test command passes")
    if done.entry is not None:
        what = f"committed as {done.commit[:12]}" if done.commit else "applied"
        lines.append(f"{what}: {stats}; `codeforge undo {done.entry.id}` takes it back")
    elif done.acceptable:
        lines.append(f"dry run, nothing was changed: {stats}")
    return lines


def _document(done: AppliedAnswer) -> dict[str, object]:
    check = done.check
    return {
        "schema_version": 1,
        "applied": done.entry is not None,
        "journal_entry": done.entry.id if done.entry else None,
        "commit": done.commit,
        "paths": list(done.patch.paths),
        "stats": {"files": done.stats.files, "added": done.stats.added, "removed": done.stats.removed},
        "notes": list(done.notes),
        "diff": done.diff,
        "check": None
        if check is None
        else {
            "command": check.command,
            "passed": check.passed,
            "exit_code": check.exit_code,
            "timed_out": check.timed_out,
            "duration_s": check.duration_s,
            "failing": [outcome.id for outcome in check.failing],
        },
    }
