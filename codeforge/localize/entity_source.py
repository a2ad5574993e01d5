"""`RepoEntitySource`: which known functions and classes a block of code redefines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeforge.localize.files import list_files
from codeforge.localize.parsers.base import parser_for
from codeforge.localize.read import decode_source, read_source
from codeforge.patch.entities import EntitySpan
from codeforge.patch.textfile import MAX_BYTES

# Cheap and generous: it only decides which files are parsed.
_DEFINED = re.compile(r"(?:^|[;:])[ \t\f]*(?:async[ \t]+)?(?:def|class)[ \t\\]+([^\W\d]\w*)", re.MULTILINE)

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names a file defines, valid while its stamp stays."""

    stamp: _Stamp
    names: frozenset[str]


class RepoEntitySource:
    """Implements `codeforge.patch.entities.EntitySource` over the files of a tree.

    Spans always come from the content that is in the file at the moment of the call.

    Args:
        root: the repository root (or a scratch tree).
        files: the known files, relative to `root`; `None` asks git, else walks the tree.
    """

    def __init__(self, root: Path, files: Sequence[str] | None = None) -> None:
        self._root = root
        self._given = files
        self._files: dict[str, None] | None = None
        self._names: dict[str, _Names] = {}

    def lookup(self, path_hint: str | None, code: str) -> list[EntitySpan]:
        """See `EntitySource.lookup`."""
        wanted = frozenset(_defined_names(code))
        if not wanted:
            return []
        if path_hint is not None:
            places = [path_hint] if path_hint in self._known() else []
        else:
            places = [path for path in self._known() if wanted & self._names_of(path)]
        spans = [span for path in places for span in self._spans(path, wanted)]
        return sorted(spans, key=lambda span: (span.path, span.start_line))

    def source(self, path: str) -> str | None:
        """See `EntitySource.source`."""
        if path not in self._known():
            return None
        raw = read_source(self._root, path, max_bytes=MAX_BYTES)
        return None if raw is None else decode_source(raw, path)

    def _known(self) -> dict[str, None]:
        if self._files is None:
            self._files = dict.fromkeys(list_files(self._root) if self._given is None else self._given)
        return self._files

    def _names_of(self, path: str) -> frozenset[str]:
        if parser_for(path) is None:
            return frozenset()
        try:
            status = (self._root / path).stat()
        except (OSError, ValueError):
            return frozenset()
        stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._names.get(path)
        if known is None or known.stamp != stamp:
            text = self.source(path) or ""
            known = self._names[path] = _Names(stamp, frozenset(_DEFINED.findall(text)))
        return known.names

    def _spans(self, path: str, wanted: frozenset[str]) -> list[EntitySpan]:
        parser, text = parser_for(path), self.source(path)
        if parser is None or text is None:
            return []
        lines = text.split("\n")
        return [
            EntitySpan(
                path,
                entity.qualname,
                entity.start_line,
                entity.end_line,
                "\n".join(lines[entity.start_line - 1 : entity.end_line]),
            )
            for entity in parser.parse(text.encode("utf-8", "replace")).entities
            if entity.name in wanted
        ]


def _defined_names(code: str) -> list[str]:
    """The names that a block defines at any depth; a block that doesn't parse gives those that do."""
    parser = parser_for("block.py")
    names = (
        [entity.name for entity in parser.parse(code.encode("utf-8", "replace")).entities] if parser else []
    )
    return [*names, *_DEFINED.findall(code)]
