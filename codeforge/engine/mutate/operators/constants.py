"""Constants (literal replacement: TBar FP9; "change numeric literal" and "change boolean literal" of
ManySStuBs4J, Karampatsis and Sutton 2020)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.view import View


def integer_constant(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`c` → `c + 1`, `c - 1`, 0 and 1, and the other sign."""
    if not isinstance(node, ast.Constant) or type(node.value) is not int:
        return
    value, above = node.value, view.parent(node)
    if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.USub):
        value = -value
        node = above
    in_comparison = isinstance(above, ast.Compare)
    # `x < 2` for `x < 1` says the same as `x <= 1`, which another operator proposes.
    base = (
        0.2 if in_comparison else 0.1 if isinstance(above, ast.Set | ast.List | ast.Dict | ast.Tuple) else 0.3
    )
    candidates = [(value + 1, base), (value - 1, base), (0, base * 0.6), (1, base * 0.6)]
    candidates += [(-value, 0.08)] if value not in (0, 1) else []
    seen = {value}
    for new, prior in candidates:
        if new in seen or (new < 0 and in_comparison and value == 0):
            continue
        seen.add(new)
        why = f"{new} instead of {value}"
        yield view.replace(node, str(new), "integer-constant", prior, why, "off-by-one", "value")


def boolean_constant(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`True` ↔ `False`."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, bool):
        return
    if isinstance(view.parent(node), ast.While):
        return
    new = str(not node.value)
    yield view.replace(node, new, "boolean-constant", 0.35, f"{new} instead of {node.value}", "bool")


def text_constant(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`''` ↔ `' '` (a separator), and the other case of a single letter."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    statement = view.parent(node)
    if isinstance(statement, ast.Expr | ast.JoinedStr | ast.FormattedValue) or len(node.value) > 1:
        return
    for new in {"": (" ",), " ": ("",)}.get(node.value, (node.value.swapcase(),)):
        if new != node.value:
            yield view.replace(
                node, repr(new), "text-constant", 0.06, f"{new!r} instead of {node.value!r}", "value"
            )


def empty_list(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`[]` → `[[]]`, `[x]`: the neutral element of a recursion, or the value itself, left out."""
    if not isinstance(node, ast.List) or not isinstance(node.ctx, ast.Load):
        return
    returned = isinstance(view.parent(node), ast.Return)
    if not node.elts:
        yield view.replace(
            node, "[[]]", "empty-list", 0.3 if returned else 0.08, "[[]] instead of []", "grow"
        )
        for name in view.names_at(node)[:8]:
            parameter = name in view.scope(node).params
            prior = (0.3 if parameter else 0.15) if returned else 0.04
            kinds = view.scope(node).kinds_of_name(name)
            if kinds & {"list", "dict", "set"}:
                prior *= 0.5
            yield view.replace(node, f"[{name}]", "empty-list", prior, f"[{name}] instead of []", "grow")
    elif len(node.elts) == 1:
        text = view.text(node.elts[0])
        if isinstance(node.elts[0], ast.List):
            yield view.replace(node, text, "unwrap-list", 0.1, f"{text} without the list around", "shrink")
        elif returned:
            yield view.replace(node, "[]", "unwrap-list", 0.1, "[] instead", "shrink")
