"""From a failed test to "this call, with these values, gave that": read from frames and explanations."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from codeforge.sandbox.probe.model import Frame

_LONGEST = 300
# fmt: off
_NOT_UNDER_TEST = frozenset(
    {
        "list", "tuple", "set", "dict", "sorted", "len", "str", "int", "float", "bool", "repr",
        "isinstance", "type", "round", "abs", "sum", "any", "all", "min", "max", "approx", "raises",
        "range", "print",
    }
)
# fmt: on


def call_under_test(frames: Sequence[Frame], test_source: str) -> str:
    """The call in the test that led to the failure, its names replaced by their values; "" if unclear."""
    test = _test_frame(frames)
    if test is None:
        return ""
    for tree in _statements(test, test_source):
        if isinstance(tree, ast.Raise):
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _under_test(node)]
        if calls:
            return _shorten(_filled(calls[0], test.locals))
    return ""


def compared(frames: Sequence[Frame], explanation: str, test_source: str) -> tuple[str, str]:
    """(expected, actual) of a failed `assert actual == expected`; "" for what is not known."""
    test = _test_frame(frames)
    expected = ""
    actual = ""
    sides = _explained(explanation)
    if test is not None:
        for tree in _statements(test, test_source):
            compare = tree.test if isinstance(tree, ast.Assert) else None
            if isinstance(compare, ast.Compare) and isinstance(compare.ops[0], ast.Eq):
                expected_side = (
                    0 if _holds_call(compare.comparators[0]) and not _holds_call(compare.left) else 1
                )
                node = (compare.left, compare.comparators[0])[expected_side]
                expected = _shorten(_filled(node, test.locals))
                if sides:
                    actual = sides[1 - expected_side]
                break
    if not expected and sides:
        actual, expected = sides
    return expected, _shorten(actual)


def _test_frame(frames: Sequence[Frame]) -> Frame | None:
    """The frame of the test function itself: the innermost of the leading test frames."""
    found = None
    for frame in frames:
        if frame.is_test:
            found = frame
        elif found is not None:
            break
    return found


def _statements(test: Frame, test_source: str) -> Iterator[ast.stmt]:
    """The failing statement, then the assignments above it that give its names their values."""
    failing = _parse(test.statement or test.source)
    if failing is None:
        return
    yield failing
    names = {node.id for node in ast.walk(failing) if isinstance(node, ast.Name)}
    tree = _parse(test_source)
    body = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)] if tree is not None else []
    for assign in sorted(body, key=lambda node: -node.lineno):
        targets = {
            node.id for target in assign.targets for node in ast.walk(target) if isinstance(node, ast.Name)
        }
        if targets & names:
            yield assign


def _parse(source: str) -> ast.stmt | None:
    lines = source.expandtabs().splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[margin:] for line in lines)
    for attempt in (text, f"{text}\n    pass", f"({text})"):
        try:
            body = ast.parse(attempt).body
        except (SyntaxError, ValueError):
            continue
        if body:
            return body[0]
    return None


def _under_test(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(name) and name not in _NOT_UNDER_TEST and not name.startswith("assert")


def _holds_call(node: ast.AST) -> bool:
    return any(isinstance(found, ast.Call) and _under_test(found) for found in ast.walk(node))


class _Fill(ast.NodeTransformer):
    """Names become the literal values that the frame's locals show."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        shown = self._values.get(node.id)
        if shown is None:
            return node
        try:
            return ast.parse(shown, mode="eval").body
        except (SyntaxError, ValueError):
            return ast.Name(id=shown)  # not Python (`<Node object>`, `[1, ...]`): printed as it stands

    def visit_Call(self, node: ast.Call) -> ast.AST:
        arguments: list[ast.expr] = []
        for argument in node.args:
            filled = self.visit(argument)
            if isinstance(filled, ast.Starred) and isinstance(filled.value, ast.List | ast.Tuple):
                arguments.extend(filled.value.elts)
            else:
                arguments.append(filled)
        keywords = [ast.keyword(arg=word.arg, value=self.visit(word.value)) for word in node.keywords]
        return ast.Call(func=node.func, args=arguments, keywords=keywords)


def _filled(node: ast.expr, values: Mapping[str, str]) -> str:
    return ast.unparse(_Fill(values).visit(node))


def _explained(explanation: str) -> tuple[str, str] | None:
    """The two sides of pytest's "assert A == B"."""
    match = re.search(r"assert (.+?) == (.+)", explanation)
    return (match.group(1), match.group(2)) if match else None


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
