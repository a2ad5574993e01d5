"""Choosing among the ranker's entities: scripted models, and a real llama.cpp model held by the grammar."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.agent.choosing import ChoosingAgent, choice_grammar, choice_schema
from codeforge.localize.agent.events import SampleEnded, StepTaken
from codeforge.localize.agent.fusing import fuse_choice
from codeforge.localize.agent.voting import vote
from codeforge.localize.model import Entity, EntityKind, Location
from codeforge.localize.ranker import LocateAnswer
from codeforge.models.llama_cpp import LlamaCppModel, LlamaOptions
from codeforge.models.protocol import ChatRequest, Message, complete
from codeforge.models.replay import Reply
from codeforge.models.sampling import SampleSpec
from tests.localize.agent.conftest import DISCOUNT, ISSUE, TOTAL, Events, Scripted
from tests.models.tiny_gguf import write_tiny_model

GREEDY = (SampleSpec(0, 0.0),)
SURE = 50.0


def ids(answer: LocateAnswer) -> list[str]:
    return [location.entity.id for location in answer.locations]


def number_of(ranked: LocateAnswer, identity: str) -> int:
    return ids(ranked).index(identity) + 1


def test_the_choice_comes_first_and_nothing_is_lost(shop: Path, ranked, events: Events) -> None:
    model = Scripted(f"[{number_of(ranked, TOTAL)}] > [{number_of(ranked, DISCOUNT)}]")
    outcome = ChoosingAgent(model, shop, trust=SURE).locate(ISSUE, ranked, GREEDY, events.append)
    assert ids(outcome.answer)[:2] == [TOTAL, DISCOUNT]
    assert sorted(ids(outcome.answer)) == sorted(ids(ranked))
    assert {file.entity.id for file in outcome.answer.files} == {file.entity.id for file in ranked.files}
    assert outcome.answer.files[0].entity.id == "src/shop/cart.py"
    assert outcome.answer.locations[0].reasons[0].signal == "agent"
    assert outcome.answer.locations[0].score == 1.0
    assert (outcome.samples, outcome.failed, outcome.by_agent) == (1, 0, True)


def test_entities_are_shown_folded(shop: Path, ranked, events: Events) -> None:
    model = Scripted("[1]")
    ChoosingAgent(model, shop).locate(ISSUE, ranked, GREEDY, events.append)
    (request,) = model.requests
    shown = request.messages[1].content
    assert f"[{number_of(ranked, DISCOUNT)}] function {DISCOUNT} (lines 1-3)\n" in shown
    assert "  def apply_discount(price, rate=0.1)" in shown
    assert "  Lower a price by a rate." in shown
    assert "  why: " in shown
    assert "return price - price * rate" not in shown
    assert ISSUE in shown
    assert request.grammar is not None


def test_a_step_tells_what_was_chosen(shop: Path, ranked, events: Events) -> None:
    ChoosingAgent(Scripted("[2], [1] and [2]"), shop).locate(ISSUE, ranked, GREEDY, events.append)
    (taken,) = events.of(StepTaken)
    assert (taken.step.command.tool, taken.step.command.arguments) == ("choose", "[2], [1] and [2]")
    assert taken.step.observation.splitlines() == [ids(ranked)[1], ids(ranked)[0]]
    assert taken.step.status == "finished"
    assert taken.step.tokens.prompt > taken.step.tokens.completion > 0


@pytest.mark.parametrize("reply", ["I don't know.", "[99]", "", Reply("", error="unavailable")])
def test_a_useless_answer_leaves_the_rankers(shop: Path, ranked, events: Events, reply) -> None:
    outcome = ChoosingAgent(Scripted(reply), shop).locate(ISSUE, ranked, GREEDY, events.append)
    assert outcome.answer == ranked
    assert (outcome.failed, outcome.by_agent) == (1, False)
    (ended,) = events.of(SampleEnded)
    assert ended.ids == () and ended.problem


def test_samples_vote_and_failures_are_counted(shop: Path, ranked, events: Events) -> None:
    model = Scripted("[3]", "no idea", "[3] > [2]", Reply("", error="unavailable"))
    specs = [SampleSpec(seed, 0.8) for seed in range(5)]
    outcome = ChoosingAgent(model, shop, trust=SURE).locate(ISSUE, ranked, specs, events.append)
    assert ids(outcome.answer)[:2] == [ids(ranked)[2], ids(ranked)[1]]
    assert (outcome.samples, outcome.failed) == (5, 3)
    assert sorted(event.sample for event in events.of(SampleEnded)) == [0, 1, 2, 3, 4]
    assert "named #1, #1 by 2 of 2 samples" in outcome.answer.locations[0].reasons[0].detail


def test_one_candidate_is_not_asked_for(shop: Path, ranked, events: Events) -> None:
    single = LocateAnswer(ranked.locations[:1], ranked.files, ())
    outcome = ChoosingAgent(Scripted(), shop).locate(ISSUE, single, GREEDY, events.append)
    assert outcome.answer == single and outcome.samples == 0


def test_a_long_issue_fits_a_small_context(shop: Path, ranked, events: Events) -> None:
    model = Scripted("[1]", context_window=1500)
    ChoosingAgent(model, shop).locate("cart total " * 4000, ranked, GREEDY, events.append)
    (request,) = model.requests
    tokens = sum(model.count_tokens(message.content) for message in request.messages)
    assert tokens + request.max_tokens <= 1500
    assert f"[{len(ranked.locations)}] " in request.messages[1].content


def located(count: int, scores: list[float]) -> LocateAnswer:
    entities = [Entity(f"f.py:e{n}", EntityKind.FUNCTION, "f.py", f"e{n}", n, n) for n in range(count)]
    found = [Location(entity, score, ()) for entity, score in zip(entities, scores, strict=True)]
    return LocateAnswer(tuple(found), (), ())


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12).map(lambda s: sorted(s, reverse=True)),
    st.lists(st.lists(st.integers(0, 11), max_size=6), min_size=1, max_size=4),
    st.floats(0, 20),
)
def test_fusing_keeps_the_set_and_the_order_of_the_rest(scores, chosen, trust) -> None:
    answer = located(len(scores), scores)
    known = set(ids(answer))
    samples = [[f"f.py:e{n}" for n in sample if f"f.py:e{n}" in known] for sample in chosen]
    fused = fuse_choice(answer, vote(samples, ids(answer)), len(samples), trust)
    assert sorted(ids(fused)) == sorted(known)
    named = {identity for sample in samples for identity in sample}
    rest = [identity for identity in ids(answer) if identity not in named]
    assert [identity for identity in ids(fused) if identity in set(rest)] == rest
    values = [location.score for location in fused.locations]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCppModel]:
    path = write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf", context_length=4096)
    opened = LlamaCppModel(path, name="tiny", version="v1", options=LlamaOptions(n_ctx=4096))
    yield opened
    opened.close()


@pytest.mark.parametrize(("count", "most"), [(1, 1), (2, 1), (10, 5), (12, 3)])
def test_noise_obeys_the_grammar(tiny: LlamaCppModel, count: int, most: int) -> None:
    for seed in range(6):
        request = ChatRequest(
            (Message("user", "x"),), 64, 1.5, seed=seed, grammar=choice_grammar(count, most)
        )
        answer = complete(tiny, request)
        assert re.fullmatch(r"\[\d+\]( > \[\d+\])*", answer.text), answer
        numbers = [int(found) for found in re.findall(r"\d+", answer.text)]
        assert 1 <= len(numbers) <= most
        assert all(1 <= number <= count for number in numbers)


def test_even_a_model_of_noise_chooses(tiny: LlamaCppModel, shop: Path, ranked, events: Events) -> None:
    agent = ChoosingAgent(tiny, shop, shown=4)
    specs = [SampleSpec(seed, 1.0) for seed in range(3)]
    outcome = agent.locate("cart", ranked, specs, events.append)
    assert (outcome.samples, outcome.failed) == (3, 0), events.of(SampleEnded)
    assert sorted(ids(outcome.answer)) == sorted(ids(ranked))


def test_the_schema_says_the_same() -> None:
    from jsonschema import Draft202012Validator

    check = Draft202012Validator(choice_schema(4, 2))
    assert check.is_valid(json.loads('{"choice": [4, 1]}'))
    for wrong in ('{"choice": [5]}', '{"choice": []}', '{"choice": [1, 2, 3]}', "{}", "[1]"):
        assert not check.is_valid(json.loads(wrong))
