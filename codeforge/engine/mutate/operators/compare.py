"""Comparison operators (relational operator replacement, Offutt et al. 1996; TBar FP2.1, Liu et al. 2019)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.view import View

# Boundary slips (< for <=) are the commonest wrong comparison, so they come first.
_OTHERS: dict[type[ast.cmpop], tuple[tuple[str, float], ...]] = {
    ast.Lt: (("<=", 0.9), (">", 0.45), (">=", 0.35), ("!=", 0.1)),
    ast.LtE: (("<", 0.9), (">=", 0.4), (">", 0.35), ("==", 0.1)),
    ast.Gt: ((">=", 0.9), ("<", 0.45), ("<=", 0.35), ("!=", 0.1)),
    ast.GtE: ((">", 0.9), ("<=", 0.4), ("<", 0.35), ("==", 0.1)),
    ast.Eq: (("!=", 0.4), ("<=", 0.25), (">=", 0.25), ("<", 0.1), (">", 0.1)),
    ast.NotEq: (("==", 0.4), (">", 0.2), ("<", 0.2), (">=", 0.1), ("<=", 0.1)),
    ast.Is: (("is not", 0.45), ("==", 0.15)),
    ast.IsNot: (("is", 0.45), ("!=", 0.15)),
    ast.In: (("not in", 0.45),),
    ast.NotIn: (("in", 0.45),),
}
_BOUNDARY = {("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")}
SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def comparison_operator(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a < b` → `a <= b`, `a > b`, …"""
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    for place, operator in enumerate(node.ops):
        span = view.span(sides[place])[1], view.span(sides[place + 1])[0]
        between = view.source[span[0] : span[1]]
        old = SYMBOLS[type(operator)]
        at = between.find(old)
        if at < 0:
            continue  # "is  not" and the like
        orderable = not _nominal(sides[place]) and not _nominal(sides[place + 1])
        for new, prior in _OTHERS[type(operator)]:
            if new in ("<", ">", "<=", ">=") and not orderable:
                continue
            tags = ["compare"] + (["boundary"] if (old, new) in _BOUNDARY else [])
            where = span[0] + at, span[0] + at + len(old)
            why = f"compare with {new} instead of {old}"
            yield view.splice(where, new, "comparison-operator", prior, why, node.lineno, *tags)


def comparison_with_boundary(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x == 0` → `x <= 1`: operator and constant together (a base case that misses the small sizes)."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    constant = node.comparators[0]
    if not isinstance(constant, ast.Constant) or type(constant.value) is not int:
        return
    left, value = view.text(node.left), constant.value
    pairs = {
        ast.Eq: ((f"<= {value + 1}", 0.2), (f"< {value}", 0.03)),
        ast.NotEq: ((f"> {value + 1}", 0.1),),
        ast.Gt: ((f">= {value - 1}", 0.05),),
        ast.Lt: ((f"<= {value + 1}", 0.05),),
    }
    for text, prior in pairs.get(type(node.ops[0]), ()):
        new = f"{left} {text}"
        yield view.replace(node, new, "comparison-boundary", prior, f"test {new}", "recursion", "boundary")


def _nominal(node: ast.expr) -> bool:
    """Values that have no order: None, booleans, texts."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool | str))
