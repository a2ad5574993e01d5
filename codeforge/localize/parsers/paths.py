"""Paths and qualified names as code writes them."""

from collections.abc import Sequence


def joined(folder: str, relative: str) -> str | None:
    """A relative path seen from a folder, both with forward slashes; `None` when it leads out of the root."""
    parts = [part for part in folder.split("/") if part]
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def only(found: Sequence[str]) -> Sequence[str]:
    """What was found when it is one thing; nothing when it is several."""
    return found if len(found) == 1 else ()


def nearest(importer: str, found: Sequence[str]) -> Sequence[str]:
    """The one of several files whose path has the longest beginning in common with the importer's; nothing
    when two are equally near."""
    if len(found) < 2:
        return found
    near = sorted(((_shared(importer, path), path) for path in found), reverse=True)
    return (near[0][1],) if near[0][0] > near[1][0] else ()


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common."""
    count = 0
    for first, second in zip(one.split("/"), other.split("/"), strict=False):
        if first != second:
            break
        count += 1
    return count


def outer_names(qualname: str) -> Sequence[str]:
    """`a.b.c` → `a.b`, `a`, `""`."""
    outer = [""]
    for place, char in enumerate(qualname):
        if char == ".":
            outer.append(qualname[:place])
    return outer[::-1]
