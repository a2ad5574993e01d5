"""Frames of tracebacks in a text, as Python, pytest, Node, Java, Go and Rust write them."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_TRACE_GAP = 12
"""More lines than this between two frames, and they belong to two tracebacks."""
_HEAD = re.compile(r"Traceback \(most recent call last\)|^Caused by: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextFrame:
    """A traceback frame as written: path, 1-based line, function or ""; `trace` numbers its traceback,
    `depth` counts from the innermost frame of it (0)."""

    path: str
    line: int
    function: str
    trace: int
    depth: int


class _Found(NamedTuple):
    place: int
    path: str
    line: int
    function: str
    innermost_first: bool


_Match = re.Match[str]
_Read = Callable[[_Match], tuple[str, str, str]]


def _of_java(match: _Match) -> tuple[str, str, str]:
    """`at com.acme.Util$Inner.low(Util.java:12)`: the path follows from the package."""
    package = match[1].rpartition(".")[0].replace(".", "/")
    return f"{package}/{match[3]}".lstrip("/"), match[4], match[2]


def _of_at(match: _Match) -> tuple[str, str, str]:
    return match[2], match[3], (match[1] or "").rpartition(".")[2]


def _plain(match: _Match) -> tuple[str, str, str]:
    return match[1], match[2], match[3] or ""


def _nameless(match: _Match) -> tuple[str, str, str]:
    return match[1], match[2], ""


_FORMATS: tuple[tuple[re.Pattern[str], _Read, bool], ...] = (
    (re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([^\n]+))?'), _plain, False),
    (
        re.compile(r"^[ \t]*(?:[>E][ \t]+)?([\w./\\-]{1,300}):(\d+):(?: in ([\w.<>]+))?", re.MULTILINE),
        _plain,
        False,
    ),
    # Node, and the frames of a Rust backtrace.
    (
        re.compile(
            r"^[ \t]+at (?:async )?(?:([\w.$<>]{1,200})(?: \[as \w+\])? \()?(?:file://)?"
            r"([\w./\\@+-]{1,300}):(\d+)(?::\d+)?\)?[ \t]*$",
            re.MULTILINE,
        ),
        _of_at,
        True,
    ),
    (
        re.compile(
            r"^[ \t]*at (?:\w+//)?([\w.$]{1,300})\.([\w$<>]{1,200})\((\w+\.\w{2,6}):(\d+)\)", re.MULTILINE
        ),
        _of_java,
        True,
    ),
    (
        re.compile(r"^[ \t]+([\w./\\@+-]{1,300}\.go):(\d+)(?: \+0x[0-9a-f]+)?[ \t]*$", re.MULTILINE),
        _nameless,
        True,
    ),
    (re.compile(r"panicked at (?:'[^'\n]*', )?([\w./\\-]{1,300}\.rs):(\d+):\d+"), _nameless, True),
)


def frames_in(text: str) -> list[TextFrame]:
    """Every frame of every traceback, in order; within one the innermost comes last."""
    return [
        TextFrame(frame.path.replace("\\", "/"), frame.line, frame.function.strip(), number, depth)
        for number, trace in enumerate(_traces(text))
        for depth, frame in reversed(list(enumerate(trace)))
    ]


def _traces(text: str) -> Iterator[list[_Found]]:
    """The tracebacks, each with its innermost frame first."""
    found = sorted(
        _Found(match.start(), path, int(line), function, first)
        for pattern, read, first in _FORMATS
        for match in pattern.finditer(text)
        for path, line, function in [read(match)]
        if len(line) < 10
    )
    ends = [match.start() for match in re.finditer("\n", text)]
    heads = [match.start() for match in _HEAD.finditer(text)]
    trace: list[_Found] = []
    for frame in found:
        if trace and _apart(trace[-1], frame, ends, heads):
            yield trace if trace[0].innermost_first else trace[::-1]
            trace = []
        trace.append(frame)
    if trace:
        yield trace if trace[0].innermost_first else trace[::-1]


def _apart(last: _Found, frame: _Found, ends: list[int], heads: list[int]) -> bool:
    """Whether a frame begins another traceback than the one before it belongs to."""
    gap = bisect_left(ends, frame.place) - bisect_left(ends, last.place)
    headed = bisect_left(heads, last.place) < bisect_left(heads, frame.place)
    return gap > _TRACE_GAP or headed or last.innermost_first != frame.innermost_first
