"""What each changed file is called in HEAD."""

from collections.abc import Collection, Iterable, Sequence

GONE = 0
"""In place of a path's number: HEAD has no such file."""


def resolve(commits: Iterable[Sequence[tuple[int, int]]], alive: Collection[int]) -> list[int]:
    """Follow renames from HEAD back through history.

    A rename names all older changes of the old path after the new one, also when another file took the old
    path later. A change on a side branch that was made under the old name, but is newer than the rename,
    follows the rename too. A file counts once for a commit.

    Args:
        commits: newest first, the changes of each: path, and old path or 0.
        alive: the paths that HEAD has.

    Returns:
        For each change in order the path in HEAD, or `GONE`.
    """
    listed = list(commits)
    moved: dict[int, int] = {}
    for changes in listed:
        for path, old in changes:
            if old:
                moved.setdefault(old, path)
    settled: dict[int, int] = {}
    alias: dict[int, int] = {}
    resolved: list[int] = []
    for changes in listed:
        seen: set[int] = set()
        renamed: dict[int, int] = {}
        for path, old in changes:
            target = alias.get(path)
            if target is None:
                target = settled.get(path)
                if target is None:
                    target = settled[path] = _final(path, moved, alive)
            if old and target:
                renamed[old] = target
            resolved.append(GONE if target in seen else target)
            seen.add(target)
        # Only now: two files of one commit may have changed places.
        alias.update(renamed)
    return resolved


def _final(path: int, moved: dict[int, int], alive: Collection[int]) -> int:
    """Where a path that HEAD may not have was moved to, by the newest rename of each name on the way."""
    passed: set[int] = set()
    while path not in alive:
        passed.add(path)
        path = moved.get(path, GONE)
        if path == GONE or path in passed:
            return GONE
    return path
