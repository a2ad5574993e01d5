"""`ToolAgent`: the procedure of LocAgent (Chen et al. 2025, "LocAgent: Graph-Guided LLM Agents for Code
Localization", arXiv 2503.09089): keywords, search, traversal over several hops, reading, a ranked answer with
reasons; and a vote over several samples."""

from collections.abc import Sequence
from pathlib import Path

from codeforge.context.fit import fit_text
from codeforge.errors import CodeforgeError
from codeforge.localize.agent.callers import tool_caller
from codeforge.localize.agent.desk import GraphDesk
from codeforge.localize.agent.events import AgentEventSink, AgentNotice, SampleEnded, SampleStarted
from codeforge.localize.agent.fusing import merge_named
from codeforge.localize.agent.outcome import AgentOutcome, Named
from codeforge.localize.agent.prompts import load_prompt
from codeforge.localize.agent.tool_run import AgentLimits, Finished, ToolRun
from codeforge.localize.agent.voting import vote
from codeforge.localize.ranker import LocateAnswer
from codeforge.localize.tools.workspace import OpenIndex
from codeforge.models.protocol import ChatModel, Message, Usage
from codeforge.models.sampling import SampleSpec

TOOLS = "tools"
_GUESSES = 5
_ISSUE_SHARE = 0.25


class ToolAgent:
    """A model that looks with the graph tools.

    Args:
        model: stays open.
        root: the repository.
        open_index: opens its index.
        limits: of each sample; fitted to the model's context.
    """

    def __init__(
        self, model: ChatModel, root: Path, open_index: OpenIndex, limits: AgentLimits | None = None
    ) -> None:
        self._caller = tool_caller(model)
        self._root = root
        self._open_index = open_index
        self._limits = (limits or AgentLimits()).within(model.context_window)
        self._prompt = load_prompt(TOOLS)
        self.prompt_version = self._prompt.version

    def locate(
        self, issue: str, ranked: LocateAnswer, specs: Sequence[SampleSpec], emit: AgentEventSink
    ) -> AgentOutcome:
        """The answer; one sample for each of `specs`. A sample that fails is counted and said; when all do,
        the ranker's answer stands.
        """
        answers: list[tuple[Named, ...]] = []
        usage = Usage()
        count = self._caller.model.count_tokens
        with GraphDesk(self._root, self._open_index, self._limits.observation_tokens, count) as desk:
            messages = self._opening(issue, ranked, desk)
            for sample, spec in enumerate(specs):
                emit(SampleStarted(sample, len(specs), self._caller.model.name, messages))
                run = ToolRun(self._caller, desk, self._limits, sample, emit)
                finished = _finished(run, messages, spec)
                usage = usage + run.usage
                emit(SampleEnded(sample, tuple(item.entity.id for item in finished.named), finished.problem))
                if finished.named:
                    answers.append(finished.named)
        failed = len(specs) - len(answers)
        if not answers:
            emit(AgentNotice("no sample has an answer: the ranker's stands"))
            return AgentOutcome(ranked, len(specs), failed, usage)
        order = [location.entity.id for location in ranked.locations]
        votes = vote([[item.entity.id for item in answer] for answer in answers], order)
        return AgentOutcome(merge_named(ranked, answers, votes), len(specs), failed, usage)

    def _opening(self, issue: str, ranked: LocateAnswer, desk: GraphDesk) -> tuple[Message, Message]:
        calling = self._caller.opening(desk.specs())
        system = self._prompt.system.substitute(
            steps=str(self._limits.steps), calling=f"\n\n{calling}" if calling else ""
        )
        guesses = "\n".join(f"- {item.entity.id}" for item in ranked.locations[:_GUESSES]) or "- nothing"
        fitted = fit_text(
            issue, int(self._limits.total_tokens * _ISSUE_SHARE), self._caller.model.count_tokens
        )
        user = self._prompt.user.substitute(issue=fitted, guesses=guesses)
        return Message("system", system), Message("user", user)


def _finished(run: ToolRun, messages: tuple[Message, Message], spec: SampleSpec) -> Finished:
    system, user = messages
    try:
        return run.run(system.content, user.content, spec)
    except CodeforgeError as error:
        return Finished((), error.message)
