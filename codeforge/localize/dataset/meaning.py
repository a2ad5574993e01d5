"""Whether a change of source text changes the program, or only its comments, docstrings and layout."""

import ast
import warnings
from collections.abc import Sequence
from typing import cast

PYTHON = frozenset({"py", "pyi", "pyw"})
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_WITH_DOCSTRING = (ast.Module, *_DEFINITIONS)


def same_program(path: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether both texts (lines of the file `path`, or of a definition in it) are the same program.

    Only known for Python; text that this Python can't parse counts as another program unless it is equal.
    """
    if list(before) == list(after):
        return True
    if path.rpartition(".")[2].lower() not in PYTHON:
        return False
    old = _parsed(before)
    new = _parsed(after) if old is not None else None
    return old is not None and new is not None and _same(old, new)


def same_but_inside(path: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """As `same_program` for one definition, whose nested definitions count by their names alone."""
    if path.rpartition(".")[2].lower() not in PYTHON:
        return list(before) == list(after)
    old = _parsed(before)
    new = _parsed(after) if old is not None else None
    return old is not None and new is not None and _same(old, new, depth=1)


def _parsed(lines: Sequence[str]) -> ast.Module | None:
    text = "\n".join(line.removesuffix("\r") for line in lines) + "\n"
    if text.lstrip("\n")[:1] in (" ", "\t"):
        text = f"if 1:\n{text}"  # to dedent it would change the strings in it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's escapes
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _same(one: ast.AST, other: ast.AST, depth: int | None = None) -> bool:
    """Whether two trees are equal but for docstrings and places. Most differ early.

    Args:
        depth: of definitions deeper than that only the kind and the name count; `None` compares all.
    """
    waiting: list[tuple[object, object, int]] = [(one, other, 0)]
    while waiting:
        left, right, level = waiting.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, ast.AST):
            names = left._fields
            if isinstance(left, _DEFINITIONS):
                level += 1
                names = ("name",) if depth is not None and level > depth else names
            waiting.extend(
                (_member(left, name), _member(cast(ast.AST, right), name), level) for name in names
            )
        elif isinstance(left, list):
            others = cast(list[object], right)
            if len(left) != len(others):
                return False
            waiting.extend((mine, his, level) for mine, his in zip(left, others, strict=True))
        elif left != right:
            return False
    return True


def _member(node: ast.AST, name: str) -> object:
    value = getattr(node, name, None)
    if name == "body" and isinstance(node, _WITH_DOCSTRING):
        return [each for each in value or () if not _is_text(each)]
    return value


def _is_text(statement: ast.stmt) -> bool:
    """A string that stands alone: a docstring, or a comment in the form of one."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
