"""Budgets hold for any text and any way of counting."""

import re

from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.tools.budget import Budget, Form, estimate_tokens, lay_out


def _words(text: str) -> int:
    """A tokenizer that merges across seams: runs of letters, and every other character."""
    return len(re.findall(r"[a-z]+|[^a-z]", text))


COUNTERS = st.sampled_from([estimate_tokens, _words, len])
TEXTS = st.text(alphabet="ab \n…é", max_size=80)


@given(text=TEXTS, most=st.integers(0, 60), count=COUNTERS)
def test_clip(text: str, most: int, count: object) -> None:
    budget = Budget(most, count)  # type: ignore[arg-type]
    clipped = budget.clip(text)
    assert budget.fits(clipped)
    assert clipped == text or not budget.fits(text)


@given(
    pieces=st.lists(st.lists(TEXTS, min_size=1, max_size=3), max_size=6),
    head=st.lists(TEXTS, max_size=2),
    most=st.integers(0, 300),
    count=COUNTERS,
)
def test_lay_out(pieces: list[list[str]], head: list[str], most: int, count: object) -> None:
    budget = Budget(most, count)  # type: ignore[arg-type]
    forms = [
        [Form(str(level), lambda _, text=text: text) for level, text in enumerate(sorted(texts, key=len))]
        for texts in pieces
    ]
    layout = lay_out(forms, budget, head)
    assert budget.fits(layout.text)
    assert len(layout.shown) == len(pieces)
    left_out = sum(shown is None for shown in layout.shown)
    if left_out and most >= 100:
        assert f"… {left_out} more left out" in layout.text
    if all(shown is None for shown in layout.shown):
        return
    for shown in layout.shown:
        assert shown is None or shown.text in layout.text


def test_room_is_used_in_order() -> None:
    forms = [[Form("short", lambda _: "s"), Form("long", lambda _: "l" * 90)] for _ in range(3)]
    views = [shown.view for shown in lay_out(forms, Budget(48 + 75)).shown if shown]
    assert views == ["long", "long", "short"]


def test_the_estimate_is_the_one_of_hosted_models() -> None:
    from codeforge.models.litellm_model import _BYTES_PER_TOKEN

    assert estimate_tokens("é" * 10) == -(-20 // _BYTES_PER_TOKEN)
