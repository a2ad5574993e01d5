"""Java. A module is a class's full name, or a package for `import a.b.*`."""

import re
from collections.abc import Iterator, Sequence

from codeforge.localize.parsers.base import FileTree, Import, LanguageRules
from codeforge.localize.parsers.paths import nearest

_IMPORT = re.compile(r"import\s+(?P<static>static\s+)?(?P<name>[\w.\s]+?)(?P<star>\.\s*\*)?\s*;?\s*$")
_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class JavaRules(LanguageRules):
    """Implements `LanguageRules`."""

    instances = frozenset(("this",))
    folder_scope = True
    member_scope = True
    constructor = ""

    def imports(self, statement: str) -> Sequence[Import]:
        """See `LanguageRules`. A class is taken from the file that has its name."""
        found = _IMPORT.match(_COMMENTS.sub("", statement).strip())
        if found is None:
            return ()
        name = "".join(found["name"].split())
        module, _, last = name.rpartition(".")
        if found["star"]:
            return (Import(name, "*", "*"),)
        return (Import(module if found["static"] else name, last, last),)

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """See `LanguageRules`. The file of the class (of a nested one that of the outer one), else the files
        of the package below a source root of the importer."""
        parts = module.split(".")
        for length in range(len(parts), 0, -1):
            if length < len(parts) and not parts[length - 1][:1].isupper():
                break
            tail = "/".join(parts[:length]) + ".java"
            found = tree.ending(tail)
            if found:
                return nearest(importer, found)
        folder = "/".join(parts)
        for root in _roots(importer):
            found = [path for path in tree.inside(f"{root}/{folder}".strip("/")) if path.endswith(".java")]
            if found:
                return found
        return ()

    def folders(self, folder: str) -> Sequence[str]:
        """See `LanguageRules`. Tests lie in the same package as what they test, below another root."""
        tested = f"/{folder}/".replace("/test/", "/main/").strip("/")
        return (folder, tested) if tested != folder else (folder,)


def _roots(importer: str) -> Iterator[str]:
    """The folders under which packages may lie, nearest first; for tests also those of what they test."""
    root = importer
    while root:
        root = root.rpartition("/")[0]
        yield root
        if "/test/" in f"/{root}/":
            yield f"/{root}/".replace("/test/", "/main/").strip("/")


RULES = JavaRules()
