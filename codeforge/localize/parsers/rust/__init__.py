"""Rust."""

import re
from collections.abc import Iterator, Sequence

from codeforge.localize.parsers.base import FileTree, Import, LanguageRules
from codeforge.localize.parsers.paths import outer_names

_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_HEAD = re.compile(r"^(?:pub\s*(?:\([^)]*\)\s*)?)?(use|mod|extern\s+crate)\b\s*", re.DOTALL)
_ROOTS = ("lib.rs", "main.rs")
_OWNERS = frozenset(("mod.rs", *_ROOTS))
_STANDARD = frozenset(("std", "core", "alloc", "proc_macro", "test"))


class RustRules(LanguageRules):
    """Implements `LanguageRules`."""

    instances = frozenset(("self", "Self"))
    folder_scope = False
    member_scope = False
    constructor = None

    def is_own_class(self, name: str, signature: str) -> bool:
        """See `LanguageRules`."""
        del signature
        return name == "Self"

    def imports(self, statement: str) -> Sequence[Import]:
        """See `LanguageRules`."""
        text = _COMMENTS.sub(" ", statement).strip().removesuffix(";").strip()
        head = _HEAD.match(text)
        if head is None:
            return ()
        rest = text[head.end() :].strip()
        if head[1] == "mod":
            return (Import(f"self::{rest}", "", rest),) if rest else ()
        return list(dict.fromkeys(_used("", rest)))

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """See `LanguageRules`. A module is looked for from the importer's folder (`self`, `super`), from the
        root of the crate (`crate`), or among the crates of the workspace."""
        parts = [part.removeprefix("r#") for part in module.split("::") if part]
        if not parts or parts[0] in _STANDARD:
            return ()
        head = parts[0]
        if head == "crate":
            root = _crate(tree, importer)
            return _inside(tree, root, parts[1:]) if root is not None else ()
        if head in ("self", "super"):
            return _relative(tree, importer, parts)
        # The 2018 edition: a module beside this one; else another crate.
        return _inside(tree, _folder(importer), parts, strict=True) or _other_crate(tree, parts)

    def namespaces(self, qualname: str) -> Sequence[str]:
        """See `LanguageRules`. Modules begin with a small letter; what a type holds needs the type's name."""
        return [outer for outer in outer_names(qualname) if not outer.rpartition(".")[2][:1].isupper()]


def _used(prefix: str, tree: str) -> Iterator[Import]:
    """The names that a tree of `use` binds."""
    tree = tree.strip().removeprefix("::")
    if tree.endswith("}"):
        before, _, inner = tree[:-1].partition("{")
        path = _path(prefix, before.strip().removesuffix("::"))
        for part in _parts(inner):
            if part.strip():
                yield from _used(path, part)
        return
    path, _, alias = tree.partition(" as ")
    path = _path(prefix, "".join(path.split()))
    module, _, name = path.rpartition("::")
    if name == "self":  # `a::{self}` is `a`
        module, _, name = module.rpartition("::")
    alias = alias.strip() or name
    if name == "*":
        yield Import(module, "*", "*")
    elif alias != "_" and name:
        yield Import(module, name, alias) if module else Import(name, "", alias)


def _path(prefix: str, path: str) -> str:
    return "::".join(part for part in (prefix, path) if part)


def _parts(listed: str) -> Iterator[str]:
    depth = last = 0
    for place, char in enumerate(listed):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield listed[last:place]
            last = place + 1
    yield listed[last:]


def _folder(importer: str) -> str:
    """Where the submodules of a file lie."""
    folder, _, name = importer.rpartition("/")
    if name in _OWNERS:
        return folder
    return f"{folder}/{name.removesuffix('.rs')}".lstrip("/")


def _crate(tree: FileTree, importer: str) -> str | None:
    """The folder of the crate's root."""
    folder = importer.rpartition("/")[0]
    while True:
        if any(_join(folder, name) in tree for name in _ROOTS):
            return folder
        if not folder:
            return None
        if folder.rpartition("/")[2] in ("tests", "examples", "benches"):
            return folder
        folder = folder.rpartition("/")[0]


def _relative(tree: FileTree, importer: str, parts: Sequence[str]) -> Sequence[str]:
    """`self::…` and `super::…`."""
    folder, ups = _folder(importer), 0
    while ups < len(parts) and parts[ups] in ("self", "super"):
        if parts[ups] == "super":
            folder = folder.rpartition("/")[0]
        ups += 1
    rest = parts[ups:]
    if not rest and "super" not in parts:
        return (importer,)
    return _inside(tree, folder, rest)


def _inside(tree: FileTree, folder: str, parts: Sequence[str], *, strict: bool = False) -> Sequence[str]:
    """The file of the module at `parts` below a folder. What lies deeper than the files do (modules and types
    inside of one) is in the deepest file there is, unless `strict`."""
    for length in range(len(parts), 0, -1):
        stem = _join(folder, "/".join(parts[:length]))
        for path in (f"{stem}.rs", f"{stem}/mod.rs"):
            if path in tree:
                return (path,)
        if strict:
            return ()
    return _owner(tree, folder)


def _owner(tree: FileTree, folder: str) -> Sequence[str]:
    """The file whose submodules lie in a folder."""
    names = [_join(folder, name) for name in (*_ROOTS, "mod.rs")]
    if folder:
        names.append(f"{folder}.rs")
    return [path for path in names if path in tree][:1]


def _other_crate(tree: FileTree, parts: Sequence[str]) -> Sequence[str]:
    """A crate of the workspace, by its folder's name."""
    for name in (parts[0], parts[0].replace("_", "-")):
        roots = tree.ending(f"{name}/src/lib.rs")
        if len(roots) == 1:
            return _inside(tree, roots[0].removesuffix("/lib.rs"), parts[1:])
    return ()


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


RULES = RustRules()
