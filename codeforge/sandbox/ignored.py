"""What becomes of the files that git ignores: tests may need them, caches must not come along.

Small files and small folders are copied into the scratch tree. Dependency folders and anything large
stay where they are and are shown read-only. Caches are left out.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SMALL_FILE_BYTES = 1 << 20
SMALL_FOLDER_BYTES = 4 << 20
SMALL_FOLDER_FILES = 100
TOTAL_COPIED_BYTES = 16 << 20
TOTAL_COPIED_FILES = 400
MAX_SHOWN = 64

_CACHES = frozenset(
    {
        ".git", ".codeforge", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis",
        ".cache", ".coverage", "htmlcov", ".DS_Store", ".idea", ".vscode", ".pytype", ".pyre", ".dmypy.json",
        ".parcel-cache", ".turbo", ".nyc_output", ".eslintcache", ".ipynb_checkpoints", ".gradle",
    }
)  # fmt: skip
_CACHE_SUFFIXES = (".pyc", ".pyo", ".swp", ".log")
# Never copied, however small: tools look at where they lie, and they are read, not written.
_DEPENDENCIES = frozenset({"node_modules", "site-packages", ".venv", "venv", "env", ".env", ".tox", ".nox"})


@dataclass(frozen=True, slots=True)
class IgnoredEntries:
    """Ignored paths, relative, without trailing slashes.

    Attributes:
        copied: files to copy in (those of small folders one by one).
        shown: files and folders to show read-only at their places.
        left_out: entries that are neither, with the reason; caches are not told.
    """

    copied: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def sort_ignored(root: Path, entries: Sequence[str]) -> IgnoredEntries:
    """Decide about each of `entries` (as `GitRepo.ignored_entries` lists them)."""
    copied: list[str] = []
    shown: list[str] = []
    left_out: list[str] = []
    budget = TOTAL_COPIED_BYTES
    for entry in entries:
        path = entry.rstrip("/")
        if _is_cache(path) or _is_own_output(root, path):
            continue
        small = _small_files(root, path)
        size = sum(size for _, size in small or ())
        if small is not None and size <= budget and len(copied) + len(small) <= TOTAL_COPIED_FILES:
            copied += [name for name, _ in small]
            budget -= size
        elif len(shown) < MAX_SHOWN:
            shown.append(path)
        else:
            left_out.append(f"{path}: too many large ignored entries (the first {MAX_SHOWN} are shown)")
    return IgnoredEntries(tuple(copied), tuple(shown), tuple(left_out))


def _is_cache(path: str) -> bool:
    parts = path.split("/")
    return not _CACHES.isdisjoint(parts) or parts[-1].endswith(_CACHE_SUFFIXES)


def _is_own_output(root: Path, path: str) -> bool:
    """Cargo's `target` is written by the very command that needs it: read-only it would be in the way."""
    folder, _, name = path.rpartition("/")
    return name == "target" and (root / folder / "Cargo.toml").is_file()


def _small_files(root: Path, path: str) -> list[tuple[str, int]] | None:
    """The files of `path` with their sizes if it is small enough to copy, else None."""
    full = root / path
    if full.is_symlink():
        return [(path, 0)]
    if not full.is_dir():
        size = full.lstat().st_size
        return [(path, size)] if size <= SMALL_FILE_BYTES else None
    if full.name in _DEPENDENCIES or (full / "pyvenv.cfg").exists():
        return None
    try:
        return _files_of_small_folder(root, path)
    except PermissionError:
        return None


def _files_of_small_folder(root: Path, path: str) -> list[tuple[str, int]] | None:
    found: list[tuple[str, int]] = []
    total = 0
    pending = [path]
    while pending:
        folder = pending.pop()
        for entry in os.scandir(root / folder):
            name = f"{folder}/{entry.name}"
            if _is_cache(name):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name in _DEPENDENCIES or len(pending) >= SMALL_FOLDER_FILES:
                    return None
                pending.append(name)
                continue
            size = entry.stat(follow_symlinks=False).st_size
            total += size
            found.append((name, size))
            if len(found) > SMALL_FOLDER_FILES or total > SMALL_FOLDER_BYTES:
                return None
    return found
