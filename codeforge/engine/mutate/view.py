"""A parsed source file with what the operators ask: spans, parents, statements, blocks, scopes."""

import ast
import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property

from codeforge.engine.mutate.model import Proposal
from codeforge.engine.mutate.scope import FunctionNode, Scope

_OPERATOR_PARENTS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Await, ast.Starred)
_ATOMS = (
    ast.Name, ast.Constant, ast.Call, ast.Subscript, ast.Attribute, ast.List, ast.Tuple, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr,
)  # fmt: skip
_LEVELS: tuple[tuple[type[ast.AST], ...], ...] = (
    (ast.Or,),
    (ast.And,),
    (ast.Not,),
    (ast.Compare,),
    (ast.BitOr,),
    (ast.BitXor,),
    (ast.BitAnd,),
    (ast.LShift, ast.RShift),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult),
    (ast.USub, ast.UAdd, ast.Invert),
    (ast.Pow,),
)
_BINDING = {kind: level for level, kinds in enumerate(_LEVELS, 1) for kind in kinds}


class View:
    """One source file. Offsets are in characters; lines are 1-based and end with `\\n`.

    Raises:
        SyntaxError: the source is not Python.
    """

    def __init__(
        self, source: str, path: str, types: Mapping[int, Mapping[str, frozenset[str]]] | None = None
    ) -> None:
        self._types = types or {}
        source = source.replace("\r\n", "\n")
        self.source = source if source.endswith("\n") else f"{source}\n"
        self.path = path
        self.tree = ast.parse(self.source)
        # Not `str.splitlines`: it splits at form feeds and the like, which end no line for Python.
        self.lines = [f"{line}\n" for line in self.source.removesuffix("\n").split("\n")]
        self._starts = [0, *itertools.accumulate(len(line) for line in self.lines)]
        self._parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
        self._scopes: dict[ast.AST, Scope] = {}

    def offset(self, line: int, column: int) -> int:
        """The character offset of a position as `ast` gives it (column in UTF-8 bytes)."""
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + column

    def line_start(self, line: int) -> int:
        """The offset at which a line begins; the line after the last is the end."""
        return self._starts[min(line - 1, len(self.lines))]

    def line_of(self, offset: int) -> int:
        """The line that holds an offset; past the end, one more than the last."""
        return bisect_right(self._starts, offset)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """First and one past the last offset of a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node."""
        start, end = self.span(node)
        return self.source[start:end]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node above; `None` for the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes above, nearest first."""
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node belongs to (itself if it is one)."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.ancestors(node) if isinstance(above, ast.stmt)), None)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around a node."""
        for above in self.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                return above
        return None

    def loop(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a node within its function."""
        for above in self.ancestors(node):
            if isinstance(above, ast.For | ast.While):
                return above
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                return None
        return None

    def scope(self, node: ast.AST) -> Scope:
        """The scope that a node's names belong to."""
        owner: ast.AST = self.function(node) or self.tree
        if owner not in self._scopes:
            above = self.function(owner) if owner is not self.tree else None
            parent = self.scope(above.body[0]) if above is not None else None
            self._scopes[owner] = Scope(owner, parent, self._observed(owner))
        return self._scopes[owner]

    def _observed(self, owner: ast.AST) -> Mapping[str, frozenset[str]]:
        """The observed types of a function's locals; a code object's first line is its first decorator's."""
        decorators = getattr(owner, "decorator_list", [])
        lines = [getattr(owner, "lineno", 0), *[decorator.lineno for decorator in decorators]]
        return self._types.get(min(lines), {})

    def inner_names(self, node: ast.AST) -> list[str]:
        """Names bound by the comprehensions and lambdas around a node."""
        found: list[str] = []
        for above in self.ancestors(node):
            if isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                for generator in above.generators:
                    found += [name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name)]
            elif isinstance(above, ast.Lambda):
                found += [argument.arg for argument in above.args.args]
            elif isinstance(above, ast.stmt):
                break
        return found

    def names_at(self, node: ast.AST) -> list[str]:
        """Local names that can be read at a node, nearest first, without functions and imports."""
        names = self.inner_names(node) + self.scope(node).visible(getattr(node, "lineno", 1), self.loop(node))
        return list(dict.fromkeys(names))

    def recursive(self, call: ast.AST) -> bool:
        """Whether a call calls the function that it stands in."""
        if not isinstance(call, ast.Call):
            return False
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        return any(
            isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and above.name == name
            for above in self.ancestors(call)
        )

    @cached_property
    def functions(self) -> list[str]:
        """Functions defined anywhere in the file."""
        return [node.name for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    @cached_property
    def attributes(self) -> list[str]:
        """Attributes used anywhere in the file other than as methods."""
        found: dict[str, None] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute):
                above = self._parents.get(node)
                if not (isinstance(above, ast.Call) and above.func is node):
                    found[node.attr] = None
        return list(found)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that holds this one."""
        above = self._parents[statement]
        for field in ("body", "orelse", "finalbody"):
            body = getattr(above, field, None)
            if isinstance(body, list) and any(item is statement for item in body):
                return body
        return [statement]

    def indent(self, statement: ast.stmt) -> str:
        """The white space before a statement."""
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def owns_its_lines(self, statement: ast.stmt) -> bool:
        """Whether no other code stands on the statement's first and last line (`if x: y`, `a; b`)."""
        assert statement.end_lineno is not None
        before = self.source[self.line_start(statement.lineno) : self.span(statement)[0]]
        after = self.source[self.span(statement)[1] : self.line_start(statement.end_lineno + 1)].strip()
        return not before.strip() and (not after or after.startswith("#"))

    def replace(
        self, node: ast.expr, text: str, operator: str, prior: float, why: str, *tags: str
    ) -> Proposal:
        """Propose `text` for an expression, in parentheses where its neighbours would tear it apart."""
        start, end = self.span(node)
        fitted = f"({text})" if self._needs_parentheses(node, text) else text
        return Proposal(start, end, fitted, operator, prior, why, node.lineno, frozenset(tags))

    def splice(
        self, span: tuple[int, int], text: str, operator: str, prior: float, why: str, line: int, *tags: str
    ) -> Proposal:
        """Propose `text` for any stretch of the source."""
        return Proposal(span[0], span[1], text, operator, prior, why, line, frozenset(tags))

    def _needs_parentheses(self, node: ast.expr, text: str) -> bool:
        above = self._parents.get(node)
        called = isinstance(above, ast.Call) and above.func is node
        sliced = isinstance(above, ast.Subscript) and above.value is node
        if not (isinstance(above, _OPERATOR_PARENTS) or called or sliced):
            return False
        try:
            new = ast.parse(text, mode="eval").body
        except SyntaxError:
            return False
        if isinstance(new, _ATOMS):
            return False
        if called or sliced or isinstance(above, ast.Attribute | ast.Await):
            return True
        inner, outer = _binding(new), _binding(above)
        right = isinstance(above, ast.BinOp) and above.right is node
        return inner < outer or (inner == outer and (right or inner == _BINDING[ast.Compare]))


def _binding(node: ast.AST | None) -> int:
    """How tightly an expression's operator binds; 0 for `lambda`, `if else` and the like."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        return _BINDING[type(node.op)]
    return _BINDING[ast.Compare] if isinstance(node, ast.Compare) else 0
