"""The `.git` of a scratch tree: real, private, and cheap, with the user's objects borrowed read-only.

HEAD, branches, tags and the index are the user's at the moment of the capture; objects are found
through alternates. Nothing is written below the user's git directory, and hooks are not taken over.
"""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from codeforge.git import GitRepo

_SPECIAL = re.compile(r"([\\*?\[\] !#])")
_ESCAPED = r"\\\1"
_BORROWED = ".git/codeforge-objects"

# Settings that change how git sees the files. Nothing that runs programs or holds credentials.
_SEEN_SETTINGS = frozenset(
    {
        "core.autocrlf",
        "core.eol",
        "core.safecrlf",
        "core.filemode",
        "core.symlinks",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "extensions.objectformat",
    }
)


def object_places(repo: GitRepo) -> tuple[Path, ...]:
    """The folders that hold the user's objects: the repository's own and those that it borrows."""
    return tuple(dict.fromkeys([repo.objects_dir, *_borrowed_by(repo.objects_dir, depth=5)]))


def mount_point(number: int) -> str:
    """Where, relative to the tree, a cage shows the `number`th of the object places read-only."""
    return f"{_BORROWED}/{number}"


def make_git_dir(repo: GitRepo, head: str, tree: Path, links: Sequence[str]) -> None:
    """Write `tree/.git`, a repository whose HEAD, refs and index are those of `repo`.

    Args:
        repo: the user's repository; only read.
        head: its HEAD commit.
        tree: the scratch tree.
        links: paths that are links here and ignored folders there. A pattern such as `.venv/` matches no
            link, so they are ignored by name.
    """
    folder = tree / ".git"
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (folder / name).mkdir(parents=True)
    places = object_places(repo)
    for number in range(len(places)):
        (tree / mount_point(number)).mkdir(parents=True)
    branch = repo.branch()
    _write(folder / "HEAD", f"ref: refs/heads/{branch}\n" if branch else f"{head}\n")
    _write(folder / "packed-refs", _packed_refs(repo))
    _write(folder / "config", _config(repo))
    _write(folder / "objects/info/alternates", _alternates(places))
    _copy_files(repo, folder)
    with (folder / "info" / "exclude").open("ab") as file:
        file.write(b"\n" + b"".join(os.fsencode(f"/{_SPECIAL.sub(_ESCAPED, link)}\n") for link in links))


def _packed_refs(repo: GitRepo) -> str:
    # Asked of git rather than copied: the user's refs may be loose, packed or in a reftable.
    form = "--format=%(objectname) %(refname)"
    return os.fsdecode(repo.raw("for-each-ref", form, "refs/heads", "refs/tags", "refs/remotes"))


def _config(repo: GitRepo) -> str:
    settings = {"core.filemode": "true"}
    for item in os.fsdecode(repo.raw("config", "--local", "--list", "-z")).split("\0"):
        key, _, value = item.partition("\n")
        if key in _SEEN_SETTINGS:
            settings[key] = value
    version = 1 if "extensions.objectformat" in settings else 0
    settings["core.repositoryformatversion"] = str(version)
    settings["core.bare"] = "false"
    # Copies keep size and modification time but not inodes, so the index is still fresh by these two.
    settings["core.trustctime"] = "false"
    settings["core.checkstat"] = "minimal"
    lines = []
    for key, value in settings.items():
        section, _, name = key.partition(".")
        lines.append(f"[{section}]\n\t{name} = {value}\n")
    return "".join(lines)


def _alternates(places: Sequence[Path]) -> str:
    """Every place twice: at its mount point for when it is caged, at its own path for when not.

    Under a mount over the user's tree the own path may be hidden; git ignores alternates that are
    missing, empty or the repository's own.
    """
    mounted = [f"../codeforge-objects/{number}" for number in range(len(places))]
    return "".join(f"{place}\n" for place in (*mounted, *map(os.fspath, places)))


def _borrowed_by(objects: Path, depth: int) -> list[Path]:
    """The alternates of the user's own objects, absolute: relative ones would not survive the move."""
    listing = objects / "info" / "alternates"
    if depth == 0 or not listing.is_file():
        return []
    found: list[Path] = []
    for line in os.fsdecode(listing.read_bytes()).splitlines():
        if line and not line.startswith("#"):
            place = Path(os.path.normpath(objects / line))
            found += [place, *_borrowed_by(place, depth - 1)]
    return found


def _copy_files(repo: GitRepo, folder: Path) -> None:
    shared = sorted(repo.git_dir.glob("sharedindex.*"))  # the other half of a split index
    for source in (repo.git_dir / "index", *shared, repo.common_dir / "shallow"):
        if source.is_file():
            shutil.copy2(source, folder / source.name)
    for name in ("exclude", "attributes", "sparse-checkout"):
        for parent in (repo.common_dir, repo.git_dir):
            source = parent / "info" / name
            if source.is_file():
                shutil.copy2(source, folder / "info" / name)


def _write(path: Path, text: str) -> None:
    path.write_bytes(os.fsencode(text))
