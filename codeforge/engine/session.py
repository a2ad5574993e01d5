"""A recorded `fix` in a user's repository: everything between parsed options and a shown result.

Front ends (the one-shot command, the demo, the terminal app) call `fix_in_repository` and render events.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from codeforge.archive.model import SessionStatus
from codeforge.archive.store import Archive
from codeforge.archive.writer import SessionWriter
from codeforge.engine.events import EventSink, Notice, TestCommandChosen
from codeforge.engine.fix import Surroundings, run_fix
from codeforge.engine.outcome import FixOptions, FixResult, FixStatus
from codeforge.engine.recording import Recorder, candidate_record
from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, UsageError
from codeforge.git import GitRepo
from codeforge.models.protocol import ChatModel
from codeforge.paths import database_path
from codeforge.sandbox.detect import detect_test_command
from codeforge.sandbox.runner import isolation_warning
from codeforge.sandbox.workspace import WorkspacePool
from codeforge.tasks.spec import TaskSpec

_STATUS = {
    FixStatus.SOLVED: SessionStatus.SOLVED,
    FixStatus.UNVERIFIED: SessionStatus.NO_PATCH,
    FixStatus.NO_PATCH: SessionStatus.NO_PATCH,
}


@dataclass(frozen=True, slots=True)
class FixOrder:
    """What to fix, where, and with what.

    Attributes:
        where: a folder in the repository.
        issue: the issue text.
        test_command: what judges; `None` looks for one.
        scope: globs of what may be edited.
        options: how to run.
        model_name: for the record.
        open_model: opens the model when it is needed.
        require_isolation: refuse to run commands that can't be caged.
        workers: test runs side by side.
        command: for the record ("fix", "demo").
    """

    where: Path
    issue: str
    test_command: str | None
    scope: tuple[str, ...]
    options: FixOptions
    model_name: str
    open_model: Callable[[], ChatModel]
    require_isolation: bool
    workers: int
    command: str = "fix"


@dataclass(frozen=True, slots=True)
class FixedSession:
    """The session's id, the repository, and what the run came to."""

    id: str
    repo: GitRepo
    result: FixResult


def fix_in_repository(order: FixOrder, emit: EventSink, cancel: threading.Event) -> FixedSession:
    """Run `fix` in the repository at `order.where` and record it. The user's tree is only read.

    Raises:
        UsageError: no issue text, or no repository there.
        EnvironmentUnavailableError: git, the model, the sandbox or the archive can't be used.
    """
    if not order.issue.strip():
        raise UsageError(
            "There is no issue text.", kept="nothing was run", hint='codeforge fix "what is wrong"'
        )
    repo = GitRepo.discover(order.where)
    files = repo.list_files()
    chosen = _test_command(repo, order.test_command, files)
    with Archive.open(database_path()) as archive:
        task = _task(repo, order, chosen.command)
        session = archive.start_session(
            order.command, task.to_json(), model=order.model_name, versions=asdict(order.options)
        )
        with session:
            recorder = Recorder(session, emit)
            for notice in (*archive.notices, *_isolation(order, chosen.command)):
                recorder.emit(Notice(notice))
            recorder.emit(chosen)
            try:
                result = _run(task, order, repo, recorder, cancel)
            except CodeforgeError as error:
                error.kept = "; ".join(filter(None, [error.kept, f"session {session.id}"]))
                raise
            _finish(session, result)
        return FixedSession(session.id, repo, result)


def _run(
    task: TaskSpec, order: FixOrder, repo: GitRepo, recorder: Recorder, cancel: threading.Event
) -> FixResult:
    opened: list[ChatModel] = []

    def open_once() -> ChatModel:
        if not opened:
            opened.append(order.open_model())
        return opened[0]

    try:
        with WorkspacePool.open(repo) as pool:
            for reason in pool.template.left_out:
                recorder.emit(Notice(f"left out of the scratch tree: {reason}"))
            around = Surroundings(
                pool, open_once, recorder.emit, recorder.messages, cancel, max(1, order.workers)
            )
            return run_fix(task, order.options, around)
    finally:
        for model in opened:
            model.close()


def _test_command(repo: GitRepo, given: str | None, files: Sequence[str]) -> TestCommandChosen:
    if given is not None:
        return TestCommandChosen(given, "given")
    found = detect_test_command(repo.root, files)
    if found is None:
        return TestCommandChosen(None, "no test command was found: nothing will be verified")
    return TestCommandChosen(found.command, found.why)


def _isolation(order: FixOrder, command: str | None) -> tuple[str, ...]:
    warning = isolation_warning() if command is not None else ""
    if warning and order.require_isolation:
        raise EnvironmentUnavailableError(
            f"Commands can't be isolated here, and the settings require it. {warning}",
            kept="nothing was run",
            hint="install bubblewrap, or: codeforge config set sandbox.require false",
        )
    return (warning,) if warning else ()


def _task(repo: GitRepo, order: FixOrder, command: str | None) -> TaskSpec:
    return TaskSpec(
        id=repo.root.name,
        repo=str(repo.root),
        base_commit=repo.head_commit(),
        issue=order.issue.strip(),
        test_command=command,
        edit_scope=order.scope,
        source=order.command,
    )


def _finish(session: SessionWriter, result: FixResult) -> None:
    if result.best is not None:
        session.candidate(candidate_record(result.best, "selected"))
    session.finish(
        _STATUS[result.status],
        {
            "status": result.status,
            "best": result.best.id if result.best else None,
            "verified_by": result.verified_by,
            "model_calls": result.model_calls,
            "mutants_tried": result.mutants_tried,
            "usage": asdict(result.usage),
            "timings": asdict(result.timings) | {"overhead_s": result.timings.overhead_s},
        },
    )
