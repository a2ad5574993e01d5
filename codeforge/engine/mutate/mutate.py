"""Mutations of the suspicious lines of one Python file, the most promising first."""

import ast
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from codeforge.engine.mutate.evidence import tag_weights
from codeforge.engine.mutate.model import Mutation, MutationHints, Proposal
from codeforge.engine.mutate.rank import interleaved, scored
from codeforge.engine.mutate.registry import OPERATORS
from codeforge.engine.mutate.view import View
from codeforge.patch.model import EditBlock

_CONTINUATION = 0.9


def mutate(
    source: str,
    path: str,
    suspicions: Sequence[tuple[int, float]],
    *,
    limit: int,
    seed: int = 0,
    hints: MutationHints | None = None,
) -> list[Mutation]:
    """At most `limit` distinct mutations that compile, the most promising first.

    Args:
        source: the file's text.
        path: its name for the edits.
        suspicions: (line, suspicion above 0); other lines are left alone.
        seed: decides between equals.
        hints: what is known of the failures.

    Returns:
        nothing for a source that is not Python.
    """
    hints = hints or MutationHints()
    try:
        view = View(source, path, hints.types.get(path))
    except (SyntaxError, ValueError, RecursionError):
        return []
    weigh = _line_weights(view, dict(suspicions))
    candidates = scored(_proposals(view, weigh), tag_weights(hints), seed)
    distinct = _Distinct(view)
    found: list[Mutation] = []
    for score, proposal in interleaved(candidates):
        if len(found) >= limit:
            break
        if distinct.is_new(proposal):
            found.append(_mutation(view, proposal, score))
    return found


def _line_weights(view: View, suspicions: Mapping[int, float]) -> Mapping[int, float]:
    """Suspicion by line, spread over the lines of a statement: coverage names only some of them."""
    weights = {line: value for line, value in suspicions.items() if value > 0}
    for node in ast.walk(view.tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        lines = range(node.lineno, max(last, node.lineno) + 1)
        strongest = max((suspicions.get(line, 0.0) for line in lines), default=0.0)
        if strongest > 0:
            for line in lines:
                weights[line] = max(weights.get(line, 0.0), _CONTINUATION * strongest)
    return weights


def _proposals(view: View, weights: Mapping[int, float]) -> list[tuple[Proposal, float]]:
    found: list[tuple[Proposal, float]] = []
    for node in _mutable_nodes(view.tree):
        if getattr(node, "lineno", 0) not in weights:
            continue
        for operator in OPERATORS:
            for proposal in operator(view, node):
                suspicion = weights.get(proposal.line, 0.0)
                if suspicion > 0:
                    found.append((proposal, suspicion))
    return found


def _mutable_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside f-strings (whose positions are wrong before Python 3.12) and annotations."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            yield child
            yield from _mutable_nodes(child)


class _Distinct:
    """Says whether a proposal compiles to something not seen before."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._chunks = sorted(_chunks(view, view.tree.body))
        self._starts = [start for start, _ in self._chunks]
        self._seen: set[tuple[int, str]] = set()
        for chunk in self._chunks:
            self._seen.add((chunk[0], self._dump(chunk, None) or ""))

    def is_new(self, proposal: Proposal) -> bool:
        chunk = self._chunk(proposal)
        dump = self._dump(chunk, proposal)
        if dump is None or (chunk[0], dump) in self._seen:
            return False
        self._seen.add((chunk[0], dump))
        return True

    def _chunk(self, proposal: Proposal) -> tuple[int, int]:
        """The function around the proposal: only it is compiled, since files are long."""
        place = bisect_right(self._starts, proposal.start) - 1
        if place >= 0 and proposal.end <= self._chunks[place][1]:
            return self._chunks[place]
        return 0, len(self._view.source)

    def _dump(self, chunk: tuple[int, int], proposal: Proposal | None) -> str | None:
        text = self._view.source[chunk[0] : chunk[1]]
        if proposal is not None:
            start, end = proposal.start - chunk[0], proposal.end - chunk[0]
            text = text[:start] + proposal.text + text[end:]
        if text[:1] in (" ", "\t"):
            text = f"if 1:\n{text}"
        try:
            return ast.dump(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError):
            return None


def _chunks(view: View, body: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
    """The outermost functions, methods included, and the other statements outside functions."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _chunks(view, node.body)
        elif view.owns_its_lines(node):
            assert node.end_lineno is not None
            yield view.line_start(node.lineno), view.line_start(node.end_lineno + 1)


def _mutation(view: View, proposal: Proposal, score: float) -> Mutation:
    first, last = view.line_of(proposal.start), view.line_of(max(proposal.start, proposal.end - 1))
    if proposal.start == proposal.end and proposal.start == view.line_start(first) and first > 1:
        # An insertion between two lines hangs on the line before, unless that one is blank.
        blank = not view.lines[first - 2].strip()
        first = last = first if blank and first <= len(view.lines) else first - 1
    last = min(last, len(view.lines))
    start, end = view.line_start(first), view.line_start(last + 1)
    replace = view.source[start : proposal.start] + proposal.text + view.source[proposal.end : end]
    edit = EditBlock(path=view.path, search=view.source[start:end], replace=replace, near_line=first)
    return Mutation(edit, proposal.operator, first, score, proposal.description)
