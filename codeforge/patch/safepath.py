"""Which paths an edit may touch: exact, inside the repository after resolving links, in no other tree."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from codeforge.errors import PatchRefusedError

_PRIVATE = frozenset({".git", ".codeforge"})


@dataclass(frozen=True, slots=True)
class Target:
    """A checked path.

    Attributes:
        path: the canonical path relative to the real root, forward slashes, links resolved.
        real: the absolute path with links resolved; need not exist.
        linked: the path as given goes through a symbolic link.
    """

    path: str
    real: Path
    linked: bool


def _refuse(path: str, reason: str, hint: str = "") -> PatchRefusedError:
    return PatchRefusedError(f"{path or '(empty path)'}: {reason}", kept="nothing was changed", hint=hint)


def check_spelling(path: str) -> PurePosixPath:
    """Check `path` as text, without looking at the disk.

    Raises:
        PatchRefusedError: empty, absolute, with `..` or backslashes, or inside `.git` / `.codeforge`.
    """
    if not path or path != path.strip() or "\0" in path or "\n" in path or "\r" in path:
        raise _refuse(path, "not a usable path")
    if "\\" in path:
        raise _refuse(path, "paths are written with forward slashes")
    pure = PurePosixPath(path)
    if pure.is_absolute() or path.startswith("~") or (len(path) > 1 and path[1] == ":" and path[0].isalpha()):
        raise _refuse(path, "absolute paths are refused", "give the path relative to the repository root")
    if ".." in pure.parts:
        raise _refuse(path, "paths with '..' are refused", "give the path relative to the repository root")
    if not pure.parts or path.endswith("/"):
        raise _refuse(path, "names a directory, not a file")
    _check_private(path, pure)
    return pure


def _check_private(path: str, pure: PurePosixPath) -> None:
    for part in pure.parts:
        # Case-insensitive file systems, and those that drop trailing dots, reach .git by other spellings.
        if part.casefold().rstrip(". ") in _PRIVATE:
            raise _refuse(path, f"inside {part}, which edits never touch")


def resolve_target(root: Path, path: str) -> Target:
    """Check `path` below `root`, resolving links. The file need not exist.

    Raises:
        PatchRefusedError: see `check_spelling`; or it leads outside, into another git repository, or
            to something that is neither a regular file nor absent.
    """
    pure = check_spelling(path)
    real_root = Path(os.path.realpath(root))
    try:
        real = Path(os.path.realpath(real_root / pure))
    except (OSError, ValueError) as error:
        raise _refuse(path, f"can't be resolved ({error})") from error
    if not real.is_relative_to(real_root) or real == real_root:
        raise _refuse(path, "leads outside the repository through a link")
    relative = PurePosixPath(real.relative_to(real_root).as_posix())
    _check_private(path, relative)
    _check_parents(path, real_root, relative)
    _check_kind(path, real)
    return Target(str(relative), real, linked=relative != pure)


def _check_parents(path: str, real_root: Path, relative: PurePosixPath) -> None:
    folder = real_root
    for part in relative.parts[:-1]:
        folder = folder / part
        if os.path.lexists(folder / ".git"):
            inner = folder.relative_to(real_root).as_posix()
            raise _refuse(
                path,
                f"belongs to another git repository at {inner} (submodule or worktree)",
                f"run codeforge inside {inner}",
            )
        if folder.exists() and not folder.is_dir():
            raise _refuse(path, f"{folder.relative_to(real_root).as_posix()} is a file, not a directory")


def _check_kind(path: str, real: Path) -> None:
    try:
        mode = real.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refuse(path, f"can't be inspected ({error.strerror or error})") from error
    if stat.S_ISLNK(mode):
        raise _refuse(path, "a symbolic link that leads in a circle")
    if stat.S_ISDIR(mode):
        raise _refuse(path, "is a directory")
    if not stat.S_ISREG(mode):
        raise _refuse(path, "is not a regular file")
