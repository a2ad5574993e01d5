"""Bounded output, by its laws."""

from hypothesis import given
from hypothesis import strategies as st

from codeforge.sandbox.output import BoundedOutput


@given(st.lists(st.binary(max_size=200)), st.integers(0, 400))
def test_short_output_is_kept_and_long_output_is_bounded(chunks: list[bytes], limit: int) -> None:
    output = BoundedOutput(limit)
    for chunk in chunks:
        output.feed(chunk)
    whole = b"".join(chunks)
    assert output.total == len(whole)
    assert output.truncated == (len(whole) > limit)
    if not output.truncated:
        assert output.text() == whole.decode("utf-8", "replace")
    else:
        assert len(output.text()) <= limit + 80


@given(st.text(alphabet="aé€😀", min_size=200), st.integers(10, 60), st.integers(1, 9))
def test_no_character_is_cut_in_half(text: str, limit: int, step: int) -> None:
    output = BoundedOutput(limit)
    data = text.encode()
    for start in range(0, len(data), step):
        output.feed(data[start : start + step])
    shown = output.text()
    assert "�" not in shown
    head, _, rest = shown.partition("\n[codeforge dropped ")
    number, _, tail = rest.partition(" bytes of output here]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(number) == len(data) - len(head.encode()) - len(tail.encode())
