"""What failing tests call and import."""

from collections import Counter

from codeforge.localize.query import FailureSignal
from codeforge.localize.resolve import files_for_module
from codeforge.localize.roles import FileRole, role_of
from codeforge.localize.scoreboard import Scoreboard

CALLED = 1.5
IMPORTED = 0.5
_MOST_PLACES = 12


def score(board: Scoreboard, failures: tuple[FailureSignal, ...]) -> None:
    """Functions called by many of the failing tests first; those imported by their files also count."""
    called: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for failure in failures:
        path, _, inner = failure.test_id.partition("::")
        files[path] += 1
        name = inner.partition("[")[0].replace("::", ".")
        for document in board.documents(path):
            if name and document.qualname == name:
                called.update(document.calls)
    _score_calls(board, called)
    for path in files:
        for dotted in board.index.imports(path):
            _score_import(board, path, dotted)


def _score_calls(board: Scoreboard, called: Counter[str]) -> None:
    most = max(called.values(), default=1)
    for document in board.index.named(called.keys()):
        places = [
            path
            for path in board.index.snapshot.paths_of[document.content]
            if role_of(path) is not FileRole.TEST
        ]
        if not places or len(places) > _MOST_PLACES:
            continue
        count = called[document.name]
        for path in places:
            board.add(
                (path, document.ordinal),
                "test",
                f"called by {count} failing test(s)",
                CALLED * count / most / len(places),
            )


def _score_import(board: Scoreboard, importer: str, dotted: str) -> None:
    if dotted.startswith("."):
        dotted = f"{importer.rpartition('/')[0].replace('/', '.')}.{dotted.lstrip('.')}"
    files, rest = files_for_module(board.index.snapshot, dotted)
    for path in files if len(files) <= 2 else ():
        for document in board.documents(path):
            if document.qualname == rest and role_of(path) is not FileRole.TEST:
                board.add((path, document.ordinal), "test", "imported by a failing test's file", IMPORTED)
