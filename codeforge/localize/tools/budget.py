"""Token budgets: how text is counted, and how pieces in several forms are laid out within a budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codeforge.context.compiler import CountTokens

BYTES_PER_TOKEN = 3
"""Source code has more bytes in a token with every tokenizer in use: an upper estimate."""

_FOOTER_TOKENS = 48
_CUT = "… the rest is left out: it does not fit {budget} tokens"


def estimate_tokens(text: str) -> int:
    """An upper estimate for callers without a tokenizer: a token for every three bytes."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Budget:
    """How long an answer may be.

    Attributes:
        max_tokens: the most tokens of it.
        count: how they are counted.
    """

    max_tokens: int
    count: CountTokens = estimate_tokens

    def fits(self, text: str) -> bool:
        """Whether `text` is within the budget. A token has at least one byte: short texts need no count."""
        return len(text.encode("utf-8", "replace")) <= self.max_tokens or self.count(text) <= self.max_tokens

    def clip(self, text: str) -> str:
        """`text`, or as many of its first lines as fit together with a line that says that it was cut."""
        if self.fits(text):
            return text
        lines = text.split("\n")
        last = _CUT.format(budget=self.max_tokens)
        low, high = 0, len(lines) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.fits("\n".join([*lines[:middle], last])):
                low = middle
            else:
                high = middle - 1
        short = "\n".join([*lines[:low], last])
        return short if self.fits(short) else ("…" if self.fits("…") else "")


class Form(NamedTuple):
    """One way to show a piece.

    Attributes:
        view: its name.
        make: its text, given the tokens that it should not exceed; `None` when there is no such form.
    """

    view: str
    make: Callable[[int], str | None]


class Shown(NamedTuple):
    """How a piece is shown."""

    view: str
    text: str


class Layout(NamedTuple):
    """What is shown: the whole text, and each piece's form (`None`: left out)."""

    text: str
    shown: tuple[Shown | None, ...]


Footer = Callable[[Sequence[Shown | None]], str]
"""The text for the end, given how each piece is shown (`None`: left out)."""


def count_left_out(shown: Sequence[Shown | None]) -> str:
    """The plainest footer."""
    left_out = sum(form is None for form in shown)
    return f"… {left_out} more left out" if left_out else ""


def lay_out(
    pieces: Sequence[Sequence[Form]],
    budget: Budget,
    head: Sequence[str] = (),
    footer: Footer = count_left_out,
) -> Layout:
    """Show every piece in its shortest form first, then make them longer in order while there is room.

    So a short budget costs detail before it costs pieces, and first the detail of the last ones.

    Args:
        pieces: the forms of each, shortest first; the most important piece first.
        head: texts before the first piece.
        footer: says what is left out or shortened.
    """
    chosen: list[Shown | None] = [None] * len(pieces)
    room = budget.max_tokens - _FOOTER_TOKENS - sum(budget.count(text) + 1 for text in head)
    for level in range(max((len(forms) for forms in pieces), default=0)):
        waiting = sum(len(forms) > level for forms in pieces)
        for place, forms in enumerate(pieces):
            if len(forms) <= level:
                continue
            current = chosen[place]
            given_back = budget.count(current.text) + 1 if current else 0
            share = room // max(1, waiting) + given_back
            waiting -= 1
            made = forms[level].make(max(0, share))
            if made is None:
                continue
            cost = budget.count(made) + 1 - given_back
            if cost <= room:
                chosen[place] = Shown(forms[level].view, made)
                room -= cost
    return _fitted(pieces, chosen, budget, head, footer)


def _fitted(
    pieces: Sequence[Sequence[Form]],
    chosen: list[Shown | None],
    budget: Budget,
    head: Sequence[str],
    footer: Footer,
) -> Layout:
    """Check the joined text itself (tokens merge across seams), and take from the end what is too much."""
    while True:
        texts = [*head, *(form.text for form in chosen if form is not None), footer(chosen)]
        text = "\n".join(text for text in texts if text)
        if budget.fits(text):
            return Layout(text, tuple(chosen))
        last = max((place for place, form in enumerate(chosen) if form is not None), default=None)
        if last is None:
            return Layout(budget.clip(text), tuple(chosen))
        shortest = pieces[last][0].make(0)
        shown = chosen[last]
        if shown is not None and shortest is not None and len(shortest) < len(shown.text):
            chosen[last] = Shown(pieces[last][0].view, shortest)
        else:
            chosen[last] = None
