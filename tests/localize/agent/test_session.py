"""Runs of an agent as sessions in a real archive."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeforge.archive.agent_step import agent_steps
from codeforge.archive.model import SessionRecord, SessionStatus
from codeforge.archive.store import Archive
from codeforge.errors import EnvironmentUnavailableError
from codeforge.git import GitRepo
from codeforge.localize.agent.events import Ranked, StepTaken
from codeforge.localize.agent.session import AgentKind, AgentOrder, locate_with_agent
from codeforge.localize.ranker import LocateQuery
from codeforge.models.protocol import ChatModel, ChatRequest, ChatStream
from codeforge.paths import database_path
from tests.localize.agent.conftest import DISCOUNT, ISSUE, TOTAL, Events, Scripted, call, finish


def order(
    root: Path, kind: AgentKind, open_model: Callable[[], ChatModel], samples: int = 1, limit: int = 10
) -> AgentOrder:
    query = LocateQuery(ISSUE, limit=limit)
    return AgentOrder(GitRepo.discover(root), query, kind, samples, 7, None, "replay:test", open_model)


def recorded(session: str) -> SessionRecord:
    with Archive.open(database_path()) as archive:
        assert archive.verify(session).ok
        return archive.session(session)


def test_every_step_is_in_the_archive(shop: Path, events: Events) -> None:
    model = Scripted(call("search_entity", keywords=["Cart"]), "nonsense", finish(TOTAL))
    done = locate_with_agent(order(shop, AgentKind.TOOLS, lambda: model), events.append)
    record = recorded(done.id)
    assert record.summary.status == SessionStatus.SOLVED
    assert (record.summary.command, record.summary.repo) == ("locate", str(shop))
    assert record.summary.issue == ISSUE
    assert record.result["locations"][0] == TOTAL
    read = agent_steps(record)
    assert [item.step for item in read] == [event.step for event in events.of(StepTaken)]
    assert [item.step.command.tool for item in read] == ["search_entity", "", "finish"]
    kinds = [step.kind for step in record.steps if step.kind != "message"]
    assert kinds == ["start", "localize", "ask", *["agent_step"] * 3, "sample", "finish"]
    roles = [message.role for message in record.messages]
    assert roles == ["system", "user", "assistant", "assistant", "assistant"]
    assert record.versions["prompt"].startswith("tools@")


def test_the_chooser(shop: Path, events: Events) -> None:
    done = locate_with_agent(order(shop, AgentKind.CHOOSE, lambda: Scripted("[2]"), limit=1), events.append)
    (ranking,) = events.of(Ranked)
    assert len(ranking.answer.locations) > 1
    assert len(done.outcome.answer.locations) == 1
    (step,) = agent_steps(recorded(done.id))
    assert step.step.observation == ranking.answer.locations[1].entity.id


def test_samples_are_told_apart(shop: Path, events: Events) -> None:
    model = Scripted(finish(TOTAL), finish(DISCOUNT), finish(TOTAL))
    done = locate_with_agent(order(shop, AgentKind.TOOLS, lambda: model, samples=3), events.append)
    assert [item.sample for item in agent_steps(recorded(done.id))] == [0, 1, 2]
    assert [(r.seed, r.temperature) for r in model.requests] == [(7, 0.8), (8, 0.8), (9, 0.8)]
    assert done.outcome.answer.locations[0].entity.id == TOTAL


def test_no_answer_of_the_agent(shop: Path, events: Events) -> None:
    done = locate_with_agent(order(shop, AgentKind.CHOOSE, lambda: Scripted("?")), events.append)
    assert done.outcome.answer == events.of(Ranked)[0].answer
    record = recorded(done.id)
    assert record.summary.status == SessionStatus.NO_PATCH
    assert record.result["failed"] == 1


class Impatient(Scripted):
    """The user presses Ctrl-C while it answers for the second time."""

    def stream(self, request: ChatRequest) -> ChatStream:
        if self.requests:
            raise KeyboardInterrupt
        return super().stream(request)


def test_ctrl_c_leaves_the_rankers_answer(shop: Path, events: Events) -> None:
    model = Impatient(call("search_entity", keywords=["Cart"]), finish(TOTAL))
    done = locate_with_agent(order(shop, AgentKind.TOOLS, lambda: model), events.append)
    assert done.interrupted
    assert done.outcome.answer == events.of(Ranked)[0].answer
    record = recorded(done.id)
    assert record.summary.status == SessionStatus.INTERRUPTED
    assert [item.step.command.tool for item in agent_steps(record)] == ["search_entity"]
    assert record.result["locations"]


def test_a_model_that_is_not_there(shop: Path, events: Events) -> None:
    def missing() -> ChatModel:
        raise EnvironmentUnavailableError("There is no model.")

    with pytest.raises(EnvironmentUnavailableError) as caught:
        locate_with_agent(order(shop, AgentKind.TOOLS, missing), events.append)
    session = caught.value.kept.removeprefix("session ")
    assert recorded(session).summary.status == SessionStatus.ERROR
