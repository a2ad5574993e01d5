"""From a path or a module as somebody wrote it to files of the tree."""

from codeforge.localize.snapshot import Snapshot


def files_for_path(snapshot: Snapshot, written: str) -> list[str]:
    """The files whose path ends like `written` (or the other way round), longest agreement only.

    `/home/me/proj/src/pkg/mod.py` and `pkg/mod.py` both find `src/pkg/mod.py`. A foreign file
    (`…/json/decoder.py`) does not find a file that shares only its name, unless only the name was written.
    """
    parts = [part for part in written.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts:
        return []
    best: list[str] = []
    agreed = 0
    for path in snapshot.paths_by_name.get(parts[-1], ()):
        own = path.split("/")
        common = _common_tail(own, parts)
        whole = common in (len(own), len(parts))
        # A layout folder (`src/`) or an installed copy: all but the first folder agree.
        near = common >= 2 and common >= len(own) - 1
        if not (whole or near) or common < agreed:
            continue
        best = [path] if common > agreed else [*best, path]
        agreed = common
    return best


def _common_tail(one: list[str], other: list[str]) -> int:
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def files_for_module(snapshot: Snapshot, dotted: str) -> tuple[list[str], str]:
    """The files of the longest module that begins `dotted`, and the rest (`pkg.mod.Class` → `Class`)."""
    parts = dotted.strip(".").split(".")
    for end in range(len(parts), 0, -1):
        stem = "/".join(parts[:end])
        found = [
            path
            for name in (f"{parts[end - 1]}.py", "__init__.py")
            for path in snapshot.paths_by_name.get(name, ())
            if _is_module(path, stem)
        ]
        if found:
            return found, ".".join(parts[end:])
    return [], dotted


def _is_module(path: str, stem: str) -> bool:
    module = path.removesuffix("/__init__.py").removesuffix(".py")
    return module == stem or module == f"src/{stem}" or module.endswith(f"/{stem}")
