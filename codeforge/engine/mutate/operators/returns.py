"""Results: constants returned where a computed value was meant, parts left out of a result."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import NUMBERS, Scope, is_object
from codeforge.engine.mutate.view import View


def computed_result(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`return True` → `return depth == 0`, `return not depth`, for a local that starts with a constant;
    `return 0` → `return count`."""
    if not isinstance(node, ast.Return) or not isinstance(node.value, ast.Constant):
        return
    scope, value = view.scope(node), node.value
    boolean = isinstance(value.value, bool)
    for name in view.names_at(node):
        start = _initial_constant(scope, name)
        updated = len(scope.stores.get(name, [])) > 1
        if boolean and start is not None and updated:
            last = 1.0 if view.loop(node) is None else 0.3
            operator = "==" if value.value else "!="
            new = f"{name} {operator} {start}"
            yield view.replace(value, new, "computed-result", 0.35 * last, f"return {new}", "bool")
        elif not boolean and name not in scope.params and "function" not in scope.kinds_of_name(name):
            prior = 0.2 if scope.never_read(name) else 0.1
            yield view.replace(value, name, "computed-result", prior, f"return {name}", "value", "type")
        elif not boolean and name in scope.params:
            yield view.replace(value, name, "computed-result", 0.08, f"return {name}", "value", "type")


def add_to_result(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`return E` → `return v + E`, `return E + v` for a local of a kind that adds up with it; and
    `return f(x)` → `return y + f(x)` in a recursion."""
    if (
        not isinstance(node, ast.Return)
        or node.value is None
        or isinstance(node.value, ast.Constant | ast.Name)
    ):
        return
    value, scope = node.value, view.scope(node)
    kinds, text = scope.infer(value), view.text(value)
    if kinds & {"bool", "dict", "set"}:
        return
    loose = isinstance(value, ast.IfExp | ast.BoolOp | ast.Compare | ast.Lambda)
    operand = f"({text})" if loose else text
    for name in view.names_at(node)[:8]:
        other = scope.kinds_of_name(name)
        if "function" in other or is_object(other) or name in view.inner_names(value):
            continue
        alike = bool(kinds & other & {"list", "str"}) or (bool(kinds & NUMBERS) and bool(other & NUMBERS))
        derived = name not in scope.params
        if not alike and (kinds or other) and not (derived and not other):
            continue
        prior = (0.18 if alike else 0.1) * (1.3 if derived else 0.6)
        for new, share in ((f"{name} + {operand}", 1.0), (f"{operand} + {name}", 0.9)):
            yield view.replace(value, new, "add-to-result", prior * share, f"return {new}", "grow")


def missing_return(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`f(x)` as the last statement → `return f(x)`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return
    block = view.block(node)
    recursive = view.recursive(node.value)
    if block[-1] is not node and not recursive:
        return
    if view.function(node) is None:
        return
    start = view.span(node)[0]
    why = f"return {view.text(node.value)}"
    prior = 0.3 if recursive else 0.08
    yield view.splice((start, start), "return ", "missing-return", prior, why, node.lineno, "type")


def _initial_constant(scope: Scope, name: str) -> str | None:
    """The constant that a local starts with, as source."""
    if name in scope.params:
        return None
    for inner in ast.walk(scope.node):
        if isinstance(inner, ast.Assign) and len(inner.targets) == 1:
            target = inner.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                value = inner.value
                if isinstance(value, ast.Constant):
                    return repr(value.value)
                return "[]" if isinstance(value, ast.List) and not value.elts else None
    return None
