"""Long texts keep both ends and their limit."""

from hypothesis import given
from hypothesis import strategies as st

from codeforge.context.fit import fit_text


def count(text: str) -> int:
    return (len(text.encode("utf-8", "replace")) + 2) // 3


@given(st.text(max_size=400), st.integers(0, 80))
def test_the_limit_is_kept(text: str, limit: int) -> None:
    fitted = fit_text(text, limit, count)
    assert count(fitted) <= max(limit, 0) or (fitted == text and count(text) <= limit)
    if count(text) <= limit:
        assert fitted == text


def test_both_ends_stay() -> None:
    fitted = fit_text("begin " + "x" * 9000 + " end", 100, count)
    assert fitted.startswith("begin ")
    assert fitted.endswith(" end")
    assert "left out" in fitted
