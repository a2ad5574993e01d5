"""Text out of bytes: split characters and split stop strings."""

from hypothesis import given
from hypothesis import strategies as st

from codeforge.models.text_stream import TextStream


def run(data: bytes, sizes: list[int], stop: tuple[str, ...]) -> tuple[str, bool]:
    stream = TextStream(stop)
    parts: list[str] = []
    place = 0
    for size in [*sizes, len(data)]:
        parts.append(stream.feed(data[place : place + size]))
        place += size
    parts.append(stream.end())
    return "".join(parts), stream.stopped


@given(
    st.text(alphabet="abé世\n"),
    st.lists(st.integers(1, 4), max_size=40),
    st.lists(st.text(alphabet="abé世", min_size=1, max_size=4), max_size=3),
)
def test_pieces_do_not_matter(text: str, sizes: list[int], stop: list[str]) -> None:
    places = [text.index(mark) for mark in stop if mark in text]
    got, stopped = run(text.encode(), sizes, tuple(stop))
    if len(stop) <= 1:
        assert got == (text[: min(places)] if places else text)
    assert stopped == bool(places)
    assert text.startswith(got)


def test_what_may_become_a_stop_is_held_back() -> None:
    stream = TextStream(("END",))
    assert stream.feed(b"one EN") == "one "
    assert stream.feed(b"E") == "ENE"[:2]
    assert stream.feed(b"ND two") == ""
    assert stream.stopped
    assert stream.end() == ""


def test_a_broken_character_at_the_end_is_replaced() -> None:
    stream = TextStream()
    assert stream.feed("é".encode()[:1]) == ""
    assert stream.end() == "�"
