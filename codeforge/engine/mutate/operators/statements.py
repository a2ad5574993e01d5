"""Whole statements: deleted, moved, changed in kind (Kali's deletions, Qi et al. 2015; GenProg's delete and
swap; TBar FP14 and FP15)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import NUMBERS
from codeforge.engine.mutate.view import View

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Continue, ast.Break)


def delete_statement(view: View, node: ast.AST) -> Iterator[Proposal]:
    """A simple statement, or an `if` without `else`, taken out."""
    droppable = isinstance(node, _SIMPLE) or (isinstance(node, ast.If) and not node.orelse)
    if not droppable or not isinstance(node, ast.stmt) or _docstring(node) or not view.owns_its_lines(node):
        return
    if isinstance(view.parent(node), ast.If) and view.lines[node.lineno - 1].lstrip().startswith("elif"):
        return
    first_binding = isinstance(node, ast.Assign) and _binds_first(view, node)
    attribute = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    prior = 0.02 if first_binding or attribute else 0.06 if isinstance(node, ast.If) else 0.1
    text = f"{view.indent(node)}pass\n" if len(view.block(node)) == 1 else ""
    why = f"delete {_first_line(view, node)}"
    yield view.splice(_lines(view, node), text, "delete-statement", prior, why, node.lineno, "shrink")


def swap_statements(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Two simple statements that follow each other, exchanged."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) or _docstring(node):
        return
    block = view.block(node)
    place = block.index(node)
    if place + 1 >= len(block):
        return
    after = block[place + 1]
    if not isinstance(after, ast.Assign | ast.AugAssign | ast.Expr) or not _touch(node, after):
        return
    if not view.owns_its_lines(node) or not view.owns_its_lines(after):
        return
    one, other = _lines(view, node), _lines(view, after)
    text = view.source[other[0] : other[1]].rstrip("\n") + "\n"
    text += view.source[one[1] : other[0]] + view.source[one[0] : one[1]]
    why = f"swap with the next statement: {_first_line(view, node)}"
    yield view.splice((one[0], other[1]), text, "swap-statements", 0.1, why, node.lineno, "order")


def move_out(view: View, node: ast.AST) -> Iterator[Proposal]:
    """The last statement of a block, moved behind the block (out of the loop or the condition)."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return):
        return
    block, above = view.block(node), view.parent(node)
    if len(block) < 2 or block[-1] is not node or not isinstance(above, ast.For | ast.While | ast.If):
        return
    if not view.owns_its_lines(node) or above.end_lineno != node.end_lineno:
        return
    indent = view.indent(above)
    if view.lines[above.lineno - 1].lstrip().startswith("elif"):
        return
    text = _reindented(view, node, indent)
    why = f"move out of the block: {_first_line(view, node)}"
    yield view.splice(_lines(view, node), text, "move-out", 0.15, why, node.lineno, "branch")


def move_in(view: View, node: ast.AST) -> Iterator[Proposal]:
    """The statement after a loop or condition, moved into it."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return) or not view.owns_its_lines(
        node
    ):
        return
    block = view.block(node)
    place = block.index(node)
    before = block[place - 1] if place else None
    if not isinstance(before, ast.For | ast.While | ast.If) or not view.owns_its_lines(before):
        return
    inner = (before.orelse or before.body)[-1]
    if inner.lineno == before.lineno or (len(block) == 1):
        return
    text = _reindented(view, node, view.indent(inner))
    prior = 0.03 if isinstance(node, ast.Return) else 0.1
    why = f"move into the block before: {_first_line(view, node)}"
    if place + 1 < len(block) or not isinstance(node, ast.Return):
        yield view.splice(_lines(view, node), text, "move-in", prior, why, node.lineno, "branch")


def call_to_assignment(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`x.update(y)` → `x = y`; `x.append(y)` → `x = y`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return
    function = node.value.func
    if not isinstance(function, ast.Attribute) or function.attr not in ("update", "append", "extend", "add"):
        return
    stored = isinstance(function.value, ast.Subscript | ast.Attribute)
    prior = 0.15 if stored and function.attr == "update" else 0.03
    text = f"{view.text(function.value)} = {view.text(node.value.args[0])}"
    yield view.splice(view.span(node), text, "call-to-assignment", prior, text, node.lineno, "value")


def plain_to_augmented(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`total = x` in a loop → `total += x`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or view.loop(node) is None:
        return
    target = node.targets[0]
    if not isinstance(target, ast.Name | ast.Subscript | ast.Attribute) or isinstance(
        node.value, ast.Constant
    ):
        return
    own = view.text(target)
    kinds = view.scope(node).infer(target)
    if kinds and not kinds & (NUMBERS | {"str", "list"}):
        return
    read = any(isinstance(inner, ast.expr) and view.text(inner) == own for inner in ast.walk(node.value))
    before = isinstance(target, ast.Name) and len(view.scope(node).stores.get(own, [])) > 1
    if read or not (before or not isinstance(target, ast.Name)):
        return
    span = view.span(target)[1], view.span(node.value)[0]
    why = f"{own} += instead of ="
    yield view.splice(span, " += ", "plain-to-augmented", 0.15, why, node.lineno, "value")


def loop_exit(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`break` ↔ `continue`; `yield x` ↔ `return x`; `yield x` ↔ `yield from x`."""
    if isinstance(node, ast.Break | ast.Continue):
        new = "continue" if isinstance(node, ast.Break) else "break"
        yield view.splice(
            view.span(node), new, "loop-exit", 0.3, f"{new} instead", node.lineno, "loop", "branch"
        )
    elif isinstance(node, ast.Yield) and node.value is not None:
        recursive = view.recursive(node.value)
        text = f"yield from {view.text(node.value)}"
        prior = 0.3 if recursive else 0.05
        yield view.splice(view.span(node), text, "yield-from", prior, text, node.lineno, "unwrap", "type")
    elif isinstance(node, ast.YieldFrom):
        text = f"yield {view.text(node.value)}"
        yield view.splice(view.span(node), text, "yield-from", 0.15, text, node.lineno, "type")


def _lines(view: View, node: ast.stmt) -> tuple[int, int]:
    assert node.end_lineno is not None
    return view.line_start(node.lineno), view.line_start(node.end_lineno + 1)


def _reindented(view: View, node: ast.stmt, indent: str) -> str:
    old = view.indent(node)
    start, end = _lines(view, node)
    lines = view.source[start:end].rstrip("\n").split("\n")
    return "".join(f"{indent}{line.removeprefix(old)}\n" for line in lines)


def _first_line(view: View, node: ast.stmt) -> str:
    return view.text(node).split("\n", 1)[0]


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _binds_first(view: View, node: ast.Assign) -> bool:
    target = node.targets[0]
    if not isinstance(target, ast.Name):
        return isinstance(target, ast.Tuple)
    return view.scope(node).stores.get(target.id, [0])[0] == node.lineno


def _touch(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether the order of two statements can matter: they share a name."""
    names = [{inner.id for inner in ast.walk(item) if isinstance(inner, ast.Name)} for item in (one, other)]
    return bool(names[0] & names[1])
