"""`ChoosingAgent`: a model that can't be trusted with tools chooses among what the ranker found."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from codeforge.archive.agent_step import AgentCommand, AgentStep, StepStatus, StepTokens
from codeforge.context.fit import fit_text
from codeforge.errors import CodeforgeError
from codeforge.localize.agent.callers import SchemaModel
from codeforge.localize.agent.events import (
    AgentEventSink,
    AgentNotice,
    ModelReplied,
    SampleEnded,
    SampleStarted,
    StepTaken,
)
from codeforge.localize.agent.fusing import fuse_choice
from codeforge.localize.agent.outcome import AgentOutcome
from codeforge.localize.agent.prompts import load_prompt
from codeforge.localize.agent.voting import vote
from codeforge.localize.dense.chat_reranker import read_order
from codeforge.localize.model import Location
from codeforge.localize.ranker import LocateAnswer
from codeforge.localize.tools.sources import Sources, printable
from codeforge.models.protocol import ChatModel, ChatRequest, Message, Usage
from codeforge.models.sampling import Sample, SampleSpec, sample_many

CHOOSE = "choose"
SHOWN = 10
MOST = 5
LOCAL_TRUST = 1.0
HOSTED_TRUST = 8.0
"""Logits for the first choice. Not fitted: a small model moves near ties only, and a large one moves nearly
anything that it is shown."""
_TOKENS_A_NUMBER = 6
_OVERHEAD_TOKENS = 192
_QUERY_SHARE = 0.3
_QUERY_HEAD_CHARS = 200
_MOST_CANDIDATE_TOKENS = 160
_MOST_LINE = 200
_SHOWN_REASONS = 2


class ChoosingAgent:
    """Shows the ranker's best entities folded, asks for the numbers of the best of them, and fuses that with
    the ranker's scores: the same locations, in a better order.

    Args:
        model: stays open; held to the numbers by a grammar or a JSON schema where its backend can.
        root: the repository, for documentation.
        shown: entities shown.
        most: the most numbers asked for.
        trust: logits for the first choice; None: by whether the model is a local one.
    """

    def __init__(
        self,
        model: ChatModel,
        root: Path,
        *,
        shown: int = SHOWN,
        most: int = MOST,
        trust: float | None = None,
    ) -> None:
        if shown < 1 or most < 1:
            raise ValueError("a choice needs something to choose from, and something to be chosen")
        self._model = model
        self._root = root
        self._shown = shown
        self._most = most
        self._trust = (LOCAL_TRUST if model.local else HOSTED_TRUST) if trust is None else trust
        self._prompt = load_prompt(CHOOSE)
        self.prompt_version = self._prompt.version

    def locate(
        self, issue: str, ranked: LocateAnswer, specs: Sequence[SampleSpec], emit: AgentEventSink
    ) -> AgentOutcome:
        """The answer; one sample for each of `specs`. A model that fails costs its samples, nothing else."""
        shown = ranked.locations[: self._shown]
        if len(shown) < 2:
            emit(AgentNotice("there are fewer than two candidates: nothing to choose"))
            return AgentOutcome(ranked, 0, 0)
        request = self._request(issue, shown)
        for sample in range(len(specs)):
            emit(SampleStarted(sample, len(specs), self._model.name, request.messages))
        chosen, usage = self._draw(request, shown, specs, emit)
        failed = len(specs) - len(chosen)
        if not chosen:
            return AgentOutcome(ranked, len(specs), failed, usage)
        votes = vote(chosen, [location.entity.id for location in shown])
        answer = fuse_choice(ranked, votes, len(chosen), self._trust)
        return AgentOutcome(answer, len(specs), failed, usage)

    def _draw(
        self,
        request: ChatRequest,
        shown: Sequence[Location],
        specs: Sequence[SampleSpec],
        emit: AgentEventSink,
    ) -> tuple[list[list[str]], Usage]:
        """The ids that each sample with an answer chose."""
        chosen: list[list[str]] = []
        usage = Usage()
        open_samples = set(range(len(specs)))
        try:
            with closing(sample_many(self._able(len(shown)), request, specs)) as samples:
                for sample in samples:
                    open_samples.discard(sample.index)
                    usage = usage + sample.result.usage
                    ids = self._read(sample, shown, emit)
                    if ids:
                        chosen.append(ids)
        except CodeforgeError as error:
            for sample_number in sorted(open_samples):
                emit(SampleEnded(sample_number, (), error.message))
        return chosen, usage

    def _read(self, sample: Sample, shown: Sequence[Location], emit: AgentEventSink) -> list[str]:
        result = sample.result
        emit(ModelReplied(sample.index, result.text))
        ids = [shown[place].entity.id for place in read_order(result.text, len(shown))][: self._most]
        step = AgentStep(
            AgentCommand(CHOOSE, result.text),
            "\n".join(ids) or f"The answer names none of the numbers from 1 to {len(shown)}.",
            StepStatus.FINISHED if ids else StepStatus.REFUSED,
            result.elapsed_s,
            StepTokens(result.usage.prompt_tokens, result.usage.completion_tokens),
        )
        emit(StepTaken(sample.index, 1, step))
        emit(SampleEnded(sample.index, tuple(ids), "" if ids else step.observation))
        return ids

    def _able(self, count: int) -> ChatModel:
        model = self._model
        if not model.supports_grammar and isinstance(model, SchemaModel):
            return model.with_schema("choice", choice_schema(count, self._most))
        return model

    def _request(self, issue: str, shown: Sequence[Location]) -> ChatRequest:
        most = min(self._most, len(shown))
        # Room for an answer in a schema's words too, and for a word before it from models without either.
        answer_tokens = max(64, _TOKENS_A_NUMBER * most)
        fixed = self._model.count_tokens(self._prompt.system.template + self._prompt.user.template)
        room = max(1, self._model.context_window - answer_tokens - fixed - _OVERHEAD_TOKENS)
        count = self._model.count_tokens
        fitted = fit_text(issue, int(room * _QUERY_SHARE), count)
        each = min(_MOST_CANDIDATE_TOKENS, int(room * (1 - 2 * _QUERY_SHARE)) // len(shown))
        sources = Sources(self._root)
        pieces = [
            f"[{number}] {fit_text(fold(location, sources), each, count)}"
            for number, location in enumerate(shown, 1)
        ]
        user = self._prompt.user.substitute(
            issue=fitted,
            issue_head=fitted[:_QUERY_HEAD_CHARS],
            candidates="\n".join(pieces),
            count=str(len(shown)),
            most=str(most),
        )
        return ChatRequest(
            messages=(Message("system", self._prompt.system.template), Message("user", user)),
            max_tokens=answer_tokens,
            grammar=choice_grammar(len(shown), most),
        )


def fold(location: Location, sources: Sources) -> str:
    """A location in a few lines: kind, id, signature, first line of documentation, why the ranker has it."""
    entity = location.entity
    lines = [f"{entity.kind} {printable(entity.id)} (lines {entity.start_line}-{entity.end_line})"]
    source = sources.of(entity.path)
    documentation = source.docstring(entity) if source is not None else ""
    lines += [f"  {printable(text)[:_MOST_LINE]}" for text in (entity.signature, documentation) if text]
    why = "; ".join(f"{reason.detail} ({reason.signal})" for reason in location.reasons[:_SHOWN_REASONS])
    if why:
        lines.append(f"  why: {printable(why)[:_MOST_LINE]}")
    return "\n".join(lines)


def choice_grammar(count: int, most: int) -> str:
    """A GBNF grammar of one to `most` numbers from 1 to `count`, like `[2] > [1]`.

    That none comes twice isn't said: a grammar of arrangements would have `count`! / (`count`-`most`)! rules.
    """
    numbers = " | ".join(f'"{number}"' for number in range(1, count + 1))
    more = "".join(' (" > " item' for _ in range(most - 1)) + ")?" * (most - 1)
    return f'root ::= item{more}\nitem ::= "[" number "]"\nnumber ::= {numbers}\n'


def choice_schema(count: int, most: int) -> dict[str, Any]:
    """The same as a JSON schema: `{"choice": [2, 1]}`."""
    number = {"type": "integer", "enum": list(range(1, count + 1))}
    choice = {"type": "array", "items": number, "minItems": 1, "maxItems": most}
    return {
        "type": "object",
        "properties": {"choice": choice},
        "required": ["choice"],
        "additionalProperties": False,
    }
