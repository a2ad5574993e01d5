"""Candidates from a model: one request, several answers, each checked as soon as it is complete.

Checks run while the sampling pauses: a model that uses every free core and a test run beside it would
slow each other down far more than waiting costs.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from codeforge.engine.candidate import Origin
from codeforge.engine.evaluate import Evaluated, Evaluator
from codeforge.engine.events import (
    CandidateChecked,
    EventSink,
    ModelAnswered,
    ModelAsked,
    ModelText,
    ProposalRefused,
)
from codeforge.engine.prompting import Request
from codeforge.engine.stopwatch import Stopwatch
from codeforge.errors import CodeforgeError
from codeforge.models.protocol import ChatModel, Usage
from codeforge.models.sampling import Sample, SampleSpec, sample_many
from codeforge.patch.entities import EntitySource
from codeforge.patch.model import Patch
from codeforge.patch.parse import parse_answer


@dataclass(frozen=True, slots=True)
class Round:
    """One round's request.

    Attributes:
        number: 1-based.
        request: the prompt, compiled.
        specs: one per answer wanted.
        stop_early: whether the first accepted candidate ends the round.
    """

    number: int
    request: Request
    specs: tuple[SampleSpec, ...]
    stop_early: bool


@dataclass(slots=True)
class RoundTally:
    """What a round came to: candidates, how many answers led to each, the cost, and what ended it early:
    an error of the model after some answers does not undo these."""

    evaluated: list[Evaluated] = field(default_factory=list)
    votes: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failure: CodeforgeError | None = None


class Asker:
    """Asks a model and turns its answers into checked candidates."""

    def __init__(
        self,
        model: ChatModel,
        evaluator: Evaluator,
        entities: EntitySource,
        known_paths: Sequence[str],
        emit: EventSink,
        watch: Stopwatch,
    ) -> None:
        self._model = model
        self._evaluator = evaluator
        self._entities = entities
        self._known_paths = known_paths
        self._emit = emit
        self._watch = watch
        self._ids: dict[str, str] = {}

    def ask(self, round_: Round) -> RoundTally:
        """Run one round; it ends when every answer is judged, or one is accepted and `stop_early` is set."""
        tally = RoundTally()
        request = round_.request
        self._emit(ModelAsked(self._model.name, request.prompt_version, len(round_.specs), round_.number))
        answers = sample_many(
            self._model, request.chat, round_.specs, lambda i, text: self._emit(ModelText(i, text))
        )
        with closing(answers):
            while (sample := self._next(answers.__next__, tally)) is not None:
                tally.usage = tally.usage + sample.result.usage
                self._emit(_answered(sample))
                self._judge(sample, round_, tally)
                if round_.stop_early and any(e.candidate.reward.accepted for e in tally.evaluated):
                    break
        return tally

    def _next(self, draw: Callable[[], Sample], tally: RoundTally) -> Sample | None:
        with self._watch.model():
            try:
                return draw()
            except StopIteration:
                return None
            except CodeforgeError as error:
                tally.failure = error
                return None

    def _judge(self, sample: Sample, round_: Round, tally: RoundTally) -> None:
        """Check what one answer leads to, or count it as a vote for what led to the same bytes before."""
        patch = self._patch(sample, round_)
        if patch is None:
            return
        key = self._evaluator.key(patch)
        known = self._ids.get(key)
        if known is not None:
            tally.votes[known] = tally.votes.get(known, 1) + 1
        elif self._evaluator.is_new(key):
            with self._watch.checks():
                evaluated = self._evaluator.evaluate(
                    patch, self._origin(sample, round_), round_.request.parent
                )
            self._ids[key] = evaluated.candidate.id
            tally.evaluated.append(evaluated)
            self._emit(CandidateChecked(evaluated.candidate))

    def _patch(self, sample: Sample, round_: Round) -> Patch | None:
        name = round_.request.prompt_version
        answer = parse_answer(sample.result.text, entities=self._entities, known_paths=self._known_paths)
        for problem in answer.problems:
            self._emit(ProposalRefused(name, problem.reason))
        if not answer.edits:
            if not answer.problems:
                self._emit(ProposalRefused(name, "the answer holds no edit"))
            return None
        try:
            return self._evaluator.resolve(answer.edits)
        except CodeforgeError as error:
            self._emit(ProposalRefused(name, error.message))
            return None

    def _origin(self, sample: Sample, round_: Round) -> Origin:
        spec, name = round_.specs[sample.index], round_.request.prompt_version
        return Origin(
            proposer="model",
            operator=name.split("@")[0],
            model=self._model.version,
            prompt_version=name,
            seed=spec.seed,
            temperature=spec.temperature,
            round=round_.number,
        )


def _answered(sample: Sample) -> ModelAnswered:
    return ModelAnswered(sample.index, sample.result.text, sample.result.usage, sample.result.elapsed_s)
