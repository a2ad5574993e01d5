"""Calls: arguments swapped or dropped, a call too many or too few (PAR's parameter templates, Kim et al.
2013; TBar FP10; "swap arguments" of ManySStuBs4J)."""

import ast
import itertools
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import NUMBERS, compatible
from codeforge.engine.mutate.view import View

_CONVERSIONS = frozenset(
    ["list", "tuple", "set", "dict", "int", "float", "str", "len", "range", "enumerate", "zip"]
)


def swap_arguments(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`f(a, b)` → `f(b, a)`."""
    if not isinstance(node, ast.Call) or not 2 <= len(node.args) <= 5:
        return
    if isinstance(node.func, ast.Name) and node.func.id in ("range", "isinstance", "min", "max", "zip"):
        return
    scope, recursive = view.scope(node), view.recursive(node)
    for one, other in itertools.combinations(node.args, 2):
        if not compatible(scope.infer(one), scope.infer(other)) or isinstance(one, ast.Starred):
            continue
        adjacent = node.args.index(other) - node.args.index(one) == 1
        prior = (0.3 if recursive else 0.22) * (1.0 if adjacent else 0.5)
        why = f"swap the arguments {view.text(one)} and {view.text(other)}"
        yield _swap(view, one, other, "swap-arguments", prior, why, "recursion", "order")


def swap_elements(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`d[a, b]` → `d[b, a]`, `(a, b)` → `(b, a)`, `x, y = y, x`."""
    if not isinstance(node, ast.Tuple | ast.List) or not 2 <= len(node.elts) <= 3:
        return
    above = view.parent(node)
    key = isinstance(above, ast.Subscript)
    base = 0.35 if key else 0.15 if isinstance(node, ast.Tuple) else 0.08
    for one, other in itertools.pairwise(node.elts):
        if view.text(one) != view.text(other) and not isinstance(other, ast.Starred):
            why = f"swap {view.text(one)} and {view.text(other)}"
            yield _swap(view, one, other, "swap-elements", base, why, "order")


def unwrap_call(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`f(x)` → `x`."""
    if not isinstance(node, ast.Call) or not node.args or isinstance(view.parent(node), ast.Expr):
        return
    if isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        return
    name = getattr(node.func, "id", "")
    single = len(node.args) == 1 and not node.keywords
    if single:
        prior = 0.35 if view.recursive(node) else 0.03 if name in _CONVERSIONS else 0.15
        if isinstance(view.parent(node), ast.Yield):
            prior *= 1.3
    else:
        prior = 0.08
    for argument in node.args[:3]:
        text = view.text(argument)
        yield view.replace(node, text, "unwrap-call", prior, f"{text} itself", "unwrap")


def wrap_in_extreme(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`best = value` → `best = max(best, value)`, and bounds at 0: a running extreme that was overwritten."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or view.loop(node) is None:
        return
    target, value, scope = node.targets[0], node.value, view.scope(node)
    if not isinstance(target, ast.Name | ast.Subscript | ast.Attribute):
        return
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("max", "min"):
        return
    kinds = scope.infer(value) | scope.infer(target)
    if isinstance(value, ast.Constant) or (kinds and not kinds & NUMBERS):
        return
    name = target.id if isinstance(target, ast.Name) else ""
    initialised = len(scope.stores.get(name, [])) > 1
    text, left = view.text(value), view.text(target)
    likely = (
        1.5 if any(part in name for part in ("max", "min", "best", "long", "short", "most", "least")) else 1.0
    )
    certain = (1.0 if initialised or not name else 0.3) * (1.0 if kinds else 0.4)
    for function, share in (("max", 1.0), ("min", 0.6)):
        for other, prior in ((left, 0.25), ("0", 0.15)):
            if (text, other) == (left, left):
                continue
            new = f"{function}({other}, {text})"
            prior *= share * likely * certain
            yield view.replace(value, new, "wrap-in-extreme", prior, f"{left} = {new}", "value")


def wrap_in_call(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`for x in xs` → `for x in list(xs)`, `sorted(xs)`, `reversed(xs)`; numbers in `abs`."""
    if isinstance(node, ast.For) and not isinstance(node.iter, ast.Call | ast.Constant):
        text = view.text(node.iter)
        for function, prior in (("list", 0.08), ("reversed", 0.06), ("sorted", 0.06), ("set", 0.02)):
            tags = ("copy",) if function == "list" else ("order",)
            why = f"loop over {function}({text})"
            yield view.replace(node.iter, f"{function}({text})", "wrap-in-call", prior, why, *tags)
    elif (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and not isinstance(view.parent(node), ast.BinOp)
    ):
        if isinstance(node.right, ast.Constant) or view.scope(node).infer(node) & {"set", "list"}:
            return
        text = f"abs({view.text(node)})"
        yield view.replace(node, text, "wrap-in-call", 0.05, text, "value")
    elif isinstance(node, ast.Return | ast.Yield) and node.value is not None:
        yield from _wrap_result(view, node.value)


def _wrap_result(view: View, value: ast.expr) -> Iterator[Proposal]:
    kinds, text = view.scope(value).infer(value), view.text(value)
    if isinstance(value, ast.Constant) or (kinds and not kinds & {"list", "set", "str", "dict"}):
        return
    known = 1.0 if kinds else 0.5
    for function, prior, tag in (("list", 0.05, "type"), ("sorted", 0.06, "order"), ("len", 0.02, "type")):
        why = f"return {function}({text})"
        yield view.replace(value, f"{function}({text})", "wrap-in-call", prior * known, why, tag)
    if not kinds or kinds & {"list", "str"}:
        why = f"return {text} reversed"
        yield view.replace(value, f"{_atom(value, text)}[::-1]", "reverse-result", 0.1 * known, why, "order")


def drop_argument(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`f(a, b)` → `f(a)`; `f(a, key=k)` → `f(a)`."""
    if not isinstance(node, ast.Call) or len(node.args) + len(node.keywords) < 2:
        return
    if view.recursive(node) or (isinstance(node.func, ast.Name) and node.func.id in view.functions):
        return
    parts = [*node.args, *[word.value for word in node.keywords]]
    texts = [view.text(argument) for argument in node.args]
    texts += [
        f"{word.arg}={view.text(word.value)}" if word.arg else f"**{view.text(word.value)}"
        for word in node.keywords
    ]
    function = view.text(node.func)
    for place in range(len(parts)):
        text = f"{function}({', '.join(texts[:place] + texts[place + 1 :])})"
        why = f"without the argument {texts[place]}"
        yield view.replace(node, text, "drop-argument", 0.05, why, "call")


def _swap(
    view: View, one: ast.expr, other: ast.expr, operator: str, prior: float, why: str, *tags: str
) -> Proposal:
    first, second = view.span(one), view.span(other)
    text = view.text(other) + view.source[first[1] : second[0]] + view.text(one)
    return view.splice((first[0], second[1]), text, operator, prior, why, one.lineno, *tags)


def _atom(node: ast.expr, text: str) -> str:
    simple = isinstance(node, ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.List | ast.ListComp)
    return text if simple else f"({text})"


def swap_names(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Two locals exchanged all over one expression: `max(b, min(a, x))` → `max(a, min(b, x))`."""
    if not isinstance(node, ast.Return | ast.Assign | ast.Expr) or node.value is None:
        return
    places = [
        inner
        for inner in ast.walk(node.value)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
    ]
    local, scope = set(view.names_at(node)), view.scope(node)
    names = [name for name in dict.fromkeys(place.id for place in places) if name in local]
    if len(names) > 5 or any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(node.value)):
        return
    start, end = view.span(node.value)
    for one, other in itertools.combinations(names, 2):
        if not compatible(scope.kinds_of_name(one), scope.kinds_of_name(other)):
            continue
        text, exchange = view.source[start:end], {one: other, other: one}
        for place in sorted(places, key=lambda place: -view.span(place)[0]):
            if place.id in exchange:
                at = view.span(place)[0] - start
                text = text[:at] + exchange[place.id] + text[at + len(place.id) :]
        why = f"exchange {one} and {other}"
        yield view.splice((start, end), text, "swap-names", 0.1, why, node.lineno, "order", "name")
