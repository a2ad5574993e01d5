"""Files and modules that the text names."""

from codeforge.localize.mentions import Mentions
from codeforge.localize.resolve import files_for_module, files_for_path
from codeforge.localize.scoreboard import Scoreboard

NAMED = 1.2
SHARE = 0.5
"""What the entities of a named file get of its weight."""
_MOST_PLACES = 8


def score(board: Scoreboard, mentions: Mentions) -> None:
    """A path or module that fits one file weighs fully; one that fits several is shared out."""
    snapshot = board.index.snapshot
    for written in mentions.paths:
        _name(board, files_for_path(snapshot, written), written)
    for dotted in mentions.dotted:
        files, rest = files_for_module(snapshot, dotted)
        known = len(dotted.split(".")) - (len(rest.split(".")) if rest else 0)
        if known >= 2:  # one word alone (`json.loads`) is a module only by accident
            _name(board, files, dotted)
            _name_member(board, files, rest, dotted)


def _name(board: Scoreboard, files: list[str], written: str) -> None:
    if not files or len(files) > _MOST_PLACES:
        return
    weight = NAMED / len(files)
    for path in files:
        if len(files) == 1:
            board.named_files.add(path)
        for document in board.documents(path):
            share = 1.0 if document.ordinal == 0 else SHARE
            board.add((path, document.ordinal), "path", f"{written} is named", weight * share)


def _name_member(board: Scoreboard, files: list[str], rest: str, written: str) -> None:
    for path in files if rest else ():
        for document in board.documents(path):
            if document.qualname == rest:
                board.add((path, document.ordinal), "symbol", f"{written} is named", 2.0 / len(files))
