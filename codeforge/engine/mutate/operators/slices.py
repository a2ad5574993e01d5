"""Slices: a sequence used whole where a part was meant, and parts with a bound too many."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.view import View


def take_slice(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x` → `x[1:]`, `x[:-1]`, `x[k:]`, `x[:k]` where `x` is looped over or handed on."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    above, scope = view.parent(node), view.scope(node)
    looped = isinstance(above, ast.For | ast.comprehension) and above.iter is node
    recursive = view.recursive(above or node) and isinstance(above, ast.Call) and node in above.args
    handed = recursive or (isinstance(above, ast.Call) and node in above.args)
    kinds = scope.infer(node)
    if (
        not (looped or handed)
        or (kinds and not kinds & {"list", "str"})
        or (handed and not kinds and not recursive)
    ):
        return
    used = _slices_used(view, node)
    base = 0.2 if looped or recursive else 0.04
    bounds = [("1:", 1.0), (":-1", 0.5)]
    for name in view.names_at(node):
        if scope.kinds_of_name(name) == {"int"} and name != node.id:
            bounds += [(f"{name}:", 0.9), (f":{name}", 0.6)]
    for bound, share in bounds[:8]:
        prior = base * share * (1.8 if bound in used else 1.0)
        text = f"{node.id}[{bound}]"
        tags = ("shrink", "recursion") if recursive else ("shrink",)
        yield view.replace(node, text, "take-slice", prior, f"{text} instead of {node.id}", *tags)


def drop_bound(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x[a:b]` → `x[a:]`, `x[:b]`, `x`; `x[a:]` → `x[:a]`."""
    if (
        not isinstance(node, ast.Subscript)
        or not isinstance(node.slice, ast.Slice)
        or node.slice.step is not None
    ):
        return
    if not isinstance(node.ctx, ast.Load):
        return
    value = view.text(node.value)
    lower = view.text(node.slice.lower) if node.slice.lower is not None else ""
    upper = view.text(node.slice.upper) if node.slice.upper is not None else ""
    if lower and upper:
        others = [(f"{value}[{lower}:]", 0.1, "grow"), (f"{value}[:{upper}]", 0.1, "grow")]
    else:
        bound = lower or upper
        flipped = f"{value}[:{bound}]" if lower else f"{value}[{bound}:]"
        others = [(flipped, 0.12, "value"), (value, 0.1, "grow")] if bound else []
    for text, prior, tag in others:
        yield view.replace(node, text, "drop-bound", prior, f"{text} instead of {view.text(node)}", tag)


def _slices_used(view: View, node: ast.AST) -> set[str]:
    """The bounds of the slices in the same function."""
    return {
        view.source[view.span(inner.value)[1] + 1 : view.span(inner)[1] - 1]
        for inner in ast.walk(view.scope(node).node)
        if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Slice)
    }


def negate_bounds(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x[k:] + x[:k]` → `x[-k:] + x[:-k]`: counted from the wrong end, all over one statement."""
    if not isinstance(node, ast.Return | ast.Assign) or node.value is None:
        return
    bounds: dict[str, list[ast.Name]] = {}
    for inner in ast.walk(node.value):
        if isinstance(inner, ast.Slice):
            for bound in (inner.lower, inner.upper):
                if isinstance(bound, ast.Name):
                    bounds.setdefault(bound.id, []).append(bound)
    start, end = view.span(node.value)
    for name, places in bounds.items():
        text = view.source[start:end]
        for place in sorted(places, key=lambda place: -view.span(place)[0]):
            at = view.span(place)[0] - start
            text = f"{text[:at]}-{text[at:]}"
        why = f"count {name} from the other end"
        yield view.splice((start, end), text, "negate-bounds", 0.1, why, node.lineno, "value", "order")
