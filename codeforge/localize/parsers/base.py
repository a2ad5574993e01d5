"""The seam for languages: what a parser answers (`ParsedFile`), and the registry by file extension.

A language is one folder beside this file: `language.toml` (its version, extensions and grammars), `query.scm`
(a tree-sitter query with the capture names that `driver` documents) and `__init__.py` (its `RULES`: how it
names things, reads imports and finds modules). Nothing else knows of it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from codeforge.localize.model import EntityKind


class ReferenceKind(IntEnum):
    """How one entity refers to another (numbers are stored)."""

    CALL = 0
    DECORATOR = 1
    BASE = 2


class ParsedEntity(NamedTuple):
    """A class or function of a file.

    Attributes:
        kind: `CLASS` or `FUNCTION`.
        qualname: `name`, `Class.method`, `outer.inner`.
        parent: the ordinal of the entity around it, 0 for the file. Entities count from 1, in source order.
        start_line, end_line: 1-based, inclusive, decorators included.
        signature: its header up to the body, one line of text.
        docstring: its documentation, or "".
        start, end: byte offsets of it in the source, decorators included.
        returns: the name of the type that it is declared to return, or "".
    """

    kind: EntityKind
    qualname: str
    parent: int
    start_line: int
    end_line: int
    signature: str
    docstring: str
    start: int
    end: int
    returns: str

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


LISTED = "__all__"
"""As the alias of an import from the module `""`: who imports everything from this file gets its name, and
no other that isn't listed too."""


class Import(NamedTuple):
    """One imported name.

    Attributes:
        module: the module as written (`a.b`, `..sibling`, `./file`, `fmt`).
        name: what is taken from it; "" for the module itself, "*" for everything.
        alias: the name it gets here; for `import a.b` the first part (`a`) and `module` bound as a whole.
        owner: where `LanguageRules.local_imports` holds, the entity in which it is bound, 0 for the file.
    """

    module: str
    name: str
    alias: str
    owner: int = 0


class Reference(NamedTuple):
    """A use of a name.

    Attributes:
        owner: the ordinal of the innermost entity around it, 0 for the file.
        kind: `ReferenceKind` as a number.
        chain: what is used: `name`, `self.name`, `mod.Class.name`, `Class().name`; `?.name` where what stands
            before the last dot is an expression.
    """

    owner: int
    kind: int
    chain: str


class TypeHint(NamedTuple):
    """What is known of a variable's type: `x = Class()`, `x: Class`, `self.x = Class()`.

    Attributes:
        owner: the entity in which the name is bound.
        name: the variable (`x`, `self.x`).
        type: the class as written, or the call that makes it (`make()`); "" when nothing is known but that
            the function binds the name itself, and so hides what it means outside.
    """

    owner: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One file.

    Attributes:
        entities: in source order; ordinal n is `entities[n - 1]`.
        imports: what it imports, at any depth.
        references: each once for an owner.
        hints: types of variables.
        lines: how many lines the file has.
        has_errors: some of it is not valid source; the rest was parsed all the same.
    """

    entities: Sequence[ParsedEntity]
    imports: Sequence[Import]
    references: Sequence[Reference]
    hints: Sequence[TypeHint]
    lines: int
    has_errors: bool


class FileTree(Protocol):
    """The files of a repository, as resolving modules needs them."""

    def __contains__(self, path: object) -> bool:
        """Whether there is such a file."""
        ...

    def ending(self, tail: str) -> Sequence[str]:
        """The files whose path is `tail` or ends with `/tail`, in order."""
        ...

    def inside(self, folder: str) -> Sequence[str]:
        """The files directly in a folder (no slash at its end; "" is the root), in order."""
        ...


class Repair(NamedTuple):
    """A broken file without what is broken.

    Attributes:
        source: the same bytes in the same places, except for what was blanked (and the least that stands
        for it).
        blanked: the bytes that were blanked, as (start, end).
    """

    source: bytes
    blanked: Sequence[tuple[int, int]]


class LanguageRules(Protocol):
    """What a language's folder exports as `RULES`. A class that inherits from it has the defaults.

    Attributes:
        instances: names by which a method refers to its own object or class (`self`, `cls`; `this`).
        folder_scope: files of one folder see each other's names without an import (Go, Java; in C and C++
            one file defines what another one declares).
        member_scope: inside a class a plain name may mean a member of it or of its bases (Java, C++).
        constructor: the method that runs when a class is called; "" for one with the name of the class,
            `None` when there is none.
        local_imports: an import inside a function or class binds its name only there (Python).
    """

    instances: frozenset[str]
    folder_scope: bool
    member_scope: bool
    constructor: str | None
    local_imports: bool = False

    def imports(self, statement: str) -> Sequence[Import]:
        """The names that an import statement binds."""
        ...

    def exports(self, source: bytes) -> Sequence[Import]:
        """What a file says of the names that others get who import everything from it (`LISTED`)."""
        del source
        return ()

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """The files that `module`, as written in the file `importer`, means; none for foreign ones.

        The module `""` is the importer itself: what it imports from there it exports by another name."""
        ...

    def is_own_class(self, name: str, signature: str) -> bool:
        """Whether a plain name means the class around (`cls`, `Self`) in a method with this signature."""
        del name, signature
        return False

    def parameters(self, signature: str) -> Collection[str]:
        """The parameters of a function with this signature that hide what their names mean outside."""
        del signature
        return ()

    def namespaces(self, qualname: str) -> Sequence[str]:
        """The namespaces in which code of an entity of this name (`""` for the file) is looked up, inner ones
        first and `""` for the global one last; nothing where names have none."""
        del qualname
        return ()

    def folders(self, folder: str) -> Sequence[str]:
        """Where `folder_scope` holds, the folders whose names are seen in `folder`, itself first."""
        return (folder,)

    def repaired(self, source: bytes, parses: Callable[[bytes], bool]) -> Repair | None:
        """What to parse in place of a `source` that has errors, where the grammar's own way to go on after
        one
        loses too much; `None` to leave it at that. `parses` tells whether some source has no error."""
        del source, parses
        return None


class Parser(Protocol):
    """Takes source text of one language apart."""

    def parse(self, source: bytes) -> ParsedFile:
        """Parse UTF-8 `source` (line endings `\\n`). Never raises on bad source: what parses is answered."""
        ...


@dataclass(frozen=True, slots=True)
class Language:
    """A language as its `language.toml` describes it.

    Attributes:
        name: its folder.
        version: raise it when what is parsed changes; cached results are then made anew.
        extensions: of its files, with the dot, lower case.
        grammar: the module of the tree-sitter grammar.
        function: the function of that module that gives the grammar.
        family: languages of one family use each other's code (JavaScript and TypeScript, C and C++).
        queries: the files with its tree-sitter query, relative to its folder.
        comments: the marks with which comments begin.
    """

    name: str
    version: int
    extensions: tuple[str, ...]
    grammar: str
    function: str
    family: str
    queries: tuple[str, ...]
    comments: tuple[str, ...]

    @property
    def tag(self) -> str:
        """Its name and version."""
        return f"{self.name}/{self.version}"

    @property
    def rules(self) -> LanguageRules:
        """Its rules."""
        return _rules(self.name)

    @property
    def parser(self) -> Parser:
        """Its parser; made once."""
        return _parser(self)


_FOLDER = Path(__file__).parent


@cache
def languages() -> Mapping[str, Language]:
    """Every language, by file extension."""
    import tomllib

    found: dict[str, Language] = {}
    for described in sorted(_FOLDER.glob("*/language.toml")):
        with described.open("rb") as stream:
            data = tomllib.load(stream)
        for grammar in data["grammar"]:
            language = Language(
                described.parent.name,
                int(data["version"]),
                tuple(grammar["extensions"]),
                grammar["module"],
                grammar["function"],
                data.get("family", described.parent.name),
                tuple(grammar.get("queries", ("query.scm",))),
                tuple(data.get("comments", ("//", "/*"))),
            )
            found.update(dict.fromkeys(language.extensions, language))
    return found


def language_of(path: str) -> Language | None:
    """The language of `path` by its extension; `None` when there is no parser for it."""
    name = path[path.rfind("/") + 1 :]  # `pathlib` takes 20 times as long, and every file is asked
    dot = name.rfind(".")
    return languages().get(name[dot:].lower()) if dot > 0 else None


def parser_for(path: str) -> Parser | None:
    """The parser for `path` by its extension; `None` when its language has none."""
    found = language_of(path)
    return found.parser if found else None


def query_of(language: Language) -> str:
    """The tree-sitter query of a language."""
    folder = _FOLDER / language.name
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in language.queries)


@cache
def _rules(name: str) -> LanguageRules:
    from importlib import import_module

    rules: LanguageRules = import_module(f"codeforge.localize.parsers.{name}").RULES
    return rules


@cache
def _parser(language: Language) -> Parser:
    from codeforge.localize.parsers.driver import TreeSitterParser

    return TreeSitterParser(language)
