"""Statements that are missing: bookkeeping of collections, updates of loop variables, what is left after a
loop (insertion operators of GenProg, Le Goues et al. 2012; TBar FP12 and FP15)."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import NUMBERS, Scope, compatible, own_nodes
from codeforge.engine.mutate.view import View


def record_element(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Insert `seen.add(x)` or `stack.append(x)`: a collection that is read and that nothing is added to."""
    if not isinstance(node, ast.stmt) or view.block(node)[0] is not node or not _insertable(view, node):
        return
    if not isinstance(view.parent(node), ast.If | ast.For | ast.While | ast.FunctionDef):
        return
    scope = view.scope(node)
    names = view.names_at(node)
    for collection in names:
        kinds = scope.kinds_of_name(collection)
        method = "add" if "set" in kinds else "append" if "list" in kinds else ""
        if not method:
            continue
        owner = _owner(scope, collection)
        forgotten = owner is not None and owner.never_grown(collection)
        if not forgotten and collection in scope.params:
            continue
        for element, likely in _elements(view, node, collection, names):
            prior = (0.3 if forgotten else 0.02) * likely
            text = f"{collection}.{method}({element})"
            yield from _at_both_ends(view, node, text, "record-element", prior)


def _elements(view: View, node: ast.stmt, collection: str, names: list[str]) -> Iterator[tuple[str, float]]:
    """Names that could be put into the collection, the likeliest first."""
    scope = view.scope(node)
    looked_up = _looked_up(scope, collection)
    looped = {
        name.id
        for loop in _loops_around(view, node)
        for name in ast.walk(loop.target)
        if isinstance(name, ast.Name)
    }
    found: list[tuple[float, str]] = []
    for name in names:
        kinds = scope.kinds_of_name(name)
        if name == collection or kinds & {"list", "set", "dict", "function"}:
            continue
        likely = 1.0 if name in looked_up else 0.8 if name in looped else 0.25
        found.append((likely, name))
    found.sort(key=lambda item: -item[0])
    yield from ((name, likely) for likely, name in found[:3])


def _at_both_ends(view: View, first: ast.stmt, text: str, operator: str, prior: float) -> Iterator[Proposal]:
    """The statement `text` at the beginning and at the end of the block that `first` begins."""
    last = view.block(first)[-1]
    inner_block = isinstance(view.parent(first), ast.If)
    whole = 1.0 if inner_block or view.loop(first) else 0.7
    beginning = prior * whole * (0.8 if len(view.block(first)) > 1 else 1.0)
    yield _before(view, first, text, operator, beginning, f"insert {text}", "insert", "grow")
    if not isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break):
        yield _after(view, last, text, operator, prior * whole, f"insert {text}", "insert", "grow")


def update_variable(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Insert `a = b` in a loop for an `a` that is set before the loop, read in it or after it, and never
    updated; insert `i += 1` where the loop's condition never changes."""
    if not isinstance(node, ast.For | ast.While):
        return
    scope = view.scope(node)
    changed = _stored(node.body) | (_stored([node]) if isinstance(node, ast.For) else set())
    last = node.body[-1]
    if not _insertable(view, last):
        return
    read_inside = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    for stale in _stale(scope, node, changed):
        for source in view.names_at(last):
            if source == stale or not compatible(scope.kinds_of_name(stale), scope.kinds_of_name(source)):
                continue
            if "function" in scope.kinds_of_name(source) | scope.kinds_of_name(stale):
                continue
            prior = 0.3 * (1.0 if source in changed else 0.3) * (1.0 if stale in read_inside else 0.5)
            text = f"{stale} = {source}"
            overwritten = isinstance(last, ast.Assign) and source in _stored([last])
            if overwritten:
                yield _before(view, last, text, "update-variable", prior, f"insert {text}", "insert", "loop")
                prior *= 0.5
            yield _after(view, last, text, "update-variable", prior, f"insert {text}", "insert", "loop")
    if isinstance(node, ast.While):
        tested = [name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)]
        for name in dict.fromkeys(tested):
            if name not in changed and scope.kinds_of_name(name) & NUMBERS:
                for sign, prior in (("+", 0.3), ("-", 0.2)):
                    text = f"{name} {sign}= 1"
                    yield _after(
                        view, last, text, "update-counter", prior, f"insert {text}", "insert", "loop"
                    )


def flush_after_loop(view: View, node: ast.AST) -> Iterator[Proposal]:
    """After a loop that collects with `xs.append(x)` or `yield x`: once more for what the loop left."""
    if not isinstance(node, ast.For | ast.While):
        return
    scope = view.scope(node)
    tested = (
        {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}
        if isinstance(node, ast.While)
        else set()
    )
    changed = _stored(node.body)
    for inner in own_nodes(node):
        if not isinstance(inner, ast.Expr):
            continue
        argument = _collected(inner)
        if argument is None:
            continue
        start, end = view.span(inner)
        before = view.source[start : view.span(argument)[0]]
        after = view.source[view.span(argument)[1] : end]
        names = [view.text(argument), *[name for name in view.names_at(node.body[-1]) if name in changed]]
        for name in dict.fromkeys(names):
            if "function" in scope.kinds_of_name(name) or before.startswith(f"{name}."):
                continue
            prior = 0.3 if name in tested & changed else 0.1 if name in changed else 0.04
            text = before + name + after
            if scope.kinds_of_name(name) & {"list", "str", "dict", "set"} and name in changed:
                step = _step(view, node)
                guarded = f"if {name}:\n{view.indent(node)}{step}{text}"
                why = f"after the loop, unless {name} is empty: {text}"
                yield _after(view, node, guarded, "flush-after-loop", prior * 0.9, why, "insert", "grow")
            yield _after(
                view, node, text, "flush-after-loop", prior, f"after the loop: {text}", "insert", "grow"
            )


def reset_variable(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Insert `count = 0` at the end of a block in a loop: a local that is built up and never starts anew."""
    if not isinstance(node, ast.stmt) or view.loop(node) is None or view.block(node)[-1] is not node:
        return
    block = view.block(node)
    if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break) or not _insertable(view, node):
        return
    if not isinstance(view.parent(node), ast.If | ast.For | ast.While):
        return
    scope, assigned = view.scope(node), _stored(block)
    read = {inner.id for item in block for inner in ast.walk(item) if isinstance(inner, ast.Name)}
    for name, start in _built_up(scope, view.loop(node)):
        if name in assigned:
            continue
        prior = 0.2 if name in read else 0.06
        text = f"{name} = {start}"
        yield _after(view, node, text, "reset-variable", prior, f"insert {text}", "insert", "value")


def count_before_test(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Insert `n[k] -= 1`, `n[k] += 1` before a test of `n[k]` in a loop that never changes it."""
    if (
        not isinstance(node, ast.If)
        or not isinstance(node.test, ast.Compare)
        or not _insertable(view, node.body[-1])
    ):
        return
    loop, counted = view.loop(node), node.test.left
    if loop is None or not isinstance(counted, ast.Subscript | ast.Name | ast.Attribute):
        return
    if (
        not isinstance(node.test.comparators[0], ast.Constant)
        or type(node.test.comparators[0].value) is not int
    ):
        return
    if view.lines[node.lineno - 1].lstrip().startswith("elif"):
        return
    text = view.text(counted)
    changes = [
        target
        for inner in ast.walk(loop)
        if isinstance(inner, ast.Assign | ast.AugAssign)
        for target in (inner.targets if isinstance(inner, ast.Assign) else [inner.target])
    ]
    if any(view.text(target) == text for target in changes):
        return
    for sign, prior in (("-", 0.1), ("+", 0.1)):
        new = f"{text} {sign}= 1"
        yield _before(view, node, new, "count-before-test", prior, f"insert {new}", "insert", "value")


def _step(view: View, node: ast.For | ast.While) -> str:
    return view.indent(node.body[0])[len(view.indent(node)) :] or "    "


def _built_up(scope: Scope, loop: ast.For | ast.While | None) -> Iterator[tuple[str, str]]:
    """Locals that start as an empty or small constant and are built up in the loop, with that constant."""
    if loop is None:
        return
    grown = {
        inner.target.id
        for inner in ast.walk(loop)
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name)
    }
    for inner in own_nodes(scope.node):
        if isinstance(inner, ast.Assign) and inner.lineno < loop.lineno:
            for target, value in _pairs(inner):
                if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and target.id in grown:
                    yield target.id, repr(value.value)


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    target = node.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        yield from zip(target.elts, node.value.elts, strict=False)
    else:
        yield target, node.value


def guard_at_start(view: View, node: ast.AST) -> Iterator[Proposal]:
    """Insert `if not xs: return xs` at the start of a function that takes a parameter apart."""
    if not isinstance(node, ast.FunctionDef) or not _insertable(view, node.body[0]):
        return
    scope = view.scope(node.body[0])
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        if len(node.body) == 1:
            return
        first = node.body[1]
    if isinstance(first, ast.If):
        return
    indent = view.indent(first)
    step = indent[len(view.indent(node)) :] or "    "
    for name in scope.params[:3]:
        kinds = scope.kinds_of_name(name)
        if kinds & NUMBERS:
            continue
        for result, prior in ((name, 0.05), ("None", 0.03), ("[]", 0.03), ("0", 0.02)):
            text = f"if not {name}:\n{indent}{step}return {result}"
            why = f"return {result} at once when {name} is empty"
            yield _before(view, first, text, "guard-at-start", prior, why, "insert", "empty", "none")


def _before(
    view: View, statement: ast.stmt, text: str, operator: str, prior: float, why: str, *tags: str
) -> Proposal:
    at = view.line_start(statement.lineno)
    line = f"{view.indent(statement)}{text}\n"
    return view.splice((at, at), line, operator, prior, why, statement.lineno, *tags)


def _after(
    view: View, statement: ast.stmt, text: str, operator: str, prior: float, why: str, *tags: str
) -> Proposal:
    assert statement.end_lineno is not None
    at = view.line_start(statement.end_lineno + 1)
    line = f"{view.indent(statement)}{text}\n"
    return view.splice((at, at), line, operator, prior, why, statement.lineno, *tags)


def _insertable(view: View, statement: ast.stmt) -> bool:
    return view.owns_its_lines(statement)


def _owner(scope: Scope, name: str) -> Scope | None:
    """The scope in which a name is bound."""
    current: Scope | None = scope
    while current is not None and name not in current.stores:
        current = current.parent
    return current


def _looked_up(scope: Scope, collection: str) -> set[str]:
    """Names `x` in `x in collection`, and those that index by it."""
    found = set()
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            right = node.comparators[0]
            if isinstance(right, ast.Name) and right.id == collection and isinstance(node.left, ast.Name):
                found.add(node.left.id)
    return found


def _loops_around(view: View, node: ast.AST) -> Iterator[ast.For]:
    return (above for above in view.ancestors(node) if isinstance(above, ast.For))


def _stored(statements: list[ast.stmt]) -> set[str]:
    return {
        inner.id
        for statement in statements
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }


def _stale(scope: Scope, loop: ast.For | ast.While, changed: set[str]) -> Iterator[str]:
    """Locals set before the loop and read in or after it, but never set in it."""
    grown = {name for name in scope.stores if not scope.never_grown(name)}
    for name, lines in scope.stores.items():
        if name in changed or name in scope.params or min(lines) >= loop.lineno:
            continue
        collection = scope.kinds_of_name(name) & {"list", "set", "dict"}
        if collection and name in grown:
            continue
        if len(lines) == 1 and any(line >= loop.lineno for line in scope.loads.get(name, [])):
            yield name


def _collected(statement: ast.Expr) -> ast.expr | None:
    """What a statement adds to a collection or yields."""
    value = statement.value
    if isinstance(value, ast.Yield):
        return value.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and len(value.args) == 1:
        return (
            value.args[0] if value.func.attr in ("append", "add", "extend", "write", "appendleft") else None
        )
    return None
