"""What failing tests call and import."""

from collections import Counter

from codeforge.localize.graph.model import Direction, RelationKind
from codeforge.localize.graph.nodes import CLASS
from codeforge.localize.signals.board import Board

CALLED, IMPORTED = "failing_calls", "failing_imports"


def score(board: Board) -> None:
    """Entities that many of the failing tests use first; those that their files import also count."""
    called: Counter[int] = Counter()
    files: set[int] = set()
    for failure in board.query.failures:
        path, _, inner = failure.test_id.partition("::")
        file = board.graph.files.get(path)
        if file is None:
            continue
        files.add(file)
        name = inner.partition("[")[0].replace("::", ".")
        test = board.graph.find(f"{path}:{name}") if name else None
        if test is not None:
            called.update(_used(board, test, RelationKind.INVOKES))
    most = max(called.values(), default=1)
    for node, count in called.items():
        board.raise_to(CALLED, node, count / most, f"called by {count} failing test(s)")
    for file in sorted(files):
        for node in _used(board, file, RelationKind.IMPORTS):
            if board.rows.kind[node] >= CLASS:
                board.raise_to(IMPORTED, node, 1.0, "imported by a failing test's file")


def _used(board: Board, node: int, relation: RelationKind) -> set[int]:
    ends = board.graph.neighbours(node, Direction.FORWARD, (relation,), weak=True)
    return {end.node for end in ends if not board.is_test[end.node]}
