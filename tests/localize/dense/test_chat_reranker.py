"""A chat model as reranker, with scripted replies behind the model protocol."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.chat_reranker import ChatReranker, order_grammar, read_order
from codeforge.localize.dense.passage import Passage
from codeforge.models.protocol import ChatRequest, ChatStream
from codeforge.models.replay import ReplayModel, ReplaySettings, Reply


class Watched(ReplayModel):
    """Keeps the requests."""

    def __init__(self, *replies: str, context_window: int = 1 << 20) -> None:
        settings = ReplaySettings(context_window=context_window)
        super().__init__("replay:test", [Reply(reply) for reply in replies], settings)
        self.requests: list[ChatRequest] = []

    def stream(self, request: ChatRequest) -> ChatStream:
        self.requests.append(request)
        return super().stream(request)


class Finding(Watched):
    """Puts one function first wherever it is shown."""

    def stream(self, request: ChatRequest) -> ChatStream:
        self.requests.append(request)
        found = re.search(r"\[(\d+)\] file\.py:f7\n", request.messages[1].content)
        return ReplayModel("replay:one", [Reply(f"[{found[1]}]" if found else "")]).stream(request)


def passages(count: int) -> list[Passage]:
    return [Passage(f"file.py:f{number}", f"def f{number}(): pass") for number in range(count)]


def order(scores: tuple[float, ...]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: -scores[place])


def test_the_model_says_the_order() -> None:
    model = Watched("[3] > [1] > [2]")
    answer = ChatReranker(model).rerank("It fails. Costs $5.", passages(3))
    assert order(answer.scores) == [2, 0, 1]
    assert answer.note == ""
    (request,) = model.requests
    system, user = request.messages
    assert (system.role, user.role) == ("system", "user")
    assert "[2] file.py:f1\ndef f1(): pass" in user.content
    assert "Costs $5." in user.content
    assert "all 3 pieces" in user.content


def test_what_it_leaves_out_keeps_its_order_behind() -> None:
    answer = ChatReranker(Watched("[3], [9], [3]")).rerank("x", passages(4))
    assert order(answer.scores) == [2, 0, 1, 3]
    assert "left out 3 of the 4" in answer.note


def test_a_useless_answer_changes_nothing_and_is_told() -> None:
    answer = ChatReranker(Watched("I can't help with that.")).rerank("x", passages(3))
    assert order(answer.scores) == [0, 1, 2]
    assert "3 of the 3" in answer.note


def test_a_good_candidate_rises_from_the_last_window_to_the_first() -> None:
    model = Finding()
    answer = ChatReranker(model, window=4).rerank("x", passages(8))
    assert order(answer.scores) == [7, 0, 1, 2, 3, 4, 5, 6]
    assert len(model.requests) == 3
    assert sorted(answer.scores) == [float(number) for number in range(1, 9)]


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_order_is_not_asked(count: int) -> None:
    model = Watched()
    assert len(ChatReranker(model).rerank("x", passages(count)).scores) == count
    assert model.requests == []


def test_long_texts_are_made_to_fit() -> None:
    model = Watched("[1] > [2]", context_window=1024)
    long = [Passage("a.py:f", "word " * 5_000), Passage("b.py:g", "other " * 5_000)]
    ChatReranker(model).rerank("issue " * 10_000, long)
    (request,) = model.requests
    used = sum(model.count_tokens(message.content) for message in request.messages)
    assert used + request.max_tokens <= 1024
    assert "b.py:g" in request.messages[1].content


def test_a_model_that_fails_says_so() -> None:
    with pytest.raises(EnvironmentUnavailableError):
        ChatReranker(Watched()).rerank("x", passages(2))


def test_a_window_holds_two() -> None:
    with pytest.raises(ValueError):
        ChatReranker(Watched(), window=1)


@given(st.text(max_size=60), st.integers(1, 12))
def test_whatever_is_answered_is_read_as_some_order(answer: str, count: int) -> None:
    found = read_order(answer, count)
    assert len(set(found)) == len(found)
    assert all(0 <= number < count for number in found)


@given(st.integers(1, 12).flatmap(lambda count: st.permutations(range(count))))
def test_an_order_is_read_back(permutation: list[int]) -> None:
    answer = " > ".join(f"[{number + 1}]" for number in permutation)
    assert read_order(answer, len(permutation)) == permutation
    assert read_order(f"<think>[1] or [2]?</think>\n{answer}", len(permutation)) == permutation


def test_the_grammar_fits_the_answers() -> None:
    grammar = order_grammar(3)
    assert grammar.splitlines()[0].count("item") == 3
    assert '"3"' in grammar and '"4"' not in grammar
    llama_cpp = pytest.importorskip("llama_cpp")
    assert llama_cpp.LlamaGrammar.from_string(grammar, verbose=False) is not None
