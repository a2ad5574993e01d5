"""Names, attributes and functions mistaken for one another ("change identifier used", "change attribute
used" and "wrong function name" of ManySStuBs4J; variable replacement of PAR, Kim et al. 2013; TBar FP13)."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import compatible
from codeforge.engine.mutate.view import View

_MOST_NAMES = 6
_REPLACE_NAME = 0.18
_SIBLINGS = (
    ("any", "all"), ("min", "max"), ("append", "extend"), ("add", "update"), ("add", "discard"),
    ("add", "remove"), ("pop", "popleft"), ("append", "appendleft"), ("startswith", "endswith"),
    ("find", "rfind"), ("find", "index"), ("index", "rindex"), ("lstrip", "rstrip"), ("strip", "rstrip"),
    ("strip", "lstrip"), ("lower", "upper"), ("keys", "values"), ("keys", "items"), ("values", "items"),
    ("floor", "ceil"), ("sin", "cos"), ("sorted", "reversed"), ("round", "int"), ("int", "float"),
    ("list", "set"), ("issubset", "issuperset"), ("union", "intersection"), ("split", "rsplit"),
    ("partition", "rpartition"), ("bisect_left", "bisect_right"), ("insort_left", "insort_right"),
    ("setdefault", "get"), ("heappushpop", "heapreplace"), ("sum", "len"), ("encode", "decode"),
    ("loads", "dumps"), ("search", "match"), ("match", "fullmatch"), ("islower", "isupper"),
    ("isdigit", "isalnum"), ("isalpha", "isalnum"), ("remove", "discard"), ("sort", "reverse"),
)  # fmt: skip
_STRONG = {("any", "all"), ("min", "max"), ("floor", "ceil"), ("find", "rfind")}


def replace_name(view: View, node: ast.AST) -> Iterator[Proposal]:
    """A local name by another that could stand there. A name that is bound and never read, or a
    parameter never used, is a likely one."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    above, scope = view.parent(node), view.scope(node)
    if isinstance(above, ast.Call) and above.func is node:
        return
    kinds, names = scope.infer(node), view.names_at(node)
    if node.id not in names:
        return
    called = "function" in kinds
    twice = _read_twice(view, node)
    ranked: list[tuple[float, str]] = []
    for name in names + (_nested_functions(scope.node) if called else []):
        other = scope.kinds_of_name(name)
        if name == node.id or ("function" in other) != called or not compatible(kinds, other):
            continue
        prior = _REPLACE_NAME * (1.5 if kinds & other else 1.0) * _likeness(node.id, name)
        if twice:
            prior *= 1.4
        if _unused(view, node, name):
            prior *= 3.0
        if _elsewhere(view, node, name):
            prior *= 0.6  # `f(a, b)` → `f(b, b)`
        ranked.append((prior, name))
    ranked.sort(key=lambda item: (-item[0], item[1]))
    for prior, name in ranked[:_MOST_NAMES]:
        yield view.replace(node, name, "replace-name", prior, f"{name} instead of {node.id}", "value", "name")


def _read_twice(view: View, node: ast.Name) -> bool:
    """Whether the statement reads the same name somewhere else too: one of the two may be the slip."""
    statement = view.statement(node)
    if statement is None or hasattr(statement, "body"):
        return False
    reads = [inner for inner in ast.walk(statement) if isinstance(inner, ast.Name) and inner.id == node.id]
    return len([inner for inner in reads if isinstance(inner.ctx, ast.Load)]) > 1


def _nested_functions(node: ast.AST) -> list[str]:
    return [
        inner.name for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef) and inner is not node
    ]


def replace_attribute(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x.outgoing` → `x.incoming`: another attribute that this file uses, alike or on the same object."""
    if not isinstance(node, ast.Attribute):
        return
    called = isinstance(view.parent(node), ast.Call) and getattr(view.parent(node), "func", None) is node
    if called:
        return
    others = [name for name in view.attributes if name != node.attr]
    stored = not isinstance(node.ctx, ast.Load)
    base = 0.12 if stored else 0.35
    ranked = [(base * (_likeness(node.attr, name) - 0.5), name) for name in others]
    ranked.sort(key=lambda item: (-item[0], item[1]))
    start = view.span(node)[1] - len(node.attr)
    for prior, name in ranked[:4]:
        why = f".{name} instead of .{node.attr}"
        span = start, view.span(node)[1]
        yield view.splice(span, name, "replace-attribute", prior, why, node.end_lineno or node.lineno, "name")


def sibling_function(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`any` → `all`, `append` → `extend`, `min` → `max`: functions that are easily taken for each other."""
    if not isinstance(node, ast.Call):
        return
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    end = view.span(function)[1]
    span = end - len(name), end
    for pair in _SIBLINGS:
        if name in pair:
            new = pair[1] if name == pair[0] else pair[0]
            if {"popleft", "appendleft"} & set(pair) and "deque" not in view.source:
                continue
            prior = 0.5 if pair in _STRONG else 0.2
            why = f"{new} instead of {name}"
            line = function.end_lineno or node.lineno
            yield view.splice(span, new, "sibling-function", prior, why, line, "value", "call")
    if isinstance(function, ast.Name) and name in view.functions:
        for other in view.functions:
            if other != name and not other.startswith("__"):
                prior = 0.12 * _likeness(name, other)
                why = f"call {other} instead of {name}"
                yield view.splice(span, other, "replace-function", prior, why, node.lineno, "call")


def _likeness(one: str, other: str) -> float:
    """From 0.8 for names that share nothing to 1.6 for names that share most."""
    return 0.8 + 0.8 * SequenceMatcher(None, one, other, autojunk=False).ratio()


def _unused(view: View, node: ast.AST, name: str) -> bool:
    """Bound in this function and read nowhere, or only to build it up (`counts[x] += 1`)."""
    scope = view.scope(node)
    return name in scope.stores and all(_builds_up(view, load) for load in scope.load_nodes.get(name, []))


def _builds_up(view: View, load: ast.Name) -> bool:
    above = view.parent(load)
    if isinstance(above, ast.Subscript) and above.value is load:
        return isinstance(above.ctx, ast.Store)
    grand = view.parent(above) if above is not None else None
    return (
        isinstance(above, ast.Attribute)
        and above.attr in ("append", "add", "extend", "update")
        and isinstance(grand, ast.Call)
        and isinstance(view.parent(grand), ast.Expr)
    )


def _elsewhere(view: View, node: ast.AST, name: str) -> bool:
    """Whether the same call or operation already reads `name`."""
    above = view.parent(node)
    if above is None or isinstance(above, ast.stmt):
        return False
    return any(
        isinstance(inner, ast.Name) and inner.id == name
        for child in ast.iter_child_nodes(above)
        for inner in ([child] if isinstance(child, ast.Name) else [])
    )
