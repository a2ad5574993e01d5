"""The tool agent over a real graph, with a scripted model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeforge.archive.agent_step import StepStatus
from codeforge.localize.agent.events import AgentNotice, SampleEnded, StepTaken
from codeforge.localize.agent.outcome import AgentOutcome
from codeforge.localize.agent.tool_agent import ToolAgent
from codeforge.localize.agent.tool_run import AgentLimits
from codeforge.localize.index import CodeIndex
from codeforge.localize.ranker import LocateAnswer
from codeforge.models.replay import Reply
from codeforge.models.sampling import SampleSpec
from tests.localize.agent.conftest import DISCOUNT, ISSUE, TOTAL, Events, Scripted, call, finish

Look = Callable[..., AgentOutcome]


@pytest.fixture
def look(shop: Path, ranked: LocateAnswer, open_index, events: Events) -> Look:
    """Runs an agent with a scripted model."""

    def run(model: Scripted, samples: int = 1, limits: AgentLimits | None = None) -> AgentOutcome:
        agent = ToolAgent(model, shop, open_index, limits)
        specs = [SampleSpec(seed, 0.8) for seed in range(samples)]
        return agent.locate(ISSUE, ranked, specs, events.append)

    return run


def ids(outcome: AgentOutcome) -> list[str]:
    return [location.entity.id for location in outcome.answer.locations]


def steps(events: Events) -> list[tuple[str, StepStatus]]:
    return [(event.step.command.tool, event.step.status) for event in events.of(StepTaken)]


def observations(events: Events) -> list[str]:
    return [event.step.observation for event in events.of(StepTaken)]


def test_search_traverse_read_finish(look: Look, events: Events, ranked) -> None:
    model = Scripted(
        call("search_entity", keywords=["apply_discount"]),
        call("traverse_graph", start_ids=[DISCOUNT], direction="backward", relations=["invokes"], hops=2),
        call("retrieve_entity", ids=[TOTAL]),
        finish(TOTAL, "src/shop/__init__.py"),
    )
    outcome = look(model)
    assert ids(outcome)[:2] == [TOTAL, "src/shop/__init__.py"]
    assert set(ids(outcome)) == {*(item.entity.id for item in ranked.locations), "src/shop/__init__.py"}
    assert outcome.answer.files[0].entity.id == "src/shop/cart.py"
    assert outcome.answer.files[1].entity.id == "src/shop/__init__.py"
    first = outcome.answer.locations[0].reasons[0]
    assert (first.signal, first.detail) == ("agent", f"named #1: why {TOTAL}")
    ok = StepStatus.OK
    assert steps(events) == [
        ("search_entity", ok),
        ("traverse_graph", ok),
        ("retrieve_entity", ok),
        ("finish", StepStatus.FINISHED),
    ]
    found, tree, source, _ = observations(events)
    assert DISCOUNT in found
    assert TOTAL in tree
    assert "return sum(apply_discount" in source
    assert outcome.usage.prompt_tokens > 0
    scores = [location.score for location in outcome.answer.locations]
    assert scores == sorted(scores, reverse=True)


def test_what_the_model_reads(look: Look, ranked) -> None:
    model = Scripted(call("search_entity", keywords=["Cart"]), finish(TOTAL))
    look(model)
    system, user = model.requests[0].messages
    assert (system.role, user.role) == ("system", "user")
    for tool in ("search_entity", "traverse_graph", "retrieve_entity", "finish"):
        assert f"## {tool}" in system.content
    assert ISSUE in user.content
    assert f"- {ranked.locations[0].entity.id}" in user.content
    roles = [message.role for message in model.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.requests[1].messages[:2] == model.requests[0].messages


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (call("find_bug", name="x"), "There is no tool `find_bug`. The tools: search_entity"),
        (call("search_entity", keyword="Cart"), "do you mean `keywords`?"),
        (call("search_entity", keywords=7), "Its arguments: keywords (list of strings, required)"),
        (call("traverse_graph", start_ids=["src/shop/cart.py:Cart.totl"]), "Nearest: `src/shop/cart.py:Cart"),
        (call("finish", locations=[]), "finish: `locations`"),
        (call("finish", locations=[{"id": TOTAL}]), "`reason` is missing"),
        (finish("nowhere/at_all.py:Zzz"), "Find ids with search_entity"),
        (finish("src/shop/"), "is a directory and was dropped"),
        ("The bug is in the cart.", "Answer with one JSON object"),
        ('{"thought": "x", "tool": ', "Answer with one JSON object"),
        ("", "Answer with one JSON object"),
        ('{"tool": "search_entity", "arguments": "{broken"}', "are not valid JSON"),
    ],
)
def test_mistakes_are_answered_with_how_to_do_it_right(look: Look, events: Events, reply, said) -> None:
    outcome = look(Scripted(reply, finish(DISCOUNT)))
    assert ids(outcome)[0] == DISCOUNT
    first = events.of(StepTaken)[0].step
    assert first.status == StepStatus.REFUSED
    assert said in first.observation


def test_a_cut_answer_is_told_to_be_shorter(look: Look, events: Events) -> None:
    look(Scripted(Reply('{"thought": "very', finish_reason="length"), finish(TOTAL)))
    assert "cut off" in observations(events)[0]


def test_fences_thoughts_and_words_around_a_call(look: Look, events: Events) -> None:
    thinking = f"<think>{finish(DISCOUNT)}</think>Well:\n```json\n{finish(TOTAL)}\n```"
    assert ids(look(Scripted(thinking)))[0] == TOTAL


def test_the_same_call_is_not_answered_twice(look: Look, events: Events) -> None:
    again = call("search_entity", keywords=["Cart"])
    look(Scripted(again, again, finish(TOTAL)))
    assert [status for _, status in steps(events)] == [
        StepStatus.OK,
        StepStatus.REFUSED,
        StepStatus.FINISHED,
    ]


def test_ids_are_resolved_or_dropped_and_it_is_said(look: Look, events: Events) -> None:
    answer = finish(
        "Cart.total", "src/shop/pricing.py:aply_discount", "src/shop/cart.py:12", "no/such.rs", TOTAL
    )
    outcome = look(Scripted(answer))
    said = observations(events)[-1]
    assert ids(outcome)[:2] == [TOTAL, DISCOUNT]
    assert "`Cart.total` was taken as" in said
    assert f"the nearest, `{DISCOUNT}`, was taken" in said
    assert "`no/such.rs`" in said and "It was dropped." in said
    assert events.of(SampleEnded)[0].ids[:2] == (TOTAL, DISCOUNT)


def test_the_last_step_must_finish(look: Look, events: Events, ranked) -> None:
    search = [call("search_entity", keywords=[word]) for word in ("Cart", "total", "add", "items")]
    model = Scripted(*search)
    outcome = look(model, limits=AgentLimits(steps=3))
    assert outcome.answer == ranked
    assert (outcome.failed, outcome.by_agent) == (1, False)
    assert len(model.requests) == 3
    assert "This is the last step" in model.requests[2].messages[-1].content
    assert "This is the last step" not in model.requests[1].messages[-1].content
    assert steps(events)[-1] == ("search_entity", StepStatus.REFUSED)
    assert "without an answer after 3 turns" in events.of(SampleEnded)[0].problem
    assert events.of(AgentNotice)


def test_budgets_hold(look: Look, events: Events) -> None:
    searches = [
        call("search_entity", keywords=[word], view="full") for word in ("Cart", "total", "add", "rate")
    ]
    model = Scripted(*searches, *[finish(TOTAL)] * 4, context_window=4000)
    outcome = look(model, limits=AgentLimits(steps=50, observation_tokens=200, answer_tokens=100))
    assert outcome.by_agent
    for request in model.requests:
        tokens = sum(model.count_tokens(message.content) for message in request.messages)
        assert tokens + request.max_tokens <= 4000
    assert all(model.count_tokens(text) <= 200 for text in observations(events)[:-1])


def test_no_room_means_finishing_at_once(look: Look, events: Events) -> None:
    model = Scripted(call("search_entity", keywords=["Cart"]), context_window=1500)
    outcome = look(model)
    assert not outcome.by_agent
    assert steps(events) == [("search_entity", StepStatus.REFUSED)]


def test_samples_vote_and_failures_are_counted(look: Look, events: Events) -> None:
    model = Scripted(
        finish(TOTAL, DISCOUNT),
        Reply("", error="overflow"),
        finish(DISCOUNT, "src/shop/cart.py:Cart.add"),
        finish(DISCOUNT),
    )
    outcome = look(model, samples=4)
    assert ids(outcome)[:3] == [DISCOUNT, TOTAL, "src/shop/cart.py:Cart.add"]
    assert (outcome.samples, outcome.failed) == (4, 1)
    reason = outcome.answer.locations[0].reasons[0]
    assert reason.detail.startswith("named #1, #1, #2 by 3 of 3 samples: ")
    assert [bool(event.problem) for event in events.of(SampleEnded)] == [False, True, False, False]
    assert [request.seed for request in model.requests] == [0, 1, 2, 3]


def test_a_model_that_fails_leaves_the_rankers_answer(look: Look, events: Events, ranked) -> None:
    outcome = look(Scripted(), samples=2)
    assert outcome.answer == ranked
    assert (outcome.samples, outcome.failed) == (2, 2)
    assert "no more replies" in events.of(SampleEnded)[0].problem


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(
                    [TOTAL, DISCOUNT, "Cart", "cart.py", "src/shop/cart.py:9", "src/shop/", "/", "x.py:f"]
                ),
                st.text(max_size=12),
            ),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_every_id_that_is_answered_exists(shop: Path, ranked, open_index, written) -> None:
    model = Scripted(*[finish(*sample) for sample in written])
    agent = ToolAgent(model, shop, open_index, AgentLimits(steps=1))
    specs = [SampleSpec(seed, 0.8) for seed in range(len(written))]
    outcome = agent.locate(ISSUE, ranked, specs, lambda event: None)
    with open_index() as index:
        assert isinstance(index, CodeIndex)
        for location in (*outcome.answer.locations, *outcome.answer.files):
            node = index.graph.find(location.entity.id)
            assert node is not None and index.graph.entity(node) == location.entity
    named = ids(outcome)
    assert len(named) == len(set(named))
    assert {item.entity.id for item in ranked.locations} <= set(named)
