"""Arithmetic: operators, operands, off by one (AOR and UOI of Offutt et al. 1996; TBar FP8, FP11)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import NUMBERS
from codeforge.engine.mutate.view import View

_OTHERS: dict[type[ast.operator], tuple[tuple[str, float], ...]] = {
    ast.Add: (("-", 0.4), ("*", 0.08)),
    ast.Sub: (("+", 0.4), ("//", 0.03)),
    ast.Mult: (("/", 0.1), ("+", 0.12), ("**", 0.06)),
    ast.Div: (("//", 0.3), ("*", 0.2), ("%", 0.05)),
    ast.FloorDiv: (("/", 0.25), ("%", 0.2), ("*", 0.1)),
    ast.Mod: (("//", 0.35), ("/", 0.05)),
    ast.Pow: (("*", 0.2),),
    ast.BitAnd: (("|", 0.45), ("^", 0.35)),
    ast.BitOr: (("&", 0.45), ("^", 0.35)),
    ast.BitXor: (("&", 0.45), ("|", 0.4)),
    ast.LShift: ((">>", 0.5),),
    ast.RShift: (("<<", 0.5),),
}
_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


def arithmetic_operator(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a + b` → `a - b`; `a += b` → `a -= b`, `a = b`."""
    if isinstance(node, ast.BinOp):
        span, suffix = (view.span(node.left)[1], view.span(node.right)[0]), ""
    elif isinstance(node, ast.AugAssign):
        span, suffix = (view.span(node.target)[1], view.span(node.value)[0]), "="
    else:
        return
    old = _SYMBOLS.get(type(node.op))
    at = view.source[span[0] : span[1]].find(f"{old}{suffix}")
    if old is None or at < 0:
        return
    allowed = _allowed(view, node)
    for new, prior in _OTHERS[type(node.op)]:
        if new not in allowed:
            continue
        where = span[0] + at, span[0] + at + len(old)
        line = node.lineno
        why = f"use {new}{suffix} instead of {old}{suffix}"
        yield view.splice(
            where, new, "arithmetic-operator", prior * (1.3 if suffix else 1.0), why, line, "value"
        )
    if suffix:
        where = span[0] + at, span[0] + at + len(old) + 1
        yield view.splice(
            where, "=", "augmented-to-plain", 0.12, f"use = instead of {old}=", node.lineno, "value"
        )


def _allowed(view: View, node: ast.BinOp | ast.AugAssign) -> frozenset[str]:
    """The operators that the operands' kinds have."""
    scope = view.scope(node)
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    kinds = scope.infer(sides[0]) | scope.infer(sides[1])
    if "set" in kinds:
        return frozenset({"-", "&", "|", "^"})
    if kinds & {"str", "list", "dict"}:
        return frozenset()
    return frozenset(_SYMBOLS.values())


def swap_operands(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a - b` → `b - a`; with `+` only where the order of the parts shows (texts and lists)."""
    if not isinstance(node, ast.BinOp):
        return
    scope = view.scope(node)
    if isinstance(node.op, ast.Add):
        kinds = scope.infer(node)
        if kinds and not kinds & {"str", "list"}:
            return
        prior = 0.4 if kinds else 0.1
    elif isinstance(node.op, ast.Sub | ast.Div | ast.Mod | ast.FloorDiv | ast.Pow):
        prior = 0.05 if isinstance(node.right, ast.Constant) else 0.25
    else:
        return
    text = view.text(node.right) + _between(view, node) + view.text(node.left)
    yield view.replace(node, text, "swap-operands", prior, f"swap the operands: {text}", "order", "value")


def drop_operand(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a + b` → `a`, `b`."""
    if not isinstance(node, ast.BinOp):
        return
    for kept, dropped in ((node.left, node.right), (node.right, node.left)):
        recursive = any(view.recursive(inner) for inner in ast.walk(kept))
        prior = 0.3 if isinstance(dropped, ast.Constant) and recursive else 0.15
        if isinstance(kept, ast.Constant):
            prior = 0.03
        text = view.text(kept)
        tags = ("value", "shrink", "off-by-one") if isinstance(dropped, ast.Constant) else ("value", "shrink")
        yield view.replace(node, text, "drop-operand", prior, f"{text} alone", *tags)


def off_by_one(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x` → `x + 1`, `x - 1` where a whole number is an index, a bound, a size or an argument."""
    if not isinstance(node, ast.expr) or isinstance(node, ast.Constant | ast.Starred | ast.Slice):
        return
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    for delta, prior, tags in _off_by_one_places(view, node):
        sign = "+" if delta > 0 else "-"
        yield from _shifted(view, node, sign, prior, tags)


def _shifted(
    view: View, node: ast.expr, sign: str, prior: float, tags: tuple[str, ...]
) -> Iterator[Proposal]:
    text = f"{_operand(view, node)} {sign} 1"
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and node.right.value == 1:
        already = "+" if isinstance(node.op, ast.Add) else "-" if isinstance(node.op, ast.Sub) else ""
        if already and already != sign:
            return  # `drop_operand` makes it
        if already:
            text, prior = f"{view.text(node.left)} {sign} 2", prior * 0.3
    yield view.replace(node, text, "off-by-one", prior, f"{text} instead of {view.text(node)}", *tags)


def _off_by_one_places(view: View, node: ast.expr) -> Iterator[tuple[int, float, tuple[str, ...]]]:
    """(+1 or -1, prior, tags) by the place that the expression stands in."""
    above = view.parent(node)
    kinds = view.scope(node).infer(node)
    number = "int" in kinds and "str" not in kinds
    if isinstance(above, ast.Call) and node in above.args:
        yield from _argument_places(view, node, above, number, kinds)
    elif isinstance(above, ast.Slice):
        yield from ((1, 0.3, ("off-by-one",)), (-1, 0.25, ("off-by-one",)))
    elif isinstance(above, ast.Subscript) and above.slice is node and not kinds - NUMBERS:
        if number or isinstance(node, ast.BinOp):
            yield from ((1, 0.3, ("off-by-one",)), (-1, 0.35, ("off-by-one",)))
    elif isinstance(above, ast.Tuple) and isinstance(view.parent(above), ast.Subscript):
        if number:
            yield from ((-1, 0.3, ("off-by-one",)), (1, 0.25, ("off-by-one",)))
    elif number and isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len":
        yield from ((-1, 0.4, ("off-by-one",)), (1, 0.25, ("off-by-one",)))
    elif number and isinstance(above, ast.Return | ast.Assign):
        yield from ((1, 0.12, ("off-by-one", "value")), (-1, 0.12, ("off-by-one", "value")))
    elif number and isinstance(above, ast.Compare) and isinstance(above.ops[0], ast.Eq | ast.NotEq):
        yield from ((1, 0.1, ("off-by-one",)), (-1, 0.12, ("off-by-one",)))


def _argument_places(
    view: View, node: ast.expr, call: ast.Call, number: bool, kinds: frozenset[str]
) -> Iterator[tuple[int, float, tuple[str, ...]]]:
    if getattr(call.func, "id", "") == "range":
        last = node is call.args[-1] if len(call.args) == 1 else node is call.args[1]
        if last:
            yield from ((1, 0.6, ("off-by-one", "grow")), (-1, 0.4, ("off-by-one", "shrink")))
        elif node is call.args[0]:
            yield from ((1, 0.25, ("off-by-one", "shrink")), (-1, 0.25, ("off-by-one", "grow")))
    elif view.recursive(call):
        if number and not isinstance(node, ast.Call):
            yield from ((1, 0.4, ("off-by-one", "recursion")), (-1, 0.4, ("off-by-one", "recursion")))
        elif not kinds and isinstance(node, ast.Name):
            yield from ((1, 0.15, ("off-by-one", "recursion")), (-1, 0.15, ("off-by-one", "recursion")))
    elif number:
        yield from ((1, 0.15, ("off-by-one",)), (-1, 0.15, ("off-by-one",)))


def add_operand(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`k` → `k - n`, `k + n` for whole numbers `n` in scope, where `k` is an argument or a bound."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    above, scope = view.parent(node), view.scope(node)
    argument = isinstance(above, ast.Call) and node in above.args
    if not argument and not isinstance(above, ast.Slice | ast.Return):
        return
    kinds = scope.infer(node)
    if "int" not in kinds or kinds & {"list", "str", "dict", "set"}:
        return
    base = 0.2 if argument and _passed_on(view, node) else 0.05
    if argument and not view.recursive(above or node):
        base = 0.04
    for name in view.names_at(node):
        if name == node.id or "int" not in scope.kinds_of_name(name):
            continue
        near = 1.5 if _guards(view, node, name) else 1.0
        for sign, share in (("-", 1.0), ("+", 0.6)):
            text = f"{node.id} {sign} {name}"
            yield view.replace(
                node, text, "add-operand", base * share * near, f"{text} instead of {node.id}", "value"
            )


def square(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x` → `x * x` as an operand (a power left out)."""
    if not isinstance(node, ast.Name) or not isinstance(view.parent(node), ast.BinOp):
        return
    kinds = view.scope(node).infer(node)
    if not kinds & NUMBERS or kinds & {"list", "str"}:
        return
    prior = 0.12 if "float" in kinds else 0.03
    yield view.replace(node, f"{node.id} * {node.id}", "square", prior, f"square {node.id}", "value")


def _passed_on(view: View, node: ast.Name) -> bool:
    """A parameter handed to the recursive call unchanged."""
    return view.recursive(view.parent(node) or node) and node.id in view.scope(node).params


def _guards(view: View, node: ast.AST, name: str) -> bool:
    """Whether a condition around the node reads `name`."""
    for above in view.ancestors(node):
        if isinstance(above, ast.If | ast.While):
            names = {inner.id for inner in ast.walk(above.test) if isinstance(inner, ast.Name)}
            if name in names:
                return True
    return False


def _between(view: View, node: ast.BinOp) -> str:
    """The operator and the white space around it."""
    symbol = _SYMBOLS.get(type(node.op), "@")
    spaced = view.source[view.span(node.left)[1] : view.span(node.right)[0]]
    return f" {symbol} " if " " in spaced or "\n" in spaced else symbol


def _operand(view: View, node: ast.expr) -> str:
    text = view.text(node)
    whole = isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda)
    return f"({text})" if whole else text


def ceiling_division(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a // b` → `-(-a // b)`: a quotient that was to be rounded up."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
        return
    halves = isinstance(node.right, ast.Constant)
    left = view.text(node.left)
    atom = left if isinstance(node.left, ast.Name | ast.Call | ast.Attribute | ast.Subscript) else f"({left})"
    text = f"-(-{atom} // {view.text(node.right)})"
    prior = 0.04 if halves else 0.15
    yield view.replace(node, text, "ceiling-division", prior, f"round up: {text}", "value", "off-by-one")
