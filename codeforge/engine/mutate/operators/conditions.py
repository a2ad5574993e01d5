"""Conditions: negated, widened, narrowed, guarded against None and empty (PAR's null-pointer and range
checkers, Kim et al. 2013; TBar FP4 and FP6; "more specific if" and "less specific if" of ManySStuBs4J)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import NUMBERS
from codeforge.engine.mutate.view import View


def negate_condition(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`if x` → `if not x`. A single comparison is left to the comparison operators."""
    test = _test(node)
    if (
        test is None
        or (isinstance(test, ast.Compare) and len(test.ops) == 1)
        or isinstance(test, ast.Constant)
    ):
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        text, prior = view.text(test.operand), 0.3
    else:
        whole = isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        text, prior = f"not {view.text(test)}" if whole else f"not ({view.text(test)})", 0.2
    yield view.replace(test, text, "negate-condition", prior, f"test {text}", "bool", "branch")


def change_connective(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a and b` → `a or b`, `a`, `b`."""
    if not isinstance(node, ast.BoolOp):
        return
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for one, other in zip(node.values, node.values[1:], strict=False):
        start, end = view.span(one)[1], view.span(other)[0]
        at = view.source[start:end].find(old)
        if at >= 0:
            span = start + at, start + at + len(old)
            why = f"{new} instead of {old}"
            yield view.splice(span, new, "change-connective", 0.35, why, node.lineno, "bool", "branch")
    for dropped in node.values:
        rest = [view.text(value) for value in node.values if value is not dropped]
        text = f" {old} ".join(rest)
        why = f"without the condition {view.text(dropped)}"
        yield view.replace(node, text, "drop-condition", 0.2, why, "bool", "branch")


def guard_condition(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`if c` → `if x is None or c` for an `x` whose attribute `c` reads; `if c or not x` for a collection
    that is taken apart later."""
    if not isinstance(node, ast.If | ast.While):
        return
    test = node.test
    if isinstance(test, ast.Constant):
        return
    text = view.text(test)
    joined = f"({text})" if isinstance(test, ast.BoolOp | ast.IfExp | ast.Lambda) else text
    leaves = isinstance(node, ast.If) and isinstance(
        node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break
    )
    for owner in _attribute_owners(view, test):
        first, second = (0.3, 0.1) if leaves else (0.1, 0.3)
        new = f"{owner} is None or {joined}"
        yield view.replace(test, new, "none-guard", first, f"test {new}", "none", "branch")
        new = f"{owner} is not None and {joined}"
        yield view.replace(test, new, "none-guard", second, f"test {new}", "none", "branch")
    for name, prior in _emptiable(view, node):
        if leaves:
            new = f"{joined} or not {name}"
            yield view.replace(test, new, "empty-guard", prior, f"test {new}", "empty", "branch", "recursion")
            new = f"{joined} and {name}"
            yield view.replace(test, new, "empty-guard", prior * 0.3, f"test {new}", "empty", "branch")
        else:
            new = f"{name} and {joined}"
            yield view.replace(test, new, "empty-guard", prior * 0.8, f"test {new}", "empty", "branch")


def endless_loop(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`while True` → `while xs` for a collection that the loop consumes or an object that it walks along."""
    if not isinstance(node, ast.While) or not isinstance(node.test, ast.Constant) or not node.test.value:
        return
    consumed: dict[str, float] = {}
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Attribute) or not isinstance(inner.value, ast.Name):
            continue
        pops = inner.attr in ("pop", "popleft", "get", "popitem")
        consumed[inner.value.id] = max(consumed.get(inner.value.id, 0.0), 0.5 if pops else 0.12)
    names = view.names_at(node)
    for name, prior in consumed.items():
        if name in names:
            yield view.replace(
                node.test, name, "endless-loop", prior, f"while {name}", "loop", "empty", "none"
            )


def _test(node: ast.AST) -> ast.expr | None:
    return node.test if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert) else None


def _attribute_owners(view: View, test: ast.expr) -> list[str]:
    """Names and attributes whose attribute the condition reads, without those it already tests."""
    found = []
    for inner in ast.walk(test):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name | ast.Attribute):
            owner = view.text(inner.value)
            called = isinstance(view.parent(inner), ast.Call)
            if owner not in found and owner not in ("self", "cls") and not called:
                found.append(owner)
    return found[:3]


def _emptiable(view: View, node: ast.If | ast.While) -> Iterator[tuple[str, float]]:
    """Collections in scope that the function takes apart (unpacks, indexes, pops), and how likely a guard
    was forgotten."""
    scope = view.scope(node)
    tested = {inner.id for inner in ast.walk(node.test) if isinstance(inner, ast.Name)}
    for name in view.names_at(node)[:8]:
        kinds = scope.kinds_of_name(name)
        if kinds & NUMBERS or "function" in kinds or name in tested:
            continue
        taken = any(_takes_apart(inner, name) for inner in ast.walk(scope.node))
        if taken or kinds & {"list", "str"}:
            yield name, 0.2 if taken else 0.06


def _takes_apart(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        return isinstance(node.value, ast.Name) and node.value.id == name
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == name
    if isinstance(node, ast.Attribute) and node.attr in ("pop", "popleft"):
        return isinstance(node.value, ast.Name) and node.value.id == name
    return False
