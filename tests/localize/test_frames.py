"""Frames of tracebacks, as several languages write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.frames import frames_in

PYTHON = """Traceback (most recent call last):
  File "/srv/app/main.py", line 7, in run
    load()
  File "/srv/app/load.py", line 3, in load
    raise KeyError
KeyError
"""
NODE = """TypeError: x is not a function
    at Cart.total (/home/u/web/src/cart.js:3:18)
    at async /home/u/web/src/main.js:9:2
    at node:internal/main/run_main_module:28:49
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no
\tat com.acme.shop.Cart.total(Cart.java:12)
\tat com.acme.Main.main(Main.java:5)
Caused by: java.lang.NullPointerException
\tat com.acme.shop.Price.of(Price.java:40)
\t... 2 more
"""
GO = """panic: runtime error: index out of range

goroutine 1 [running]:
example.com/app/util.Low(...)
\t/home/u/app/util/util.go:6
main.main()
\t/home/u/app/main.go:10 +0x1d
"""
RUST = """thread 'main' panicked at src/util.rs:3:22:
index out of bounds
stack backtrace:
   0: app::util::low
             at ./src/util.rs:3:22
   1: app::main
             at ./src/main.rs:5:5
"""


def innermost(text: str) -> list[tuple[str, int, str]]:
    return [(frame.path, frame.line, frame.function) for frame in frames_in(text) if frame.depth == 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PYTHON, [("/srv/app/load.py", 3, "load")]),
        (NODE, [("/home/u/web/src/cart.js", 3, "total")]),
        (JAVA, [("com/acme/shop/Cart.java", 12, "total"), ("com/acme/shop/Price.java", 40, "of")]),
        (GO, [("/home/u/app/util/util.go", 6, "")]),
        (RUST, [("src/util.rs", 3, "")]),
        ("src/a.c:3:18: error: expected ;", [("src/a.c", 3, "")]),
        ("at noon we met (3:4)", []),
    ],
)
def test_the_innermost_frame(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert innermost(text) == expected


def test_callers_follow_outwards() -> None:
    found = {(frame.path.rpartition("/")[2], frame.depth) for frame in frames_in(GO)}
    assert found == {("util.go", 0), ("main.go", 1)}


def test_tracebacks_of_two_languages_are_two() -> None:
    assert {frame.trace for frame in frames_in(PYTHON + NODE)} == {0, 1}


@given(st.lists(st.sampled_from([*PYTHON, *NODE, *JAVA, *GO, *RUST, "\n    at ", "File "]), max_size=60))
def test_every_trace_has_one_innermost_frame(parts: list[str]) -> None:
    frames = frames_in("".join(parts))
    for trace in {frame.trace for frame in frames}:
        depths = [frame.depth for frame in frames if frame.trace == trace]
        assert depths == list(range(len(depths)))[::-1]
