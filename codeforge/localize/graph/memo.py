"""Answers to questions that lead to each other, remembered."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")

_DEEPEST = 80
"""So many questions are asked within each other at most: real code needs fewer than ten, and Python's stack
holds them."""
_NO_CIRCLE = _DEEPEST + 1


class Memo:
    """Remembers answers. A question that comes up while it is being answered is answered with nothing there;
    what was found inside such a circle is true only as seen from where it was entered and is not kept, so
    that no answer depends on which question came first.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}
        self._asked: dict[Hashable, int] = {}
        self._circle = _NO_CIRCLE  # the outermost open question that came up again

    def answer(self, question: Hashable, find: Callable[[], _Answer], nothing: _Answer) -> _Answer:
        """The answer to `question`; `find` works it out, `nothing` stands for it in a circle."""
        if question in self._known:
            known: _Answer = self._known[question]
            return known
        place = self._asked.get(question)
        if place is not None or len(self._asked) >= _DEEPEST:
            if place is not None:
                self._circle = min(self._circle, place)
            return nothing
        place = self._asked[question] = len(self._asked)
        outer, self._circle = self._circle, _NO_CIRCLE
        try:
            value = find()
        finally:
            del self._asked[question]
        if self._circle >= place:
            self._known[question] = value
            self._circle = outer
        else:
            self._circle = min(self._circle, outer)
        return value
