"""From parsed options of `fix` to a run, and from its result to an applied patch and an exit status."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeforge.cli.ask import confirm
from codeforge.cli.failure import error_document, report_failure
from codeforge.cli.progress import Progress
from codeforge.cli.report import result_document, show_delivery, show_result
from codeforge.engine.deliver import Delivered, deliver
from codeforge.engine.outcome import FixOptions, FixStatus
from codeforge.engine.session import FixedSession, FixOrder, fix_in_repository
from codeforge.errors import CodeforgeError, ExitCode, UsageError

MOST_WORKERS = 4


@dataclass(frozen=True, slots=True)
class FixArguments:
    """The command line of `fix`; `None` means "not given"."""

    issue: str
    issue_file: str
    test: str | None
    model: str | None
    candidates: int | None
    rounds: int | None
    budget_tokens: int | None
    timeout_s: float | None
    scope: tuple[str, ...]
    seed: int | None
    apply: bool
    commit: bool
    dry_run: bool
    as_json: bool


def run_fix_command(arguments: FixArguments) -> int:
    """Run `fix` and return the exit status."""
    if arguments.dry_run and (arguments.apply or arguments.commit):
        raise UsageError("--dry-run and --apply or --commit exclude each other.", kept="nothing was run")
    order, notices = fix_order(arguments, issue_text(arguments), Path.cwd())
    progress = Progress(quiet=False)
    for notice in notices:
        progress.note(notice)
    with cancelled_by_interrupt() as cancel, progress:
        done = fix_in_repository(order, progress.show, cancel)
    if not arguments.as_json:
        show_result(done)
    try:
        delivered = _deliver(arguments, done)
    except CodeforgeError as error:
        # The patch was found all the same: it must not be lost with the error.
        if not arguments.as_json:
            raise
        report_failure(error, as_json=False)
        document = result_document(done, None) | {"error": error_document(error)}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return int(error.exit_code)
    if arguments.as_json:
        sys.stdout.write(json.dumps(result_document(done, delivered), indent=2) + "\n")
    elif delivered is not None:
        show_delivery(delivered)
    return exit_status(done)


def issue_text(arguments: FixArguments) -> str:
    """The issue's text from wherever it was given.

    Raises:
        UsageError: it was given twice, or its file can't be read.
    """
    source = arguments.issue_file
    if source and arguments.issue:
        raise UsageError(
            "The issue was given as text and as a file.", kept="nothing was run", hint="drop one"
        )
    if arguments.issue == "-" or source == "-":
        return sys.stdin.read()
    if not source:
        return arguments.issue
    try:
        return Path(source).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"The issue file {source} can't be read: {error.strerror}.", kept="nothing was run"
        ) from error


def fix_order(arguments: FixArguments, issue: str, where: Path) -> tuple[FixOrder, tuple[str, ...]]:
    """Layer flags over settings; also what the settings want said."""
    from codeforge.config import load_settings
    from codeforge.git import GitRepo
    from codeforge.models.machine import usable_cores
    from codeforge.models.registry import check_name, open_model

    if arguments.test is not None and not arguments.test.strip():
        raise UsageError("--test is blank.", kept="nothing was run", hint="leave it out, or name a command")
    flags = {
        "model": arguments.model,
        "candidates": arguments.candidates,
        "rounds": arguments.rounds,
        "budget_tokens": arguments.budget_tokens,
        "timeout_s": arguments.timeout_s,
        "test_command": arguments.test,
        "scope": list(arguments.scope) or None,
        "seed": arguments.seed,
    }
    root = GitRepo.discover(where).root
    settings = load_settings(root, flags)
    if settings.model is not None:
        check_name(settings.model)
    options = FixOptions(
        candidates=settings.candidates,
        rounds=settings.rounds,
        budget_tokens=settings.budget_tokens,
        timeout_s=settings.timeout_s,
        seed=settings.seed,
        temperature=settings.temperature,
        mutations=settings.mutations,
        screen_s=settings.mutation_seconds,
        network=settings.sandbox.network,
        memory_bytes=settings.sandbox.memory_mb * 1024**2,
    )
    order = FixOrder(
        where=where,
        issue=issue,
        test_command=settings.test_command,
        scope=tuple(settings.scope),
        options=options,
        model_name=settings.model or "auto",
        open_model=lambda: open_model(
            settings.model, threads=settings.threads, api_base=settings.litellm.api_base
        ),
        require_isolation=settings.sandbox.require,
        workers=min(MOST_WORKERS, usable_cores()),
    )
    return order, settings.settings_notices


@contextmanager
def cancelled_by_interrupt() -> Iterator[threading.Event]:
    """An event that is set when the block is left by Ctrl-C or by a failure, so that commands end."""
    cancel = threading.Event()
    try:
        yield cancel
    finally:
        cancel.set()


def _deliver(arguments: FixArguments, done: FixedSession) -> Delivered | None:
    """Apply the best patch when the user wants it: by flag, or by answering at a terminal."""
    if done.result.best is None or arguments.dry_run:
        return None
    if done.result.status is not FixStatus.SOLVED and (arguments.apply or arguments.commit):
        sys.stderr.write("not applied: nothing verified the patch; give a test command with --test\n")
        return None
    wanted = arguments.apply or arguments.commit
    if not wanted and not arguments.as_json:
        wanted = confirm("Apply this patch?")
    if not wanted:
        return None
    return deliver(done, commit=arguments.commit)


def exit_status(done: FixedSession) -> int:
    """0 when checks pass; 1 when no patch is acceptable, or nothing could verify it."""
    solved = done.result.status is FixStatus.SOLVED
    return int(ExitCode.SOLVED if solved else ExitCode.NO_PATCH)
