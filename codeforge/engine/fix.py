"""`fix`: one generation of the loop — baseline, localize, propose, check, select."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from codeforge.engine.candidate import Candidate
from codeforge.engine.evaluate import Evaluated, Evaluator
from codeforge.engine.events import (
    BaselineChecked,
    CandidateChecked,
    ContextCompiled,
    EventSink,
    Located,
    MutantsScreened,
    Notice,
)
from codeforge.engine.evidence import Evidence, examine
from codeforge.engine.model_stage import Asker, Round
from codeforge.engine.mutation_stage import ScreenBudget, screen_mutants
from codeforge.engine.outcome import FixOptions, FixResult, FixStatus
from codeforge.engine.prompting import Situation, build_request, profile_of
from codeforge.engine.select import best_of
from codeforge.engine.stopwatch import Stopwatch
from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.entity_source import RepoEntitySource
from codeforge.localize.model import Location
from codeforge.localize.ranker import FailureSignal, Localizer, LocateQuery
from codeforge.models.protocol import ChatModel, Message, Usage
from codeforge.models.sampling import SampleSpec
from codeforge.reward.protected import protected_reason
from codeforge.sandbox.check import ran_no_tests, why_unusable
from codeforge.sandbox.model import Limits
from codeforge.sandbox.workspace import WorkspacePool
from codeforge.tasks.spec import TaskSpec

LOCATIONS = 10
SPREAD_TEMPERATURE = 0.9

OpenModel = Callable[[], ChatModel]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run stands on.

    Attributes:
        pool: scratch trees of the user's tree.
        open_model: opens the model when it is first needed; mutations may make it unnecessary.
        emit: gets every event.
        record_messages: gets what is sent to a model.
        cancel: set from outside to end running commands.
        workers: test runs side by side while no model runs.
    """

    pool: WorkspacePool
    open_model: OpenModel
    emit: EventSink
    record_messages: Callable[[tuple[Message, ...]], None]
    cancel: threading.Event
    workers: int


@dataclass(slots=True)
class _Tally:
    """What the run has come to so far."""

    evaluated: list[Evaluated] = field(default_factory=list)
    votes: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    model_calls: int = 0
    mutants: int = 0
    model: str = ""

    @property
    def accepted(self) -> bool:
        return any(item.candidate.reward.accepted for item in self.evaluated)


def run_fix(task: TaskSpec, options: FixOptions, around: Surroundings) -> FixResult:
    """Find a patch for `task`.

    Deterministic mutations come first where failing tests point at lines: they cost no model call. Then
    rounds of model answers; each later round sees why the earlier answers failed. The first accepted
    candidate ends the run when failing tests prove it.

    Raises:
        EnvironmentUnavailableError: the model, the sandbox or the test command can't be used.
    """
    watch = Stopwatch()
    limits = Limits(wall_s=options.timeout_s, memory_bytes=options.memory_bytes)
    localizer = Localizer(around.pool.template.repo.root, around.pool.template.files)
    with ThreadPoolExecutor(max_workers=1) as beside:
        # The first index of a repository takes seconds; the tests run meanwhile.
        prepared = beside.submit(localizer.prepare)
        evidence = _baseline(task, options, around, limits, watch)
        prepared.result()
    locations = _locate(task, evidence, localizer, around)
    evaluator = Evaluator(
        around.pool,
        task.test_command,
        limits,
        evidence,
        locations,
        scope=task.edit_scope,
        network=options.network,
        cancel=around.cancel,
    )
    tally = _Tally()
    if evidence is not None:
        _try_mutations(task, options, around, limits, evidence, locations, evaluator, tally, watch)
    if not tally.accepted:
        _ask_model(task, options, around, evidence, locations, evaluator, tally, watch)
    return _result(task, evidence, locations, tally, watch)


def _baseline(
    task: TaskSpec, options: FixOptions, around: Surroundings, limits: Limits, watch: Stopwatch
) -> Evidence | None:
    if task.test_command is None:
        return None
    with around.pool.acquire() as workspace, watch.checks():
        evidence = examine(
            workspace, task.test_command, limits, network=options.network, cancel=around.cancel
        )
    around.emit(BaselineChecked(evidence.check))
    unusable = why_unusable(evidence.check)
    if unusable and not ran_no_tests(evidence.check):
        # Every candidate would be rejected for what is not its fault.
        raise EnvironmentUnavailableError(
            unusable, kept="nothing was changed; no model was asked", hint="codeforge fix --test COMMAND"
        )
    if unusable:
        around.emit(Notice(unusable))
    return evidence


def _locate(
    task: TaskSpec, evidence: Evidence | None, localizer: Localizer, around: Surroundings
) -> tuple[Location, ...]:
    query = LocateQuery(_query_text(task, evidence), _failure_signals(evidence), 2 * LOCATIONS)
    # What judges a change is no place for it: tests come after all code, however well they match.
    answer = localizer.locate_all(query)
    for notice in answer.notices:
        around.emit(Notice(notice))
    locations = tuple(
        sorted(answer.locations, key=lambda item: protected_reason(item.entity.path) is not None)
    )
    locations = locations[:LOCATIONS]
    around.emit(Located(locations))
    return locations


def _query_text(task: TaskSpec, evidence: Evidence | None) -> str:
    """The issue, and what failing tests printed where no probe could look inside."""
    if evidence is None or evidence.failures:
        return task.issue
    details = [outcome.details or outcome.message for outcome in evidence.check.failing[:5]]
    if not details and not evidence.check.passed:
        details = [evidence.check.stdout_tail, evidence.check.stderr_tail]
    return "\n\n".join([task.issue, *filter(None, details)])


def _failure_signals(evidence: Evidence | None) -> tuple[FailureSignal, ...]:
    if evidence is None:
        return ()
    return tuple(
        FailureSignal(
            failure.test_id,
            tuple((frame.path, frame.line, frame.function) for frame in failure.frames if frame.in_repo),
            f"{failure.exc_type}: {failure.message}",
        )
        for failure in evidence.failures
    )


def _try_mutations(
    task: TaskSpec,
    options: FixOptions,
    around: Surroundings,
    limits: Limits,
    evidence: Evidence,
    locations: Sequence[Location],
    evaluator: Evaluator,
    tally: _Tally,
    watch: Stopwatch,
) -> None:
    if task.test_command is None:
        return
    budget = ScreenBudget(options.mutations, options.screen_s, around.workers)
    with watch.checks():
        screened = screen_mutants(
            around.pool,
            task.test_command,
            evidence,
            locations,
            budget,
            limits,
            scope=task.edit_scope,
            seed=options.seed,
            network=options.network,
            cancel=around.cancel,
        )
    tally.mutants = screened.tried
    if screened.tried:
        around.emit(MutantsScreened(screened.tried, len(screened.passing), screened.elapsed_s))
    for patch, origin in screened.passing:
        if not evaluator.is_new(evaluator.key(patch)):
            continue
        with watch.checks():
            evaluated = evaluator.evaluate(patch, origin)
        tally.evaluated.append(evaluated)
        around.emit(CandidateChecked(evaluated.candidate))
        if evaluated.candidate.reward.accepted:
            return


def _ask_model(
    task: TaskSpec,
    options: FixOptions,
    around: Surroundings,
    evidence: Evidence | None,
    locations: Sequence[Location],
    evaluator: Evaluator,
    tally: _Tally,
    watch: Stopwatch,
) -> None:
    with watch.model():
        model = around.open_model()
    tally.model = model.version
    profile = profile_of(model, options)
    template = around.pool.template
    entities = RepoEntitySource(template.tree, template.files)
    proven = evidence is not None and bool(evidence.check.failing or not evidence.check.passed)
    asker = Asker(model, evaluator, entities, template.files, around.emit, watch)
    asked = 0
    for number, size in enumerate(_split(profile.candidates, options.rounds if proven else 1), start=1):
        situation = Situation(task, evidence, tuple(locations), tuple(tally.evaluated), template.tree)
        request = build_request(situation, profile, model, round_=number)
        around.emit(ContextCompiled(request.tokens, profile.budget_tokens, request.included, request.cut))
        around.record_messages(request.chat.messages)
        specs = _specs(asked, size, options)
        asked += size
        done = asker.ask(Round(number, request, specs, stop_early=proven))
        failure = done.failure
        # Answers that were begun and abandoned were asked for all the same.
        tally.model_calls += size
        tally.usage = tally.usage + done.usage
        tally.votes.update(done.votes)
        tally.evaluated.extend(done.evaluated)
        if failure is not None and not tally.accepted:
            raise failure
        if failure is not None:
            around.emit(Notice(f"the model stopped answering: {failure.message}"))
        if tally.accepted and (proven or failure is not None):
            return


def _split(total: int, rounds: int) -> list[int]:
    """`total` answers over at most `rounds` rounds, the earlier ones larger."""
    rounds = max(1, min(rounds, total))
    share, rest = divmod(total, rounds)
    return [share + (place < rest) for place in range(rounds)]


def _specs(first: int, size: int, options: FixOptions) -> tuple[SampleSpec, ...]:
    """The first answer of all is greedy: it is the model's best guess. The others are spread."""
    spread = SPREAD_TEMPERATURE if options.temperature is None else options.temperature
    return tuple(
        SampleSpec(options.seed + place, spread if place else 0.0) for place in range(first, first + size)
    )


def _result(
    task: TaskSpec,
    evidence: Evidence | None,
    locations: Sequence[Location],
    tally: _Tally,
    watch: Stopwatch,
) -> FixResult:
    candidates: list[Candidate] = [item.candidate for item in tally.evaluated]
    first = best_of(candidates, tally.votes)
    if first is not None and first.reward.accepted:
        status, best, nearest = FixStatus.SOLVED, first, None
    elif first is not None and task.test_command is None:
        status, best, nearest = FixStatus.UNVERIFIED, first, None
    else:
        status, best, nearest = FixStatus.NO_PATCH, None, first
    verified = "nothing"
    if status is FixStatus.SOLVED and evidence is not None:
        verified = "regressions" if evidence.check.passed else "tests"
    return FixResult(
        task=task,
        status=status,
        baseline=evidence.check if evidence else None,
        locations=tuple(locations),
        candidates=tuple(candidates),
        best=best,
        nearest=nearest,
        verified_by=verified,
        model_calls=tally.model_calls,
        mutants_tried=tally.mutants,
        usage=tally.usage,
        timings=watch.read(),
        model=tally.model,
    )
