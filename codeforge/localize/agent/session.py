"""A recorded run of an agent in a user's repository. Front ends call `locate_with_agent` and show events."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from codeforge.archive.model import SessionStatus
from codeforge.archive.store import Archive
from codeforge.archive.writer import SessionWriter
from codeforge.errors import CodeforgeError
from codeforge.git import GitRepo
from codeforge.localize.agent.choosing import CHOOSE, SHOWN, ChoosingAgent
from codeforge.localize.agent.events import AgentEventSink, AgentNotice, Ranked
from codeforge.localize.agent.fusing import cut
from codeforge.localize.agent.outcome import AgentOutcome
from codeforge.localize.agent.prompts import load_prompt
from codeforge.localize.agent.recording import AgentRecorder
from codeforge.localize.agent.tool_agent import TOOLS, ToolAgent
from codeforge.localize.index import CodeIndex
from codeforge.localize.ranker import Localizer, LocateAnswer, LocateQuery
from codeforge.models.protocol import ChatModel
from codeforge.models.sampling import SampleSpec
from codeforge.paths import database_path
from codeforge.tasks.spec import TaskSpec

_TEMPERATURE = 0.8


class AgentKind(StrEnum):
    """Which agent looks: one that chooses among what the ranker found, or one with the graph tools."""

    CHOOSE = CHOOSE
    TOOLS = TOOLS


@dataclass(frozen=True, slots=True)
class AgentOrder:
    """What to locate, and with what.

    Attributes:
        repo: where.
        query: what; its limit is the answer's.
        kind: which agent.
        samples: how many samples vote; a single one is greedy.
        seed: of the first sample; the others follow.
        temperature: of several samples; None: 0.8.
        model_name: for the record.
        open_model: opens the model when it is needed.
    """

    repo: GitRepo
    query: LocateQuery
    kind: AgentKind
    samples: int
    seed: int
    temperature: float | None
    model_name: str
    open_model: Callable[[], ChatModel]


@dataclass(frozen=True, slots=True)
class LocatedSession:
    """The session's id and what it came to; `interrupted`: Ctrl-C ended the agent, the answer is the
    ranker's."""

    id: str
    outcome: AgentOutcome
    interrupted: bool


def locate_with_agent(order: AgentOrder, emit: AgentEventSink) -> LocatedSession:
    """Rank, let the agent look, and record both.

    Raises:
        CodeforgeError: the model, the index or the archive can't be used; `kept` names the session.
    """
    files = order.repo.list_files()
    with Archive.open(database_path()) as archive:
        task = TaskSpec(
            id=order.repo.root.name,
            repo=str(order.repo.root),
            base_commit=order.repo.head_commit(),
            issue=order.query.text.strip(),
            source="locate",
        )
        versions = {"agent": order.kind.value, "prompt": load_prompt(order.kind.value).version}
        session = archive.start_session("locate", task.to_json(), model=order.model_name, versions=versions)
        with session:
            recorder = AgentRecorder(session, emit)
            for notice in archive.notices:
                recorder.emit(AgentNotice(notice))
            ranked = _rank(order, files, recorder)
            try:
                outcome = _look(order, files, ranked, recorder)
            except KeyboardInterrupt:
                stopped = AgentOutcome(cut(ranked, order.query.limit), order.samples, order.samples)
                _finish(session, SessionStatus.INTERRUPTED, stopped)
                return LocatedSession(session.id, stopped, interrupted=True)
            except CodeforgeError as error:
                error.kept = "; ".join(filter(None, [error.kept, f"session {session.id}"]))
                raise
            found = SessionStatus.SOLVED if outcome.by_agent else SessionStatus.NO_PATCH
            _finish(session, found, outcome)
        return LocatedSession(session.id, outcome, interrupted=False)


def _rank(order: AgentOrder, files: Sequence[str], recorder: AgentRecorder) -> LocateAnswer:
    started = time.monotonic()
    query = order.query
    wider = LocateQuery(query.text, query.failures, max(query.limit, SHOWN), query.tests)
    ranked = Localizer(order.repo.root, files).locate_all(wider)
    recorder.emit(Ranked(ranked, time.monotonic() - started))
    return ranked


def _look(
    order: AgentOrder, files: Sequence[str], ranked: LocateAnswer, recorder: AgentRecorder
) -> AgentOutcome:
    root = order.repo.root
    model = order.open_model()
    try:
        agent = (
            ChoosingAgent(model, root)
            if order.kind is AgentKind.CHOOSE
            else ToolAgent(model, root, lambda: CodeIndex.open(root, files))
        )
        outcome = agent.locate(order.query.text, ranked, _specs(order), recorder.emit)
    finally:
        model.close()
    answer = cut(outcome.answer, order.query.limit)
    return AgentOutcome(answer, outcome.samples, outcome.failed, outcome.usage)


def _specs(order: AgentOrder) -> tuple[SampleSpec, ...]:
    warm = _TEMPERATURE if order.temperature is None else order.temperature
    temperature = warm if order.samples > 1 else 0.0
    return tuple(SampleSpec(order.seed + number, temperature) for number in range(order.samples))


def _finish(session: SessionWriter, status: SessionStatus, outcome: AgentOutcome) -> None:
    session.finish(
        status,
        {
            "locations": [location.entity.id for location in outcome.answer.locations],
            "files": [location.entity.path for location in outcome.answer.files],
            "samples": outcome.samples,
            "failed": outcome.failed,
            "usage": asdict(outcome.usage),
        },
    )
