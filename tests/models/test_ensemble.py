"""Several models in turn."""

import threading

import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.ensemble import EnsembleModel
from codeforge.models.protocol import ChatModel, ChatRequest, Message, complete
from codeforge.models.replay import ReplayModel, Reply

ASK = ChatRequest((Message("user", "?"),))


class Member(ReplayModel):
    """Answers with its name and knows whether it was closed."""

    def __init__(self, name: str, answers: int = 50, **facts: object) -> None:
        super().__init__(name, [Reply(name)] * answers)
        self.closed = 0
        for key, value in facts.items():
            setattr(self, key, value)

    def close(self) -> None:
        self.closed += 1


def test_turns_by_weight() -> None:
    model = EnsembleModel("e", [(Member("a"), 1), (Member("b"), 2)])
    assert isinstance(model, ChatModel)
    results = [complete(model, ASK) for _ in range(6)]
    assert [item.text for item in results] == ["a", "b", "b", "a", "b", "b"]
    assert [item.model for item in results[:2]] == ["a", "b"]


def test_facts_are_those_that_hold_for_all() -> None:
    small = Member("a", context_window=1000, supports_grammar=True, local=True)
    large = Member("b", context_window=9000, supports_grammar=False, local=False)
    model = EnsembleModel("e", [(small, 1), (large, 1)])
    assert (model.context_window, model.supports_grammar, model.local) == (1000, False, True)
    assert model.version == f"{small.version},{large.version}"
    assert model.count_tokens("x" * 9) == 3
    model.close()
    assert (small.closed, large.closed) == (1, 1)


def test_a_failing_member_does_not_stop_the_others() -> None:
    model = EnsembleModel("e", [(Member("a", answers=1), 1), (Member("b"), 1)])
    assert [complete(model, ASK).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(EnvironmentUnavailableError):
        complete(model, ASK)
    assert complete(model, ASK).text == "b"


def test_threads_share_the_turns_fairly() -> None:
    model = EnsembleModel("e", [(Member("a"), 1), (Member("b"), 1)])
    texts: list[str] = []
    workers = [
        threading.Thread(target=lambda: texts.extend(complete(model, ASK).text for _ in range(10)))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(texts) == ["a"] * 20 + ["b"] * 20
