"""Go. A module is a folder; of its own full name only the end can be found in the repository."""

import re
from collections.abc import Iterator, Sequence

from codeforge.localize.parsers.base import FileTree, Import, LanguageRules
from codeforge.localize.parsers.paths import joined

_SPEC = re.compile(r"(?:(?P<alias>[\w.]+)\s+)?[\"`](?P<module>[^\"`]*)[\"`]")
_VERSION = re.compile(r"v\d+")
_STANDARD_NAMES = """
archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag
fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort
strconv strings structs sync syscall testing text time unicode unique unsafe weak C
"""
_STANDARD = frozenset(_STANDARD_NAMES.split())


class GoRules(LanguageRules):
    """Implements `LanguageRules`."""

    instances: frozenset[str] = frozenset()
    folder_scope = True
    member_scope = False
    constructor = None

    def imports(self, statement: str) -> Sequence[Import]:
        """See `LanguageRules`. `statement` is one line of an import declaration."""
        found = _SPEC.search(statement)
        if found is None:
            return ()
        module, alias = found["module"], found["alias"] or ""
        if alias == ".":
            return (Import(module, "*", "*"),)
        return (Import(module, "", alias or _package(module)),)

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """See `LanguageRules`. The folder whose path is the longest end of the module's name; the root when a
        file of it has the module's last part as its name. Files named like the package stand first, tests are
        left out."""
        parts = [part for part in module.split("/") if part]
        if not parts or (parts[0] in _STANDARD and "." not in parts[0]):
            return ()
        if parts[0] in (".", ".."):
            folder = joined(importer.rpartition("/")[0], module)
            return _files(tree, folder) if folder is not None else ()
        for folder in _folders(parts):
            found = _files(tree, folder)
            if found:
                return found
        vendored = _files(tree, f"vendor/{module}")
        if vendored:
            return vendored
        named = f"{_package(module)}.go"
        is_root = len(parts) in (2, 3) and "/" in importer and named in tree
        return _files(tree, "") if is_root else ()


def _package(module: str) -> str:
    """The name of a package by that of its module: `…/yaml.v3`, `…/go-redis/v9`."""
    parts = module.rstrip("/").split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return re.sub(r"\.v\d+$", "", parts[-1]).removeprefix("go-").removesuffix("-go").replace("-", "_")


def _folders(parts: Sequence[str]) -> Iterator[str]:
    """Where the package may lie, likelier ones first: behind `host/owner/repository` (with its version), else
    behind the name of the module."""
    hosted = "." in parts[0]
    yield "/".join(parts)
    for skipped in range(1, len(parts)):
        rest = parts[skipped:]
        if _VERSION.fullmatch(rest[0]):
            continue
        # A single last part says too little unless everything before it names a repository.
        if len(rest) > 1 or not hosted or skipped > 2:
            yield "/".join(rest)


def _files(tree: FileTree, folder: str) -> Sequence[str]:
    own = f"{folder.rpartition('/')[2]}.go"
    found = [path for path in tree.inside(folder) if path.endswith(".go") and not path.endswith("_test.go")]
    return sorted(found, key=lambda path: (path.rpartition("/")[2] != own, path))


RULES = GoRules()
