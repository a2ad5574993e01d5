"""A Python code block in its top-level parts, and the text work on them."""

import ast
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codeforge.patch.indent import leading

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Unit:
    """A statement of a block with its lines (decorators included, no indentation of the block's own)."""

    node: ast.stmt
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it defines or assigns; empty for anything else."""
        if isinstance(self.node, DEFINITIONS):
            return self.node.name
        targets = assigned(self.node)
        return targets[0] if len(targets) == 1 else ""

    @property
    def definition(self) -> Definition | None:
        """The node, if it is a function or a class."""
        return self.node if isinstance(self.node, DEFINITIONS) else None

    @property
    def used(self) -> frozenset[str]:
        """Every name and attribute it mentions."""
        return mentioned(self.node)


def parse(code: str) -> ast.Module | str:
    """The syntax tree, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's invalid escapes are not our output
            return ast.parse(code)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__


def units(code: str) -> list[Unit] | str:
    """The top-level statements of `code` (dedented), or why it can't be parsed."""
    code = textwrap.dedent(code)
    tree = parse(code)
    if isinstance(tree, str):
        return tree
    lines = code.replace("\f", " ").split("\n")
    return [unit_of(node, lines) for node in tree.body]


def unit_of(node: ast.stmt, lines: Sequence[str]) -> Unit:
    """`node` with its lines; comments at its end that are deeper than its start belong to it."""
    start, end = first_line(node) - 1, node.end_lineno or node.lineno
    here = leading(lines[start])
    if isinstance(node, DEFINITIONS):
        ahead = end
        while ahead < len(lines) and (not lines[ahead].strip() or lines[ahead].lstrip().startswith("#")):
            if lines[ahead].strip():
                if len(leading(lines[ahead])) <= len(here):
                    break
                end = ahead + 1
            ahead += 1
    return Unit(node, tuple(lines[start:end]))


def first_line(node: ast.stmt) -> int:
    """1-based, decorators included."""
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def assigned(node: ast.stmt) -> list[str]:
    """The plain names that an assignment binds."""
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def mentioned(node: ast.AST) -> frozenset[str]:
    """Every name and attribute below `node`."""
    names = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            names.add(child.id)
        elif isinstance(child, ast.Attribute):
            names.add(child.attr)
    return frozenset(names)


def bound_names(body: Iterable[ast.stmt]) -> set[str]:
    """The names that these statements define or assign at their own level."""
    names: set[str] = set()
    for node in body:
        names.update([node.name] if isinstance(node, DEFINITIONS) else assigned(node))
    return names


def takes_self(node: ast.AST) -> bool:
    """Whether a function looks like a method."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = [*node.args.posonlyargs, *node.args.args]
    return bool(arguments) and arguments[0].arg in ("self", "cls")


def reindented(unit: Unit, target: str, like: Sequence[str] = ()) -> list[str]:
    """The unit's lines moved to the indentation `target`.

    Lines inside multi-line strings keep their text, docstrings apart. When `like` (the lines being
    replaced) is indented with tabs, the unit's own levels become tabs too.
    """
    tabs = any(line.startswith("\t") for line in like)
    own = leading(unit.lines[0])
    unit_width = _unit_width(unit.lines) if tabs else 0
    frozen = _string_lines(unit)
    out = []
    for index, line in enumerate(unit.lines):
        if index in frozen or not line.strip():
            out.append(line)
            continue
        rest = line.removeprefix(own)
        if unit_width:
            white = leading(rest)
            level, odd = divmod(len(white.expandtabs(unit_width)), unit_width)
            rest = "\t" * level + " " * odd + rest[len(white) :]
        out.append(target + rest)
    return out


def _unit_width(lines: Sequence[str]) -> int:
    widths = [len(leading(line)) for line in lines if line.startswith(" ")]
    return min(widths, default=4)


def _string_lines(unit: Unit) -> set[int]:
    """The lines of `unit` (0-based) that continue a string which isn't a docstring."""
    first = first_line(unit.node)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(unit.node)
        if isinstance(node, DEFINITIONS) and isinstance(node.body[0], ast.Expr)
    }
    inside: set[int] = set()
    for node in ast.walk(unit.node):
        text = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        )
        if text and id(node) not in docstrings and isinstance(node, ast.expr):
            inside.update(range(node.lineno + 1 - first, (node.end_lineno or node.lineno) + 1 - first))
    return inside
