"""One sample of the tool agent: a bounded conversation that ends with a call of `finish`."""

import time
from dataclasses import dataclass, field

from codeforge.archive.agent_step import AgentCommand, AgentStep, StepStatus, StepTokens
from codeforge.localize.agent.callers import ToolCaller
from codeforge.localize.agent.conversation import Entry, Observed, Said, ToolCall, Turn
from codeforge.localize.agent.desk import GraphDesk
from codeforge.localize.agent.events import AgentEventSink, ModelReplied, StepTaken
from codeforge.localize.agent.finish import FINISH, finish_spec, read_finish
from codeforge.localize.agent.outcome import Named
from codeforge.localize.tools.agent.arguments import BadArgumentsError
from codeforge.models.protocol import Usage
from codeforge.models.sampling import SampleSpec

_MOST_CALLS = 5
"""Calls of one answer that are carried out."""
_TOKENS_AN_ENTRY = 8
"""What a chat template puts around a message."""
_LAST = "This is the last step: call `finish` now, with the best answer you have."


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Bounds of one sample.

    Attributes:
        steps: the most answers of the model; the last one must finish.
        observation_tokens: the most tokens of one observation.
        total_tokens: the most tokens of the conversation, prompt and answers and all.
        answer_tokens: the most tokens of one answer.
    """

    steps: int = 12
    observation_tokens: int = 2_000
    total_tokens: int = 40_000
    answer_tokens: int = 1_024

    def within(self, context_window: int) -> "AgentLimits":
        """These limits for a model with this context: a small one gets short answers."""
        total = min(self.total_tokens, context_window)
        return AgentLimits(
            self.steps, min(self.observation_tokens, total // 6), total, min(self.answer_tokens, total // 8)
        )


@dataclass(frozen=True, slots=True)
class Finished:
    """How a sample ended: what it names (nothing: it failed, and `problem` says why), what it cost."""

    named: tuple[Named, ...]
    problem: str = ""


@dataclass(slots=True)
class _Answer:
    """What a call comes to."""

    text: str
    status: StepStatus
    named: tuple[Named, ...] = ()


@dataclass(slots=True)
class ToolRun:
    """One sample.

    Attributes:
        caller: asks the model.
        desk: carries out its calls.
        limits: already fitted to the model.
        sample: its number.
        emit: gets what happens.
        usage: what it has cost so far, failed or not.
    """

    caller: ToolCaller
    desk: GraphDesk
    limits: AgentLimits
    sample: int
    emit: AgentEventSink
    usage: Usage = field(default_factory=Usage)
    _asked: set[tuple[str, str]] = field(default_factory=set)
    _steps: int = 0
    _used: int = 0

    def run(self, system: str, user: str, spec: SampleSpec) -> Finished:
        """Talk to the end.

        Raises:
            CodeforgeError: the model or the index can't answer; the steps before are emitted.
        """
        conversation: list[Entry] = [Said("system", system), Said("user", user)]
        tools = self.desk.specs()
        self._used = self.caller.hidden_tokens(tools) + sum(
            self._tokens(entry.text) for entry in conversation if isinstance(entry, Said)
        )
        for number in range(1, self.limits.steps + 1):
            last = number == self.limits.steps or not self._room_for_two()
            offered = (finish_spec(),) if last else tools
            turn = self.caller.ask(conversation, offered, spec, self.limits.answer_tokens)
            self.usage = self.usage + turn.usage
            self._note(turn)
            conversation.append(turn)
            for observed, answer in self._carry_out(turn, last):
                if answer.named:
                    return Finished(answer.named)
                conversation.append(observed)
            if last:
                return Finished((), f"it ended without an answer after {number} turns")
            self._ask_to_finish(conversation, number)
        raise AssertionError("the last step ends the run")

    def _note(self, turn: Turn) -> None:
        self._used += self._tokens(turn.written)
        self.emit(ModelReplied(self.sample, turn.written))

    def _ask_to_finish(self, conversation: list[Entry], number: int) -> None:
        """Before the last step, say that it is: with the last observation, for some chat templates refuse
        two messages of a user in a row."""
        if number + 1 < self.limits.steps and self._room_for_two():
            return
        entry = conversation[-1]
        if isinstance(entry, Observed):
            conversation[-1] = Observed(entry.call, f"{entry.text}\n\n{_LAST}")
        elif isinstance(entry, Said):
            conversation[-1] = Said(entry.role, f"{entry.text}\n\n{_LAST}")

    def _carry_out(self, turn: Turn, last: bool) -> list[tuple[Entry, _Answer]]:
        """Each call with its answer; the calls behind a `finish` that counts are not carried out."""
        if not turn.calls:
            answer = _Answer(turn.problem, StepStatus.REFUSED)
            self._step(ToolCall("", "", turn.text), answer, turn, 0.0, True)
            self._used += self._tokens(answer.text)
            return [(Said("user", answer.text), answer)]
        done: list[tuple[Entry, _Answer]] = []
        for place, call in enumerate(turn.calls):
            started = time.monotonic()
            if place >= _MOST_CALLS:
                text = f"At most {_MOST_CALLS} calls of one answer are carried out; this one was not."
                answer = _Answer(text, StepStatus.REFUSED)
            elif place and call.name != FINISH and not self._room_for_two():
                # The last turn comes next, and one observation more could leave no room for it.
                answer = _Answer(f"There is no room left for this answer. {_LAST}", StepStatus.REFUSED)
            else:
                answer = self._answer(call, last)
            self._step(call, answer, turn, time.monotonic() - started, place == 0)
            self._used += self._tokens(answer.text)
            done.append((Observed(call, answer.text), answer))
            if answer.named:
                break
        return done

    def _answer(self, call: ToolCall, last: bool) -> _Answer:
        if call.name == FINISH:
            return self._finish(call)
        if last:
            return _Answer(_LAST, StepStatus.REFUSED)
        if call.name not in {spec.name for spec in self.desk.specs()}:
            names = ", ".join(spec.name for spec in self.desk.specs())
            return _Answer(f"There is no tool `{call.name}`. The tools: {names}.", StepStatus.REFUSED)
        key = (call.name, call.arguments)
        if key in self._asked:
            text = (
                "You made this very call before, and its answer stands above. Ask something else, or finish."
            )
            return _Answer(text, StepStatus.REFUSED)
        result = self.desk.call(call.name, call.arguments)
        if not result.is_error:
            self._asked.add(key)
        return _Answer(result.text, StepStatus.REFUSED if result.is_error else StepStatus.OK)

    def _finish(self, call: ToolCall) -> _Answer:
        try:
            places = self.desk.resolve(read_finish(call.arguments))
        except BadArgumentsError as error:
            return _Answer(str(error), StepStatus.REFUSED)
        notes = list(places.notes)
        if places.named:
            names = [f"{rank}. {item.entity.id}: {item.reason}" for rank, item in enumerate(places.named, 1)]
            return _Answer("\n".join([*names, *notes]), StepStatus.FINISHED, places.named)
        how = "No place of this answer exists. Find ids with search_entity, then call `finish` with them."
        return _Answer("\n".join([*notes, how]), StepStatus.REFUSED)

    def _step(self, call: ToolCall, answer: _Answer, turn: Turn, elapsed_s: float, first: bool) -> None:
        self._steps += 1
        tokens = StepTokens(turn.usage.prompt_tokens, turn.usage.completion_tokens) if first else StepTokens()
        step = AgentStep(
            AgentCommand(call.name, call.arguments),
            answer.text,
            answer.status,
            elapsed_s + (turn.elapsed_s if first else 0.0),
            tokens,
        )
        self.emit(StepTaken(self.sample, self._steps, step))

    def _room_for_two(self) -> bool:
        """Whether a further call with its observation leaves room for a last answer."""
        needed = self.limits.observation_tokens + 2 * self.limits.answer_tokens + 4 * _TOKENS_AN_ENTRY
        return self._used + needed <= self.limits.total_tokens

    def _tokens(self, text: str) -> int:
        return self.caller.model.count_tokens(text) + _TOKENS_AN_ENTRY
