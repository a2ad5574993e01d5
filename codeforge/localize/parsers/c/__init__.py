"""C, and the rules of C++ as far as they are the same."""

from collections.abc import Sequence

from codeforge.localize.parsers.base import FileTree, Import, LanguageRules
from codeforge.localize.parsers.paths import joined, nearest

_SOURCES = (".c", ".cc", ".cpp", ".cxx")


class CRules(LanguageRules):
    """Implements `LanguageRules`. What an included file declares is defined in it, in its folder, or in the
    only source file of the same name."""

    instances: frozenset[str] = frozenset()
    folder_scope = True
    member_scope = False
    constructor: str | None = None

    def imports(self, statement: str) -> Sequence[Import]:
        """See `LanguageRules`. `statement` is what stands behind `#include`; the brackets of `<…>` stay."""
        module = statement.strip().strip('"')
        return (Import(module, "*", "*"),) if module else ()

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """See `LanguageRules`."""
        header = _header(tree, importer, module)
        if header is None:
            return ()
        stem, dot, ending = header.rpartition(".")
        if not dot or not ending.startswith("h"):
            return (header,)
        if any(stem + source in tree for source in _SOURCES):
            return (header,)
        name = stem.rpartition("/")[2]
        found = [path for source in _SOURCES for path in tree.ending(name + source)]
        return (header, *(path for path in nearest(header, found) if path != importer))


def _header(tree: FileTree, importer: str, module: str) -> str | None:
    """The included file."""
    folder = importer.rpartition("/")[0]
    if module.startswith("<"):
        name = module.strip("<> ")
        # Those without a folder are nearly always the system's.
        found = tree.ending(name if "/" in name else f"include/{name}") if name else ()
    else:
        here = joined(folder, module)
        if here is not None and here in tree:
            return here
        found = tree.ending(module.lstrip("./")) if module.strip("./") else ()
    near = nearest(importer, found)
    return near[0] if near else None


RULES = CRules()
