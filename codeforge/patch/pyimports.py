"""Imports and constants that a redefined function needs and its file lacks."""

import ast
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from codeforge.patch.answer import joined
from codeforge.patch.model import EditBlock
from codeforge.patch.pyunits import first_line


def import_edit(
    path: str, source: str, tree: ast.Module, wanted: Iterable[ast.stmt], used: frozenset[str]
) -> EditBlock | None:
    """An edit that adds to `path` those imports of `wanted` that `used` needs and the file lacks."""
    present = {_key(node, alias) for node in ast.walk(tree) for alias in _aliases(node)}
    missing: list[str] = []
    for node in wanted:
        aliases = [
            alias
            for alias in _aliases(node)
            if _key(node, alias) not in present and _needed(alias, node, used) and not _own(path, node, alias)
        ]
        if aliases:
            missing.append(_statement(node, aliases))
    if not missing:
        return None
    # `from __future__` may only follow the docstring.
    missing.sort(key=lambda line: not line.startswith("from __future__"))
    first_is_future = missing[0].startswith("from __future__")
    at = _insertion_line(source.split("\n"), tree, after_imports=not first_is_future)
    return EditBlock(path, replace=joined(missing), near_line=at)


def _aliases(node: ast.AST) -> Sequence[ast.alias]:
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else ()


def _module(node: ast.AST) -> str:
    if isinstance(node, ast.ImportFrom):
        return "." * node.level + (node.module or "")
    return ""


def _key(node: ast.AST, alias: ast.alias) -> tuple[str, str, str]:
    return _module(node), alias.name, alias.asname or alias.name


def _needed(alias: ast.alias, node: ast.AST, used: frozenset[str]) -> bool:
    bound = alias.asname or alias.name.split(".")[0]
    return alias.name == "*" or bound in used or _module(node) == "__future__"


def _own(path: str, node: ast.AST, alias: ast.alias) -> bool:
    """Whether a file would import itself: models like to show where the function lives."""
    stem = PurePosixPath(path).stem
    module = _module(node) or alias.name
    return module.lstrip(".").split(".")[-1] == stem


def _statement(node: ast.stmt, aliases: list[ast.alias]) -> str:
    if isinstance(node, ast.ImportFrom):
        return ast.unparse(ast.ImportFrom(module=node.module, names=aliases, level=node.level))
    return ast.unparse(ast.Import(names=aliases))


def _insertion_line(lines: Sequence[str], tree: ast.Module, *, after_imports: bool) -> int:
    """The 1-based line before which new imports go: behind the leading imports, or the docstring."""
    after: ast.stmt | None = None
    for index, node in enumerate(tree.body):
        docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if docstring or future or (after_imports and isinstance(node, ast.Import | ast.ImportFrom)):
            after = node
        else:
            break
    if after is not None:
        return (after.end_lineno or after.lineno) + 1
    at = 0
    stop = first_line(tree.body[0]) - 1 if tree.body else len(lines)
    while at < stop and lines[at].startswith("#"):
        at += 1
    return at + 1
