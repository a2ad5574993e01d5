"""Frames of tracebacks, in the text and of failing tests."""

from codeforge.localize.graph.nodes import CLASS, last_part
from codeforge.localize.resolve import files_for_path
from codeforge.localize.signals.board import Board

TRACEBACK, FAILING = "traceback", "failing"
DECAY = 0.6
TEST_SHARE = 0.3
"""A frame in a test says where the test stands, not where the fault is."""
_NAMELESS = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "")

Frame = tuple[str, int, str]


def score(board: Board) -> None:
    """The innermost frame of the repository weighs most; each caller less."""
    traces: dict[int, list[Frame]] = {}
    for frame in board.mentions.frames:
        traces.setdefault(frame.trace, []).append((frame.path, frame.line, frame.function))
    for trace in traces.values():
        _score_trace(board, trace, TRACEBACK, "in a traceback of the issue")
    for failure in board.query.failures:
        _score_trace(board, list(failure.frames), FAILING, "in the traceback of a failing test")


def _score_trace(board: Board, trace: list[Frame], signal: str, where: str) -> None:
    depth = 0
    for path, line, function in reversed(trace):
        places = [
            board.graph.files[place]
            for place in files_for_path(board.index.snapshot, path)
            if place in board.graph.files
        ]
        if not places:
            continue
        test = all(board.is_test[place] for place in places)
        weight = DECAY**depth * (TEST_SHARE if test else 1.0) / len(places)
        for place in places:
            node = _entity(board, place, line, function)
            board.add(signal, node, weight, f"{where} (line {line})")
        if not test:
            depth += 1


def _entity(board: Board, file: int, line: int, function: str) -> int:
    """The entity that a frame stands in. The name decides over the line: reports come from other versions."""
    rows = board.rows
    name = last_part(function)
    at_line = board.graph.innermost(file, line)
    if name in _NAMELESS or (rows.kind[at_line] >= CLASS and last_part(rows.names[at_line]) == name):
        return at_line
    named = [node for node in board.graph.block(file)[1:] if last_part(rows.names[node]) == name]
    return min(named, key=lambda node: abs(int(rows.start[node]) - line), default=at_line)
