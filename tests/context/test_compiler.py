"""The context compiler keeps its budget and says what it cut."""

from hypothesis import given
from hypothesis import strategies as st

from codeforge.context.compiler import ContextItem, compile_context

ITEMS = st.lists(
    st.builds(
        ContextItem,
        kind=st.just("file"),
        title=st.text(min_size=1, max_size=5),
        text=st.text(max_size=60),
        priority=st.floats(0, 100),
        folds=st.lists(st.text(max_size=20), max_size=2).map(tuple),
    ),
    max_size=8,
)


def merging_tokenizer(text: str) -> int:
    """A tokenizer whose counts don't add up: white space joins with what follows."""
    return len(text.split()) + len(text) // 7


@given(ITEMS, st.integers(0, 40))
def test_budget_is_never_exceeded(items: list[ContextItem], budget: int) -> None:
    compiled = compile_context(items, budget, merging_tokenizer)
    assert merging_tokenizer(compiled.text) <= budget or not compiled.included
    assert compiled.tokens <= budget


@given(ITEMS, st.integers(0, 40))
def test_everything_is_included_or_reported(items: list[ContextItem], budget: int) -> None:
    compiled = compile_context(items, budget, merging_tokenizer)
    missing = [cut for cut in compiled.cut if cut.reason.startswith("left out")]
    assert len(compiled.included) + len(missing) == len(items)


def test_important_pieces_first_in_given_order() -> None:
    items = [
        ContextItem("file", "a", "one two three", 1.0),
        ContextItem("file", "b", "four five", 9.0),
        ContextItem("file", "c", "six seven", 5.0),
    ]
    compiled = compile_context(items, 4, lambda text: len(text.split()))
    assert compiled.included == ("b", "c")
    assert compiled.text == "four five\n\nsix seven"
    assert [cut.title for cut in compiled.cut] == ["a"]


def test_a_piece_is_folded_before_it_is_left_out() -> None:
    item = ContextItem("file", "a", "one two three four", 1.0, folds=("one two", "one"))
    compiled = compile_context([item], 2, lambda text: len(text.split()))
    assert compiled.text == "one two"
    assert compiled.cut[0].reason == "shortened to fit the budget"
