"""Candidates from a model: one request, several answers, each checked while the others are still written."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from codeforge.engine.candidate import Origin
from codeforge.engine.evaluate import Evaluated, Evaluator
from codeforge.engine.events import EventSink, ModelAnswered, ModelAsked, ModelText, ProposalRefused
from codeforge.engine.prompting import Request
from codeforge.engine.stopwatch import Stopwatch
from codeforge.errors import CodeforgeError
from codeforge.models.protocol import ChatModel, Usage
from codeforge.models.sampling import Sample, SampleSpec, sample_many
from codeforge.patch.entities import EntitySource
from codeforge.patch.parse import parse_answer


class _EnoughError(Exception):
    """Ends the sampling: a candidate was accepted."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round's request.

    Attributes:
        number: 1-based.
        request: the prompt, compiled.
        specs: one per answer wanted.
        stop_early: whether the first accepted candidate ends the round.
        parent: the candidate whose failure is fed back, if any.
    """

    number: int
    request: Request
    specs: tuple[SampleSpec, ...]
    stop_early: bool
    parent: str | None = None


@dataclass(slots=True)
class RoundTally:
    """What the round has come to so far: candidates, how often each came up, and the cost."""

    evaluated: list[Evaluated]
    votes: dict[str, int]
    usage: Usage
    answers: int


def run_round(
    round_: Round,
    model: ChatModel,
    evaluator: Evaluator,
    entities: EntitySource,
    known_paths: Sequence[str],
    emit: EventSink,
    watch: Stopwatch,
) -> RoundTally:
    """Ask, parse, check; returns when all answers are judged, or one is accepted and `stop_early`."""
    tally = RoundTally([], {}, Usage(), 0)
    emit(ModelAsked(model.name, round_.request.prompt_version, len(round_.specs), round_.number))
    checks = _CheckLine(evaluator, tally, stop_early=round_.stop_early)
    with checks:
        try:
            with watch.model():
                for sample in _samples(model, round_, emit, checks.raise_if_enough):
                    tally.usage = tally.usage + sample.result.usage
                    tally.answers += 1
                    emit(
                        ModelAnswered(
                            sample.index, sample.result.text, sample.result.usage, sample.result.elapsed_s
                        )
                    )
                    _submit(sample, round_, model, evaluator, entities, known_paths, emit, checks)
                    checks.raise_if_enough()
        except _EnoughError:
            tally.answers = max(
                tally.answers, len(round_.specs)
            )  # abandoned answers were asked for all the same
        with watch.checks():
            checks.finish()
    return tally


def _samples(model: ChatModel, round_: Round, emit: EventSink, check: Callable[[], None]) -> Iterator[Sample]:
    def on_text(index: int, text: str) -> None:
        emit(ModelText(index, text))
        check()

    yield from sample_many(model, round_.request.chat, round_.specs, on_text)


def _submit(
    sample: Sample,
    round_: Round,
    model: ChatModel,
    evaluator: Evaluator,
    entities: EntitySource,
    known_paths: Sequence[str],
    emit: EventSink,
    checks: "_CheckLine",
) -> None:
    """Turn one answer into a candidate and hand it to the checks, or say why it leads to none."""
    name = round_.request.prompt_version
    answer = parse_answer(sample.result.text, entities=entities, known_paths=known_paths)
    for problem in answer.problems:
        emit(ProposalRefused(name, str(problem)))
    if not answer.edits:
        if not answer.problems:
            emit(ProposalRefused(name, "the answer holds no edit"))
        return
    try:
        patch = evaluator.resolve(answer.edits)
    except CodeforgeError as error:
        emit(ProposalRefused(name, error.message))
        return
    spec = round_.specs[sample.index]
    origin = Origin(
        "model", name.split("@")[0], model.version, name, spec.seed, spec.temperature, round_.number
    )
    key = evaluator.key(patch)
    if evaluator.is_new(key):
        checks.submit(key, lambda: evaluator.evaluate(patch, origin, round_.parent))
    else:
        checks.repeat(key)


class _CheckLine:
    """Checks one candidate at a time beside the model, so that neither starves the other of cores."""

    def __init__(self, evaluator: Evaluator, tally: RoundTally, *, stop_early: bool) -> None:
        self._evaluator = evaluator
        self._tally = tally
        self._stop_early = stop_early
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._waiting: list[tuple[str, Future[Evaluated]]] = []
        self._repeats: dict[str, int] = {}
        self._accepted = False

    def __enter__(self) -> "_CheckLine":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, key: str, work: Callable[[], Evaluated]) -> None:
        self._waiting.append((key, self._pool.submit(work)))

    def repeat(self, key: str) -> None:
        """Another answer led to the bytes of `key`."""
        self._repeats[key] = self._repeats.get(key, 1) + 1

    def raise_if_enough(self) -> None:
        """Collect what is done; raise when an accepted candidate ends the round."""
        self._collect(only_done=True)
        if self._accepted and self._stop_early:
            raise _EnoughError

    def finish(self) -> None:
        """Wait for the checks that still matter."""
        self._collect(only_done=False)

    def _collect(self, *, only_done: bool) -> None:
        while self._waiting and (not only_done or self._waiting[0][1].done()):
            key, future = self._waiting.pop(0)
            if self._accepted and self._stop_early and future.cancel():
                continue
            evaluated = future.result()
            self._tally.evaluated.append(evaluated)
            self._tally.votes[evaluated.candidate.id] = self._repeats.get(key, 1)
            self._accepted = self._accepted or evaluated.candidate.reward.accepted
