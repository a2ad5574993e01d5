"""Frames of tracebacks, in the text and of failing tests."""

from codeforge.localize.index import Document
from codeforge.localize.mentions import Mentions
from codeforge.localize.query import FailureSignal
from codeforge.localize.resolve import files_for_path
from codeforge.localize.roles import FileRole, role_of
from codeforge.localize.scoreboard import Scoreboard

INNERMOST = 3.0
DECAY = 0.6
TEST_SHARE = 0.3
"""A frame in a test says where the test stands, not where the fault is."""
_NAMELESS = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "")

Frame = tuple[str, int, str]


def score(board: Scoreboard, mentions: Mentions, failures: tuple[FailureSignal, ...]) -> None:
    """The innermost frame of the repository weighs most; each caller less."""
    traces: dict[int, list[Frame]] = {}
    for frame in mentions.frames:
        traces.setdefault(frame.trace, []).append((frame.path, frame.line, frame.function))
    for trace in traces.values():
        _score_trace(board, trace, "in a traceback of the issue")
    for failure in failures:
        _score_trace(board, list(failure.frames), "in the traceback of a failing test")


def _score_trace(board: Scoreboard, trace: list[Frame], where: str) -> None:
    depth = 0
    for path, line, function in reversed(trace):
        places = files_for_path(board.index.snapshot, path)
        if not places:
            continue
        test = all(role_of(place) is FileRole.TEST for place in places)
        weight = INNERMOST * DECAY**depth * (TEST_SHARE if test else 1.0) / len(places)
        for place in places:
            found = _entity(board, place, line, function)
            if found is not None:
                board.add((place, found.ordinal), "traceback", f"{where} (line {line})", weight)
        if not test:
            depth += 1


def _entity(board: Scoreboard, path: str, line: int, function: str) -> Document | None:
    """The entity that a frame stands in. The name decides over the line: reports come from other versions."""
    name = function.rpartition(".")[2]
    at_line = board.innermost(path, line)
    if name in _NAMELESS or (at_line is not None and at_line.name == name):
        return at_line
    named = [document for document in board.documents(path) if document.name == name]
    return min(named, key=lambda document: abs(document.first - line), default=at_line)
