"""An entity source over a folder, by the standard library's own parser."""

import ast
from pathlib import Path

import pytest

from codeforge.patch.entities import EntitySpan
from codeforge.patch.textfile import read_text_file


class FolderEntities:
    """Every function and class of the Python files below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def source(self, path: str) -> str | None:
        return read_text_file(self._root, path).text if (self._root / path).is_file() else None

    def lookup(self, path_hint: str | None, code: str) -> list[EntitySpan]:
        try:
            names = {node.name for node in ast.walk(ast.parse(code)) if hasattr(node, "name")}
        except SyntaxError:
            return []
        paths = sorted(path.relative_to(self._root).as_posix() for path in self._root.rglob("*.py"))
        if path_hint is not None:
            paths = [path for path in paths if path == path_hint]
        return [span for path in paths for span in self._spans(path) if span.qualname.split(".")[-1] in names]

    def _spans(self, path: str) -> list[EntitySpan]:
        text = self.source(path) or ""
        found: list[EntitySpan] = []

        def visit(node: ast.AST, prefix: str) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    name = f"{prefix}{child.name}"
                    start = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                    lines = text.split("\n")[start - 1 : child.end_lineno]
                    found.append(EntitySpan(path, name, start, child.end_lineno or start, "\n".join(lines)))
                    visit(child, name + ".")

        visit(ast.parse(text), "")
        return found


@pytest.fixture
def entities(tmp_path: Path) -> FolderEntities:
    return FolderEntities(tmp_path)


@pytest.fixture
def put(tmp_path: Path):
    """Write a file below the root."""

    def write(path: str, content: str | bytes, mode: int | None = None) -> Path:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        if mode is not None:
            target.chmod(mode)
        return target

    return write
