"""Which files there are, and what each is for."""

import os
from pathlib import Path

from codeforge.errors import CodeforgeError

_NEVER = frozenset({".git", ".codeforge", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})


def list_files(root: Path) -> list[str]:
    """The files below `root` that git knows or doesn't ignore; without git, all but well-known clutter.

    Relative to `root`, with forward slashes, sorted.
    """
    from codeforge.git import GitRepo

    try:
        repo = GitRepo.discover(root)
        if repo.root == Path(os.path.realpath(root)):
            return repo.list_files()
    except CodeforgeError:
        pass  # no repository here: the tree itself says what there is
    return _walk(root)


def _walk(root: Path) -> list[str]:
    found: list[str] = []
    top = os.fspath(root)
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _NEVER]
        inside = folder[len(top) :].replace(os.sep, "/").strip("/")
        prefix = f"{inside}/" if inside else ""
        found.extend(f"{prefix}{name}" for name in names)
    return sorted(found)
