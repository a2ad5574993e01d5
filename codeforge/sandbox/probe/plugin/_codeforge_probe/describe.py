"""How the probe describes the user's code: paths, short values, statements, frames, exceptions.

Part of the plugin in this folder: Python 3.8, standard library only.
"""

# os.path, because Python 3.8 is old enough to lack half of pathlib, and paths here are only compared:
from __future__ import annotations

import ast
import fnmatch
import linecache
import os
import reprlib
import types
from typing import Any

MAX_LOCALS = 24
MAX_REPR = 200
MAX_TEXT = 4000
HEAD_FRAMES = 12
TAIL_FRAMES = 20
STATEMENT_LINES = 15
OWN_PACKAGE = "_codeforge_probe"


class TestHang(BaseException):
    """A test ran past its limit; raised at the line that was running. Not an `Exception`, so that
    `except Exception` in a loop does not swallow it."""

    __test__ = False


class Paths:
    """Which files belong to the repository, and their names there."""

    def __init__(self, root: str, test_patterns: list[str]) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self._patterns = [*test_patterns, "conftest.py"]
        self._known: dict[str, str | None] = {}

    def relative(self, filename: str) -> str | None:
        """The path of a repository file with forward slashes; `None` for any other file."""
        try:
            return self._known[filename]
        except KeyError:
            found = self._known[filename] = self._find(filename)
            return found

    def _find(self, filename: str) -> str | None:
        if filename.startswith("<"):
            return None
        full = os.path.abspath(filename)
        for root, path in ((self._root, full), (self._real, os.path.realpath(full))):
            if path.startswith(root.rstrip(os.sep) + os.sep):
                relative = os.path.relpath(path, root).replace(os.sep, "/")
                parts = relative.split("/")
                foreign = {"site-packages", "dist-packages", ".tox", ".nox", ".eggs"} & set(parts)
                return None if foreign else relative
        return None

    def source(self, filename: str) -> str | None:
        """Like `relative`, but `None` for test files too."""
        relative = self.relative(filename)
        if relative is None:
            return None
        name = relative.rsplit("/", 1)[-1]
        return None if any(fnmatch.fnmatch(name, pattern) for pattern in self._patterns) else relative


class _SafeRepr(reprlib.Repr):
    """Short representations that never raise."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 5
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 20
        self.maxdict = 12
        self.maxstring = self.maxother = MAX_REPR - 20
        self.maxlong = 60

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > 2000:  # its decimal text may cost seconds, or be refused
            return f"<int of {x.bit_length()} bits>"
        return super().repr_int(x, level)

    def repr_instance(self, x: Any, level: int) -> str:
        text = super().repr_instance(x, level)
        plain: Any = object.__repr__
        if type(x).__repr__ is plain and level > 1:
            inner = self._attributes(x, level)
            return f"{type(x).__name__}({inner})" if inner else text
        return text

    def _attributes(self, x: Any, level: int) -> str:
        """The plain attributes of an object whose class says nothing about it."""
        values = getattr(x, "__dict__", None) or {}
        shown = [
            f"{name}={self.repr1(value, level - 3)}"
            for name, value in list(values.items())[:6]
            if not name.startswith("_")
        ]
        return ", ".join(shown)


_REPR = _SafeRepr()


def safe_repr(value: object) -> str:
    """At most `MAX_REPR` characters, whatever the object does."""
    try:
        text = _REPR.repr(value)
    except TestHang:
        raise
    except BaseException as error:  # noqa: BLE001 (a user's __repr__ may raise anything)
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= MAX_REPR else text[: MAX_REPR - 3] + "..."


def _locals(frame: types.FrameType) -> dict[str, str]:
    shown: dict[str, str] = {}
    dull = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
    for name, value in list(frame.f_locals.items()):
        if name.startswith(("@", "__")) or isinstance(value, dull):
            continue
        if len(shown) >= MAX_LOCALS:
            break
        shown[name] = safe_repr(value)
    return shown


class _Statements:
    """Whole statements by file and line, from the files as Python read them."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[int, int]]] = {}

    def text(self, filename: str, line: int) -> str:
        """The smallest simple statement over `line` (the first line alone of a compound one)."""
        lines = linecache.getlines(filename)
        if not 0 < line <= len(lines):
            return ""
        spans = [span for span in self._simple(filename, lines) if span[0] <= line <= span[1]]
        first, last = min(spans, key=lambda span: span[1] - span[0]) if spans else (line, line)
        return "".join(lines[first - 1 : min(last, first + STATEMENT_LINES - 1)]).rstrip()

    def _simple(self, filename: str, lines: list[str]) -> list[tuple[int, int]]:
        if filename not in self._spans:
            try:
                tree: ast.AST | None = ast.parse("".join(lines))
            except (SyntaxError, ValueError, RecursionError):
                tree = None
            self._spans[filename] = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in (ast.walk(tree) if tree else ())
                if isinstance(node, ast.stmt) and not hasattr(node, "body")
            ]
        return self._spans[filename]


class Frames:
    """Turns tracebacks and stacks into records."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._statements = _Statements()

    def of_traceback(self, traceback: types.TracebackType | None) -> list[dict[str, Any]]:
        pairs: list[tuple[types.FrameType, int]] = []
        while traceback is not None:
            pairs.append((traceback.tb_frame, traceback.tb_lineno))
            traceback = traceback.tb_next
        return self._records(pairs)

    def of_stack(self, frame: types.FrameType | None) -> list[dict[str, Any]]:
        pairs: list[tuple[types.FrameType, int]] = []
        while frame is not None:
            pairs.append((frame, frame.f_lineno))
            frame = frame.f_back
        return self._records(pairs[::-1])

    def _records(self, pairs: list[tuple[types.FrameType, int]]) -> list[dict[str, Any]]:
        shown = [pair for pair in pairs if not _machinery(pair[0])]
        dropped = len(shown) - HEAD_FRAMES - TAIL_FRAMES
        if dropped <= 0:
            return [self._record(frame, line) for frame, line in shown]
        head = [self._record(frame, line) for frame, line in shown[:HEAD_FRAMES]]
        tail = [self._record(frame, line) for frame, line in shown[-TAIL_FRAMES:]]
        head[-1]["dropped_after"] = dropped
        return head + tail

    def _record(self, frame: types.FrameType, line: int) -> dict[str, Any]:
        filename = frame.f_code.co_filename
        relative = self._paths.relative(filename)
        in_repo = relative is not None
        return {
            "path": relative if relative is not None else filename,
            "line": line,
            "function": getattr(frame.f_code, "co_qualname", frame.f_code.co_name),
            "source": linecache.getline(filename, line).rstrip(),
            "statement": self._statements.text(filename, line) if in_repo else "",
            "in_repo": in_repo,
            "is_test": in_repo and self._paths.source(filename) is None,
            "locals": _locals(frame) if in_repo else {},
        }


def _machinery(frame: types.FrameType) -> bool:
    """Frames of pytest, its plugin system and this file say nothing about the user's code."""
    filename = frame.f_code.co_filename.replace("\\", "/")
    parts = filename.split("/")
    if OWN_PACKAGE in parts:
        return True
    return "_pytest" in parts or "pluggy" in parts or parts[-2:] == ["pytest", "__main__.py"]


def message_of(error: BaseException | None) -> str:
    try:
        return str(error)[:MAX_TEXT] if error is not None else ""
    except Exception as other:  # noqa: BLE001 (a user's __str__ may raise anything)
        return f"<message raises {type(other).__name__}>"


def causes_of(error: BaseException | None) -> list[str]:
    """The chain behind an exception, nearest first, one line each."""
    found: list[str] = []
    seen: set[int] = set()
    while error is not None and len(found) < 4 and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if error is not None:
            found.append((f"{type(error).__name__}: {message_of(error)}")[:300])
    return found
