"""Edit scopes: globs over paths relative to the repository root."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec


def in_scope(path: str, scope: Sequence[str]) -> bool:
    """Whether the globs in `scope` take in `path`; an empty scope takes in everything.

    The globs are read as git reads a `.gitignore`: `*.py` at any depth, `src/` and all below it,
    `src/**/*.py`, `/setup.py` at the root only, and `!src/vendored/` to take out again.
    """
    return not scope or _spec(tuple(scope)).match_file(path)


@lru_cache(maxsize=64)
def _spec(scope: tuple[str, ...]) -> "pathspec.GitIgnoreSpec":
    import pathspec

    return pathspec.GitIgnoreSpec.from_lines([glob.removeprefix("./") for glob in scope])
