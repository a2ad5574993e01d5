"""Python."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from codeforge.localize.parsers.base import LISTED, FileTree, Import, LanguageRules, Repair

_FROM = re.compile(r"from\s*(\.*\s*[\w.]*)\s*import\s*(.*)", re.DOTALL)
_CLASS_METHOD = re.compile(r"\(\s*cls\b")
_LIST = re.compile(rb"^__all__\s*(?::[^=\n]*)?=\s*([\[(][^\[\]()]*[\])])[ \t]*(?:[#;].*)?$", re.MULTILINE)
_LISTING = re.compile(rb"\b__all__\s*(?:[-+*|:]?=(?!=)|\.|:|\[)")
_NESTED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_NO_NAMES = re.compile(r"#[^\n]*|[()\\]")


class PythonRules(LanguageRules):
    """Implements `LanguageRules`."""

    instances = frozenset(("self", "cls"))
    folder_scope = False
    member_scope = False
    constructor = "__init__"
    local_imports = True

    def is_own_class(self, name: str, signature: str) -> bool:
        """See `LanguageRules`. Elsewhere `cls` is a variable like others."""
        return name == "cls" and _CLASS_METHOD.search(signature) is not None

    def parameters(self, signature: str) -> Collection[str]:
        """See `LanguageRules`."""
        return _parameters(signature)

    def imports(self, statement: str) -> Sequence[Import]:
        """See `LanguageRules`."""
        statement = _NO_NAMES.sub(" ", statement)
        found = _FROM.match(statement)
        module = "".join(found[1].split()) if found else ""
        listed = found[2] if found else statement.strip().removeprefix("import")
        imports = []
        for part in listed.split(","):
            words = part.split()
            if not words:
                continue
            name, alias = words[0], words[2] if len(words) == 3 and words[1] == "as" else ""
            if found:
                imports.append(Import(module, name, alias or name))
            else:
                imports.append(Import(name, "", alias or name.partition(".")[0]))
        return imports

    def exports(self, source: bytes) -> Sequence[Import]:
        """See `LanguageRules`. Only one plain list or tuple of strings can be told."""
        if b"__all__" not in source:
            return ()
        plain = _LIST.search(source)
        if plain is None or len(_LISTING.findall(source)) > 1:
            return ()
        try:
            names = ast.literal_eval(plain[1].decode())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return ()
        if not isinstance(names, list | tuple) or not all(map(_is_name, names)):
            return ()
        return [Import("", name, LISTED) for name in names or [""]]

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """See `LanguageRules`. Absolute names are looked up from the importer's folder upwards, then anywhere
        (`src/` layouts, several projects in one repository); those of the standard library never anywhere."""
        dots = len(module) - len(module.lstrip("."))
        stem = module[dots:].replace(".", "/")
        folder = importer.rpartition("/")[0]
        if dots:
            for _ in range(dots - 1):
                folder = folder.rpartition("/")[0]
            return _at(tree, f"{folder}/{stem}".strip("/"))
        if not stem:
            return ()
        return _absolute(tree, folder, stem)

    def repaired(self, source: bytes, parses: Callable[[bytes], bool]) -> Repair | None:
        """See `LanguageRules`."""
        from codeforge.localize.parsers.python.repair import repaired

        return repaired(source, parses)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


@lru_cache(maxsize=10_000)
def _parameters(signature: str) -> frozenset[str]:
    """The names between the brackets. Brackets and commas in strings may lose some: then less is hidden."""
    inner = signature.partition("(")[2]
    shorter = _NESTED.sub("", inner)
    while shorter != inner:
        inner, shorter = shorter, _NESTED.sub("", shorter)
    parts = inner.partition(")")[0].split(",")
    return frozenset(part.partition("=")[0].partition(":")[0].strip("* ") for part in parts)


def _at(tree: FileTree, stem: str) -> Sequence[str]:
    """The module file or package that stands exactly there. Stubs after sources."""
    names: tuple[str, ...] = (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi", f"{stem}/__init__.pyi")
    if not stem:
        names = ("__init__.py",)
    return [path for path in names if path in tree][:1]


def _absolute(tree: FileTree, folder: str, stem: str) -> Sequence[str]:
    """A module by its full name. The roots nearest to the importer win; of others only an only one, and none
    when the standard library has such a module."""
    is_standard = stem.partition("/")[0] in sys.stdlib_module_names
    while True:
        found = _at(tree, f"{folder}/{stem}".strip("/"))
        if found and (not folder or f"{folder}/__init__.py" not in tree):
            return found
        found = () if is_standard else _at(tree, f"{folder}/src/{stem}".strip("/"))
        if found or not folder:
            break
        folder = folder.rpartition("/")[0]
    if found or is_standard:
        return found
    anywhere = [*tree.ending(f"{stem}.py"), *tree.ending(f"{stem}/__init__.py")]
    roots = {path[: -len(f"{stem}.py")] if path.endswith(f"{stem}.py") else path for path in anywhere}
    top = [path for path in anywhere if not _in_package(tree, path, stem)]
    return top if len(top) == 1 and roots else ()


def _in_package(tree: FileTree, path: str, stem: str) -> bool:
    """Whether the folder in which the module's first part stands is itself a package."""
    tail = f"{stem}.py" if path.endswith(f"{stem}.py") else f"{stem}/__init__.py"
    folder = path.removesuffix(tail).rstrip("/")
    return bool(folder) and f"{folder}/__init__.py" in tree


RULES = PythonRules()
