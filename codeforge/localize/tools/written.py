"""What people and models write when they mean an entity, taken apart."""

import re
from pathlib import Path
from typing import NamedTuple

_FRAME = re.compile(r'^File "(?P<path>[^"]+)", line (?P<first>\d+)')
_LINES = re.compile(
    r"^(?P<path>[^:#]+?)(?:[:#]L?(?P<first>\d+))(?:(?:-|\.\.|:)L?(?P<last>\d+))?(?::\d+)?:?$", re.ASCII
)
_WORD_BEFORE = re.compile(
    r"^(?:class|def|async def|function|method|func|fn|file|directory)\s+", re.IGNORECASE
)
_PARAMETERS = re.compile(r"\[.*\]$", re.DOTALL)
_FILE = re.compile(r"[/\\]|\.\w{1,5}$")
_COLUMN = re.compile(r":\d+:\d+:?$")


class Written(NamedTuple):
    """An id, a place or a name as somebody wrote it.

    Attributes:
        text: all of it, without quotes and blanks around it.
        path: the file or directory in it, or "".
        name: the (dotted) name in it, or "".
        first, last: the lines in it (1-based, inclusive); 0 where there are none.
    """

    text: str
    path: str
    name: str
    first: int
    last: int


def read_written(text: str, root: Path) -> Written:
    """Take `text` apart: `path`, `path:Qual.name`, `path::Class::test[x]`, `path:12`, `path#L3-L9`,
    `File "path", line 12`, `Class::method()`, `def name`; an absolute path below `root` becomes relative."""
    quoted = text.strip().strip("`'").strip()
    bare = _WORD_BEFORE.sub("", quoted).strip()
    place = _FRAME.match(quoted) or _LINES.match(bare)
    if place:
        groups = place.groupdict()
        first = int(groups["first"])
        last = int(groups.get("last") or first)
        if _COLUMN.search(bare) or last < first:
            last = first
        return Written(bare, _path(groups["path"], root), "", first, last)
    head, separator, tail = _split(bare)
    if separator:
        return Written(bare, _path(head, root), _name(tail), 0, 0)
    if _FILE.search(bare) or bare in (".", ""):
        return Written(bare, _path(bare, root), "" if "/" in bare else _name(bare), 0, 0)
    return Written(bare, bare, _name(bare), 0, 0)


def _split(text: str) -> tuple[str, str, str]:
    """The file, the separator and the name in it; `a::b` is a name unless what stands before is a file."""
    head, separator, tail = text.partition("::")
    if separator:
        return (head, separator, tail) if _FILE.search(head) else (text, "", "")
    head, separator, tail = text.partition(":")
    return (head, separator, tail) if tail else (head, "", "")


def _name(text: str) -> str:
    """A qualified name with dots: no call brackets, no test parameters."""
    bare = _PARAMETERS.sub("", text.strip())
    if bare.endswith(")"):
        bare = bare.partition("(")[0]
    return bare.replace("::", ".").replace("->", ".").replace("#", ".").strip(". ")


def _path(text: str, root: Path) -> str:
    """Relative to the root, forward slashes, no `./` and no slash at the start; the root itself is `/`."""
    path = text.strip().strip('"').replace("\\", "/")
    base = root.as_posix().rstrip("/") + "/"
    path = path.removeprefix(base) if path != base.rstrip("/") else ""
    while path.startswith("./"):
        path = path[2:]
    path = path.lstrip("/")
    return "/" if path in ("", ".") else path
