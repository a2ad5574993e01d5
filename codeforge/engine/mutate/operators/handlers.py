"""Exceptions: the type that is caught or raised."""

import ast
from collections.abc import Iterator

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.view import View

_NEAR = {
    "KeyError": ("IndexError", "LookupError", "AttributeError"),
    "IndexError": ("KeyError", "LookupError", "ValueError"),
    "ValueError": ("TypeError", "KeyError", "(TypeError, ValueError)"),
    "TypeError": ("ValueError", "AttributeError", "(TypeError, ValueError)"),
    "AttributeError": ("KeyError", "TypeError"),
    "OSError": ("ValueError",),
    "FileNotFoundError": ("OSError",),
    "StopIteration": ("ValueError", "IndexError"),
    "ZeroDivisionError": ("ArithmeticError", "ValueError"),
    "Exception": ("ValueError", "TypeError"),
    "RuntimeError": ("ValueError", "TypeError"),
}


def exception_type(view: View, node: ast.AST) -> Iterator[Proposal]:
    """`except KeyError` → `except IndexError`; `raise ValueError` → `raise TypeError`."""
    if isinstance(node, ast.ExceptHandler):
        named, prior = node.type, 0.2
    elif isinstance(node, ast.Raise):
        named, prior = (node.exc.func if isinstance(node.exc, ast.Call) else node.exc), 0.2
    else:
        return
    if not isinstance(named, ast.Name):
        return
    for new in _NEAR.get(named.id, ()):
        if isinstance(node, ast.Raise) and new.startswith("("):
            continue
        yield view.replace(named, new, "exception-type", prior, f"{new} instead of {named.id}", "exception")
