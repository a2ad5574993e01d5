"""Existing paths that a wrong path may have meant. Only ever shown, never used."""

import os
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

_SKIPPED = frozenset({".git", ".codeforge", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"})
_MOST_SEEN = 20_000


def nearest_paths(root: Path, path: str, count: int = 3) -> list[str]:
    """Up to `count` files below `root` most like `path`, best first."""
    wanted = PurePosixPath(path)
    scored = []
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(path)
    for candidate in _files(root):
        name = PurePosixPath(candidate).name
        matcher.set_seq1(candidate)
        if name == wanted.name or (matcher.real_quick_ratio() >= 0.7 and matcher.quick_ratio() >= 0.7):
            score = matcher.ratio() + (1.0 if name == wanted.name else 0.0)
            if score >= 0.7:
                scored.append((-score, candidate))
    return [candidate for _, candidate in sorted(scored)[:count]]


def _files(root: Path) -> Iterator[str]:
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(files):
            yield (Path(folder) / name).relative_to(root).as_posix()
            seen += 1
            if seen >= _MOST_SEEN:
                return
