"""Expressions replaced by others from the same function: the code for a repair is usually near (the
plastic surgery hypothesis, Barr et al. 2014; GenProg, Le Goues et al. 2012)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import compatible
from codeforge.engine.mutate.view import View


def assignment_target(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a[k] = f(b[j])` → `b[j] = f(b[j])`: the target replaced by one that the function reads or writes."""
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Subscript | ast.Attribute | ast.Name):
        return
    own = view.text(target)
    seen = {own}
    for inner in ast.walk(node.value):
        if isinstance(inner, ast.Subscript | ast.Attribute) and type(inner) is type(target):
            text = view.text(inner)
            called = (
                isinstance(view.parent(inner), ast.Call)
                and getattr(view.parent(inner), "func", None) is inner
            )
            if text not in seen and not called:
                seen.add(text)
                why = f"assign to {text} instead of {own}"
                yield view.replace(target, text, "assignment-target", 0.25, why, "value", "name")
    if isinstance(target, ast.Name):
        for name in view.names_at(node)[:8]:
            stored = len(view.scope(node).stores.get(name, []))
            if name not in seen and stored:
                kinds = view.scope(node).kinds_of_name(name), view.scope(node).kinds_of_name(target.id)
                if compatible(*kinds):
                    why = f"assign to {name} instead of {own}"
                    yield view.replace(target, name, "assignment-target", 0.04, why, "value", "name")


def expression_by_name(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`f(x) + y` → `v + y`: a call or subscript replaced by a local that could hold that value."""
    if not isinstance(node, ast.Call | ast.Subscript) or not isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        return
    above = view.parent(node)
    if not isinstance(above, ast.BinOp | ast.Call | ast.Return | ast.Compare | ast.BoolOp):
        return
    if isinstance(above, ast.Call) and node not in above.args:
        return
    scope = view.scope(node)
    kinds = scope.infer(node)
    read = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    for name in view.names_at(node)[:8]:
        other = scope.kinds_of_name(name)
        if name in read or "function" in other or not compatible(kinds, other):
            continue
        local = name not in scope.params
        rarely = len(scope.loads.get(name, [])) <= 1
        prior = 0.05 * (1.5 if local else 0.7) * (2.0 if rarely else 1.0)
        why = f"{name} instead of {view.text(node)}"
        yield view.replace(node, name, "expression-by-name", prior, why, "value")


def index_by_index(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`a[i]` → `a[j]` for another index that the function uses on the same collection."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return
    own, value = view.text(node.slice), view.text(node.value)
    others: dict[str, None] = {}
    for inner in ast.walk(view.scope(node).node):
        if isinstance(inner, ast.Subscript) and not isinstance(inner.slice, ast.Slice):
            text = view.text(inner.slice)
            if view.text(inner.value) == value and text != own:
                others[text] = None
    for text in list(others)[:3]:
        why = f"{value}[{text}] instead of {value}[{own}]"
        yield view.replace(node.slice, text, "index-by-index", 0.08, why, "value")


def name_by_expression(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`r[k] = f(base, v)` → `r[k] = f(r[k], v)`: an argument replaced by the place assigned to, or by what
    the condition around it tests."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    call = view.parent(node)
    if not isinstance(call, ast.Call) or node not in call.args:
        return
    statement = view.statement(node)
    found: dict[str, float] = {}
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript | ast.Attribute):
        found[view.text(statement.targets[0])] = 0.12
    branch = view.parent(statement) if statement is not None else None
    if isinstance(branch, ast.If | ast.While):
        for inner in ast.walk(branch.test):
            if isinstance(inner, ast.Subscript | ast.Attribute) and not isinstance(
                view.parent(inner), ast.Call
            ):
                found.setdefault(view.text(inner), 0.05)
    for text, prior in found.items():
        why = f"{text} instead of {node.id}"
        yield view.replace(node, text, "name-by-expression", prior, why, "value", "name")
