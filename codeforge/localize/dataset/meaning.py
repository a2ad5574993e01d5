"""Whether a change of source text changes the program, or only its comments, docstrings and layout."""

import ast
import textwrap
import warnings
from collections.abc import Sequence

PYTHON = frozenset({"py", "pyi", "pyw"})


def same_program(path: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether both texts (lines of the file `path`, or of a definition in it) are the same program.

    Only known for Python; text that this Python can't parse counts as another program unless it is equal.
    """
    if list(before) == list(after):
        return True
    if path.rpartition(".")[2].lower() not in PYTHON:
        return False
    old, new = _shape(before), _shape(after)
    return old is not None and old == new


def _shape(lines: Sequence[str]) -> str | None:
    """The syntax tree as text, without docstrings and places."""
    text = textwrap.dedent("\n".join(line.removesuffix("\r") for line in lines) + "\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's escapes
            tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = [each for each in node.body if not _is_text(each)]
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_text(statement: ast.stmt) -> bool:
    """A string that stands alone: a docstring, or a comment in the form of one."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
