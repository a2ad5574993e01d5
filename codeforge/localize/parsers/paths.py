"""Paths as imports name them."""

from collections.abc import Sequence
from os.path import commonprefix

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
    """The one of several files whose path has the longest beginning in common with the importer's; nothing when
    two are as near as each other."""
    if len(found) < 2:
        return found
    own = importer.split("/")
    near = sorted(((len(commonprefix([own, path.split("/")])), path) for path in found), reverse=True)
    return [near[0][1]] if near[0][0] > near[1][0] else ()
