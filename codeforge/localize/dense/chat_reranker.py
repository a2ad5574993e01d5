"""A chat model as reranker: it is shown numbered candidates and answers with their order.

Listwise permutation generation with a sliding window (Sun et al. 2023, "Is ChatGPT Good at Search?",
arXiv:2304.09542): windows run from the end of the list to its head and overlap by half, so that a
good candidate can rise from the last window to the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

from codeforge.context.fit import fit_text
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.rerank import Reranked
from codeforge.models.protocol import ChatModel, ChatRequest, Message, complete

WINDOW = 10
"""Candidates shown together; a smaller model loses its way in more."""
_QUERY_SHARE = 0.25
"""Of the prompt's tokens; the candidates share most of the rest."""
_MOST_CANDIDATE_TOKENS = 300
_QUERY_HEAD_CHARS = 200
_TOKENS_A_NUMBER = 6
_OVERHEAD_TOKENS = 256
"""The prompt's own words, and what a chat template puts around them."""
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_SYSTEM, _USER = "<!-- system -->", "<!-- user -->"


class ChatReranker:
    """A `Reranker` over a chat model; its scores are places: n for the best of n candidates, 1 for the last.

    Args:
        model: stays open.
        window: candidates shown together, at least 2.

    Raises:
        ValueError: the window is too small.
    """

    def __init__(self, model: ChatModel, *, window: int = WINDOW) -> None:
        if window < 2:
            raise ValueError("a window holds at least two candidates")
        self._model = model
        self._window = window
        self.name = f"chat model {model.name}"
        text = (Path(__file__).parent / "rerank.md").read_text(encoding="utf-8")
        system, user = text.removeprefix(_SYSTEM).split(_USER)
        self._system, self._user = system.strip(), Template(user.strip())

    def rerank(self, query: str, candidates: Sequence[Passage]) -> Reranked:
        """See `Reranker.rerank`. Candidates that the model leaves out keep their order, behind the others.

        Raises:
            EnvironmentUnavailableError: the model can't answer.
            ContextOverflowError: not even a pair of candidates fits its context.
        """
        order = list(range(len(candidates)))
        unnamed = asked = 0
        for start in self._starts(len(order)):
            shown = order[start : start + self._window]
            answer = self._ask(query, [candidates[place] for place in shown])
            named = read_order(answer, len(shown))
            unnamed += len(shown) - len(named)
            asked += len(shown)
            rest = [number for number in range(len(shown)) if number not in named]
            order[start : start + self._window] = [shown[number] for number in (*named, *rest)]
        scores = [0.0] * len(order)
        for rank, place in enumerate(order):
            scores[place] = float(len(order) - rank)
        note = f"{self.name} left out {unnamed} of the {asked} candidates it was to order" if unnamed else ""
        return Reranked(tuple(scores), note)

    def _starts(self, count: int) -> list[int]:
        """Where windows begin, in the order in which they are asked; one candidate needs no order."""
        if count < 2:
            return []
        last = max(0, count - self._window)
        step = max(1, self._window // 2)
        return [*range(last, 0, -step), 0]

    def _ask(self, query: str, shown: Sequence[Passage]) -> str:
        answer_tokens = _TOKENS_A_NUMBER * len(shown)
        room = max(1, self._model.context_window - answer_tokens - _OVERHEAD_TOKENS)
        count = self._model.count_tokens
        issue = fit_text(query, int(room * _QUERY_SHARE), count)
        each = min(_MOST_CANDIDATE_TOKENS, int(room * (1 - 2 * _QUERY_SHARE)) // len(shown))
        pieces = [
            f"[{number}] {passage.key}\n{fit_text(passage.text, each, count)}"
            for number, passage in enumerate(shown, 1)
        ]
        user = self._user.substitute(
            query=issue,
            candidates="\n\n".join(pieces),
            query_head=issue[:_QUERY_HEAD_CHARS],
            count=str(len(shown)),
        )
        request = ChatRequest(
            messages=(Message("system", self._system), Message("user", user)),
            max_tokens=answer_tokens,
            grammar=order_grammar(len(shown)),
        )
        return complete(self._model, request).text


def read_order(answer: str, count: int) -> list[int]:
    """The numbers from 1 to `count` that an answer names, each once, in its order, counted from 0."""
    # A reasoning model thinks aloud first, and the numbers it weighs are no answer.
    final = answer.rpartition("</think>")[2]
    numbers = (int(found) - 1 for found in _NUMBER.findall(final))
    return list(dict.fromkeys(number for number in numbers if 0 <= number < count))


def order_grammar(count: int) -> str:
    """A GBNF grammar of answers like `[2] > [1] > [3]` with `count` numbers from 1 to `count`.

    That none comes twice isn't said: a grammar of permutations would have `count`! rules.
    """
    numbers = " | ".join(f'"{number}"' for number in range(1, count + 1))
    more = ' " > " item' * (count - 1)
    return f'root ::= item{more}\nitem ::= "[" number "]"\nnumber ::= {numbers}\n'
