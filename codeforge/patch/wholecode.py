"""Whole functions and classes: a fenced block without markers that redefines known entities.

Small models answer like this more often than in the format they were asked for. Each definition in the
block that names exactly one known entity becomes an edit of that entity; what the block does not mention
is never deleted; what is not clear is a problem, not a guess.
"""

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from codeforge.patch.answer import joined
from codeforge.patch.elision import elision_comments
from codeforge.patch.entities import EntitySource, EntitySpan
from codeforge.patch.indent import leading
from codeforge.patch.model import EditBlock
from codeforge.patch.pyimports import import_edit
from codeforge.patch.pyunits import (
    DEFINITIONS,
    Unit,
    assigned,
    bound_names,
    first_line,
    parse,
    reindented,
    takes_self,
    unit_of,
    units,
)

_LOOKS_LIKE_CODE = re.compile(r"^\s*(?:async\s+def|def|class)\s+\w+", re.MULTILINE)


@dataclass(slots=True)
class Redefinition:
    """What a block comes to. `problem` set: nothing of it may be used. `targets`: what it redefines."""

    edits: list[EditBlock] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    targets: dict[tuple[str, int], str] = field(default_factory=dict)
    problem: str = ""


class _UnclearError(Exception):
    """Why a block can't be used."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A definition of the block and the entity it redefines."""

    unit: Unit
    span: EntitySpan


def redefine(lines: Sequence[str], hint: str | None, entities: EntitySource) -> Redefinition:
    """Turn the code `lines` into edits of the known entities that they redefine."""
    code = "\n".join(lines)
    result = Redefinition()
    if not _LOOKS_LIKE_CODE.search(code):
        return result
    try:
        parts = units(code)
        if isinstance(parts, str):
            raise _UnclearError(f"the code block is not valid Python ({parts})")
        spans = _spans(code, hint, entities)
        if not spans:
            result.notes.append("a code block redefines nothing that is known, and was not taken")
            return result
        left_out = elision_comments(lines)
        if left_out:
            raise _UnclearError(f"the code block leaves code out ({left_out[0]!r})")
        pairs = _pair(parts, spans)
        _Rewriter(entities, spans, parts, result).rewrite(pairs)
    except _UnclearError as error:
        return Redefinition(problem=str(error))
    return result


def _spans(code: str, hint: str | None, entities: EntitySource) -> list[EntitySpan]:
    code = textwrap.dedent(code)
    if hint is None or entities.source(hint) is not None:
        return entities.lookup(hint, code)
    tail = [span for span in entities.lookup(None, code) if span.path.endswith("/" + hint)]
    if len({span.path for span in tail}) == 1:
        return tail
    raise _UnclearError(
        f"the code block is for {hint}, which is not a known file "
        f"(a new file is written `*** Create File: {hint}`)"
    )


def _pair(parts: Sequence[Unit], spans: Sequence[EntitySpan]) -> list[_Pair]:
    """Each known definition of the block with its entity."""
    candidates = [(unit, _candidates(unit, spans)) for unit in parts if unit.definition is not None]
    known = [(unit, found) for unit, found in candidates if found]
    shared = set.intersection(*({span.path for span in found} for _, found in known)) if known else set()
    if len(shared) == 1:
        known = [(unit, [span for span in found if span.path in shared]) for unit, found in known]
    pairs = []
    for unit, found in known:
        twins = [other for other, _ in known if other.name == unit.name]
        if len(found) == 1 and len(twins) == 1:
            pairs.append(_Pair(unit, found[0]))
        elif len(found) == len(twins) and len({(span.path, span.qualname) for span in found}) == 1:
            pairs.append(_Pair(unit, found[twins.index(unit)]))  # a property and its setter, in order
        else:
            places = ", ".join(f"{span.path}:{span.start_line} ({span.qualname})" for span in found)
            raise _UnclearError(f"the code block defines `{unit.name}`, which could be any of {places}")
    return pairs


def _candidates(unit: Unit, spans: Sequence[EntitySpan]) -> list[EntitySpan]:
    is_class = isinstance(unit.node, ast.ClassDef)
    found = [
        span
        for span in spans
        if span.qualname.rsplit(".", 1)[-1] == unit.name and _is_class(span.text) is is_class
    ]
    top = [span for span in found if "." not in span.qualname]
    inner = [span for span in found if "." in span.qualname]
    return (inner or top) if takes_self(unit.node) else (top or inner)


def _is_class(text: str) -> bool:
    for line in text.split("\n"):
        if re.match(r"\s*(?:async\s+def|def|class)\b", line):
            return line.lstrip().startswith("class")
    return False


class _Rewriter:
    """Makes the edits of one block."""

    def __init__(
        self, entities: EntitySource, spans: Sequence[EntitySpan], parts: Sequence[Unit], result: Redefinition
    ) -> None:
        self._entities = entities
        self._spans = spans
        self._parts = parts
        self._result = result

    def rewrite(self, pairs: Sequence[_Pair]) -> None:
        for pair in pairs:
            if isinstance(pair.unit.node, ast.ClassDef):
                self._class(pair)
            else:
                self._replace(pair.unit, pair.span)
        if self._result.edits:
            for path in sorted({pair.span.path for pair in pairs}):
                self._surroundings(path, [pair for pair in pairs if pair.span.path == path])

    def _replace(self, unit: Unit, span: EntitySpan) -> None:
        """Put the block's definition in place of the whole entity."""
        old = span.text.split("\n")
        target = leading(old[0])
        new = reindented(unit, target, old)
        definition = unit.definition
        if definition is not None and not definition.decorator_list:
            kept = _decorators(old)
            if kept:
                self._result.notes.append(f"{span.path}: kept the decorators of {span.qualname}")
            new = [*kept, *new]
        self._result.targets[span.path, span.start_line] = "\n".join(new)
        if [line.rstrip() for line in new] != [line.rstrip() for line in old]:
            edit = EditBlock(span.path, search=joined(old), replace=joined(new), near_line=span.start_line)
            self._result.edits.append(edit)

    def _class(self, pair: _Pair) -> None:
        """Replace a class that is given whole; else only those of its methods that are given."""
        tree = parse(textwrap.dedent(pair.span.text))
        old = tree.body[0] if not isinstance(tree, str) and tree.body else None
        new = pair.unit.node
        if not isinstance(old, ast.ClassDef) or not isinstance(new, ast.ClassDef):
            raise _UnclearError(f"{pair.span.qualname} can't be parsed as it stands")
        if bound_names(old.body) <= bound_names(new.body):
            self._replace(pair.unit, pair.span)
            return
        known = {node.name for node in old.body if isinstance(node, DEFINITIONS)}
        for node in new.body:
            if isinstance(node, DEFINITIONS):
                self._member(pair, node, known)
            elif not self._same_statement(node, old):
                raise _UnclearError(
                    f"the code block changes attributes of {pair.span.qualname} but isn't the whole class"
                )

    def _member(
        self, pair: _Pair, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, known: set[str]
    ) -> None:
        unit = unit_of(node, self._class_lines(pair.unit))
        qualname = f"{pair.span.qualname}.{node.name}"
        found = [s for s in self._spans if s.path == pair.span.path and s.qualname == qualname]
        if len(found) == 1:
            self._replace(unit, found[0])
        elif node.name in known:
            raise _UnclearError(f"the code block redefines {qualname}, which is not a single definition")
        else:
            like = pair.span.text.split("\n")
            body = next((line for line in like[1:] if leading(line) > leading(like[0])), like[0] + "    ")
            new = ["", *reindented(unit, leading(body), like)]
            at = pair.span.end_line + 1
            self._result.edits.append(EditBlock(pair.span.path, replace=joined(new), near_line=at))

    @staticmethod
    def _class_lines(unit: Unit) -> list[str]:
        """The block's lines in the numbering of the syntax tree."""
        return [""] * (first_line(unit.node) - 1) + list(unit.lines)

    @staticmethod
    def _same_statement(node: ast.stmt, old: ast.ClassDef) -> bool:
        if isinstance(node, ast.Pass) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            return True
        return ast.dump(node) in {ast.dump(other) for other in old.body}

    def _surroundings(self, path: str, pairs: Sequence[_Pair]) -> None:
        """The imports, constants and helpers that the new definitions need and the file lacks."""
        source = self._entities.source(path)
        tree = parse(source) if source is not None else "unknown"
        if source is None or isinstance(tree, str):
            self._result.notes.append(f"{path}: can't be parsed, so nothing but the definition was taken")
            return
        extra = self._needed(pairs, bound_names(tree.body))
        used = frozenset().union(*(unit.used for unit in [*extra, *(pair.unit for pair in pairs)]))
        wanted = [unit.node for unit in self._parts if isinstance(unit.node, ast.Import | ast.ImportFrom)]
        imports = import_edit(path, source, tree, wanted, used)
        self._constants(path, source, tree)
        self._tell_ignored(tree)
        if extra:
            self._insert(path, tree, pairs, extra)
        if imports is not None:
            self._result.edits.append(imports)

    def _needed(self, pairs: Sequence[_Pair], present: set[str]) -> list[Unit]:
        """The block's new definitions and constants that the redefined entities use, directly or not."""
        paired = {id(pair.unit) for pair in pairs}
        new = [u for u in self._parts if u.name and id(u) not in paired and u.name not in present]
        used = frozenset().union(*(pair.unit.used for pair in pairs))
        chosen: list[Unit] = []
        while found := [unit for unit in new if unit not in chosen and unit.name in used]:
            chosen += found
            used = used.union(*(unit.used for unit in found))
        ignored = [unit.name for unit in new if unit not in chosen]
        if ignored:
            self._result.notes.append(f"not taken, because nothing redefined uses it: {', '.join(ignored)}")
        return [unit for unit in self._parts if unit in chosen]

    def _insert(self, path: str, tree: ast.Module, pairs: Sequence[_Pair], extra: Sequence[Unit]) -> None:
        first = min(pairs, key=lambda pair: pair.span.start_line).span
        indent = leading(first.text)
        like = first.text.split("\n")
        methods = [unit for unit in extra if takes_self(unit.node) and "." in first.qualname]
        others = [unit for unit in extra if unit not in methods]
        if methods:
            new = [line for unit in methods for line in (*reindented(unit, indent, like), "")]
            self._result.edits.append(EditBlock(path, replace=joined(new), near_line=first.start_line))
        if others:
            top = [first_line(n) for n in tree.body if first_line(n) <= first.start_line]
            at = max(top, default=first.start_line)
            new = []
            for unit in others:
                new += [*unit.lines, *([""] * (2 if unit.definition else 1))]
            if others[-1].definition is None:
                new.append("")
            self._result.edits.append(EditBlock(path, replace=joined(new), near_line=at))

    def _tell_ignored(self, tree: ast.Module) -> None:
        """A note about statements (a changed `if __name__ == ...`, a call) that are not taken over."""
        present = {ast.dump(node) for node in tree.body}
        for unit in self._parts:
            simple = isinstance(unit.node, ast.Import | ast.ImportFrom) or (
                isinstance(unit.node, ast.Expr) and isinstance(unit.node.value, ast.Constant)
            )
            if not unit.name and not simple and ast.dump(unit.node) not in present:
                self._result.notes.append(f"not taken, because it defines nothing: {unit.lines[0].strip()}")

    def _constants(self, path: str, source: str, tree: ast.Module) -> None:
        """Top-level assignments that the block gives anew."""
        lines = source.split("\n")
        for unit in self._parts:
            if unit.definition is not None or not unit.name:
                continue
            old = [node for node in tree.body if unit.name in assigned(node)]
            if not old or any(ast.dump(node) == ast.dump(unit.node) for node in old):
                continue
            if len(old) > 1:
                raise _UnclearError(
                    f"the code block assigns `{unit.name}`, which {path} assigns more than once"
                )
            start, end = old[0].lineno, old[0].end_lineno or old[0].lineno
            edit = EditBlock(
                path, search=joined(lines[start - 1 : end]), replace=joined(list(unit.lines)), near_line=start
            )
            self._result.edits.append(edit)


def _decorators(old: Sequence[str]) -> list[str]:
    """The lines of an entity before its `def` or `class`."""
    for index, line in enumerate(old):
        if re.match(r"\s*(?:async\s+def|def|class)\b", line):
            return list(old[:index])
    return []
