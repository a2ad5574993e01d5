"""What is read out of an issue text."""

from codeforge.localize.mentions import Mentions

TRACE = """It crashes:

Traceback (most recent call last):
  File "/home/me/shop/cart.py", line 12, in total
    return price(item)
  File "/home/me/shop/pricing.py", line 3, in apply_discount
    return price - rate
TypeError: bad

Another one:

Traceback (most recent call last):
  File "cli.py", line 1, in <module>
    main()
ValueError: worse
"""


def test_frames_of_two_tracebacks_are_kept_apart() -> None:
    frames = Mentions(TRACE).frames
    assert [(frame.path, frame.line, frame.function, frame.trace, frame.depth) for frame in frames] == [
        ("/home/me/shop/cart.py", 12, "total", 0, 1),
        ("/home/me/shop/pricing.py", 3, "apply_discount", 0, 0),
        ("cli.py", 1, "<module>", 1, 0),
    ]


def test_pytest_short_frames() -> None:
    frames = Mentions("src/a.py:10: in run\n    go()\nsrc/b.py:20: ValueError\n").frames
    assert [(frame.path, frame.line, frame.function) for frame in frames] == [
        ("src/a.py", 10, "run"),
        ("src/b.py", 20, ""),
    ]


def test_paths() -> None:
    found = Mentions("see src/shop/cart.py, `pricing.py` and docs\\guide.md; not https://x.org/a/b.py.").paths
    assert found == ["src/shop/cart.py", "pricing.py", "docs/guide.md"]


def test_symbols_by_how_surely_they_are_meant() -> None:
    symbols = Mentions("`total` of Cart.add() uses apply_discount and HttpClient when broken").symbols
    assert symbols["total"] == 1.0
    assert symbols["Cart.add"] >= 0.9
    assert symbols["apply_discount"] == symbols["HttpClient"] == 0.8
    assert symbols["broken"] < 0.5


def test_the_title_counts_twice() -> None:
    words = Mentions("discount wrong\n\nrounding matters").words
    assert words["discount"] > words["round"]
