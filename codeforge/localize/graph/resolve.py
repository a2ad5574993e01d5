"""From names as written to the entities they mean.

A name is looked up as the language would: the functions around it, the file, its imports (followed through
re-exports and stars), the files of its folder where a language shares them. Members are looked up through the
base classes; the type of a variable is known where it is annotated or made by a call of a known class.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from codeforge.localize.graph.scope import Scope, scope_of
from codeforge.localize.parsers.base import FileTree, Import, ParsedFile

_DEEPEST = 12
"""Re-exports, bases and types are followed this far: real code needs four or five, cycles never end."""


class ValueKind(IntEnum):
    """What a name turned out to be."""

    FOREIGN = 0
    """Something outside of the repository."""
    MODULE = 1
    ENTITY = 2
    INSTANCE = 3
    """An object of a class of the repository."""


class Value(NamedTuple):
    """What a name means: a file (`ordinal` 0), an entity of it, or an object of a class of it."""

    kind: ValueKind
    path: str = ""
    ordinal: int = 0


FOREIGN = Value(ValueKind.FOREIGN)


class Resolver:
    """Resolves names in the files of one tree. Files are read only when a name leads there.

    Args:
        tree: all files of the repository.
        parsed: the structure of an indexed file, by path; `None` for a file that isn't indexed.
    """

    def __init__(self, tree: FileTree, parsed: Callable[[str], ParsedFile | None]) -> None:
        self._tree = tree
        self._parsed = parsed
        self._scopes: dict[str, Scope | None] = {}
        self._modules: dict[tuple[str, str], Sequence[str]] = {}
        self._exports: dict[tuple[str, str], Value | None] = {}
        self._bases: dict[tuple[str, int], list[Value]] = {}
        self._members: dict[tuple[str, int, str], Value | None] = {}

    def scope(self, path: str) -> Scope | None:
        """The names of a file; `None` when nothing is known of it."""
        if path not in self._scopes:
            parsed = self._parsed(path)
            self._scopes[path] = scope_of(path, parsed) if parsed is not None else None
        return self._scopes[path]

    def modules(self, scope: Scope, module: str) -> Sequence[str]:
        """The files that a module name in this file means."""
        key = (scope.path, module)
        if key not in self._modules:
            self._modules[key] = scope.rules.modules(self._tree, scope.path, module)
        return self._modules[key]

    def imported(self, scope: Scope, item: Import, depth: int = 0) -> Value | None:
        """What an import binds; `FOREIGN` when its module isn't in the repository."""
        files = self.modules(scope, item.module)
        if not item.name:
            return Value(ValueKind.MODULE, files[0]) if files else FOREIGN
        for path in files:
            value = self.exported(path, item.name, depth + 1)
            if value is not None:
                return value
        inner = self.modules(scope, _joined(item.module, item.name))
        if inner:
            return Value(ValueKind.MODULE, inner[0])
        return None if files else FOREIGN

    def exported(self, path: str, name: str, depth: int = 0) -> Value | None:
        """What `name` means for those who import it from the file `path`."""
        key = (path, name)
        if key in self._exports:
            return self._exports[key]
        if depth > _DEEPEST:
            return None
        self._exports[key] = None  # whoever comes back here is on a cycle
        scope = self.scope(path)
        value = self._global(scope, name, depth) if scope else None
        if scope is not None and value is None and path.rpartition("/")[2].startswith("__init__."):
            inner = self.modules(scope, f".{name}")
            value = Value(ValueKind.MODULE, inner[0]) if inner else None
        self._exports[key] = value
        return value

    def _global(self, scope: Scope, name: str, depth: int) -> Value | None:
        """What a name means at the top of a file."""
        if name in scope.top:
            return Value(ValueKind.ENTITY, scope.path, scope.top[name])
        for item in scope.bindings.get(name, ()):
            if item.name or "." not in item.module or item.alias != item.module.partition(".")[0]:
                value = self.imported(scope, item, depth + 1)
            else:  # `import a.b` binds `a`
                files = self.modules(scope, item.alias)
                value = Value(ValueKind.MODULE, files[0]) if files else FOREIGN
            if value is not None:
                return value
        foreign = name in scope.bindings
        for module in scope.stars:
            for path in self.modules(scope, module):
                value = self.exported(path, name, depth + 1)
                if value is not None:
                    return value
        if scope.rules.folder_scope:
            value = self._in_folder(scope, name)
            if value is not None:
                return value
        return FOREIGN if foreign else None

    def _in_folder(self, scope: Scope, name: str) -> Value | None:
        """The file of the same folder and language that defines `name` at its top."""
        for path in self._tree.inside(scope.path.rpartition("/")[0]):
            other = self.scope(path) if path != scope.path else None
            if other is not None and other.language == scope.language and name in other.ordinals:
                return Value(ValueKind.ENTITY, path, other.ordinals[name])
        return None

    def named(self, scope: Scope, owner: int, name: str, depth: int = 0) -> Value | None:
        """What a plain name means inside the entity `owner` (0: at the top of the file)."""
        around, first = owner, True
        while around > 0:
            if first or not scope.is_class(around):
                inside = scope.inside(around)
                if name in inside:
                    return Value(ValueKind.ENTITY, scope.path, inside[name])
            kind = scope.hints.get((around, name))
            if kind is not None:
                return self._typed(scope, around, kind, depth + 1)
            around, first = scope.parent(around), False
        kind = scope.hints.get((0, name))
        if kind is not None and name not in scope.top:
            return self._typed(scope, 0, kind, depth + 1)
        return self._global(scope, name, depth)

    def chain(self, scope: Scope, owner: int, chain: str, depth: int = 0) -> Value | None:
        """What a chain of names means (`self.run`, `mod.Class.make`, `Class().run`).

        `None` when it can't be known, `FOREIGN` when it surely leads out of the repository.
        """
        if depth > _DEEPEST:
            return None
        if "." not in chain and not chain.endswith(")"):
            return self.named(scope, owner, chain, depth)
        made, _, rest = chain.partition("()")
        if len(made) != len(chain):
            value = self._made(scope, owner, made, depth)
            parts = [part for part in rest.split(".") if part]
        else:
            value, rest_parts = self._head(scope, owner, chain.split("."), depth)
            parts = list(rest_parts)
        for part in parts:
            if value is None or value is FOREIGN:
                return value
            value = self._part(value, part, depth)
        return value

    def _head(
        self, scope: Scope, owner: int, parts: list[str], depth: int
    ) -> tuple[Value | None, Sequence[str]]:
        """The value of the first part(s) of a chain, and the parts that are left."""
        head = parts[0]
        if head == "?":
            return None, ()
        if head in scope.rules.instances:
            around = self.enclosing(scope, owner)
            return (Value(ValueKind.INSTANCE, *around) if around else None), parts[1:]
        value = self.named(scope, owner, head, depth)
        if head in scope.bindings and (value is FOREIGN or (value and value.kind is ValueKind.MODULE)):
            for item in scope.bindings[head]:
                own = item.module.split(".")
                if not item.name and len(own) > 1 and parts[: len(own)] == own:
                    files = self.modules(scope, item.module)
                    if files:
                        return Value(ValueKind.MODULE, files[0]), parts[len(own) :]
        return value, parts[1:]

    def _made(self, scope: Scope, owner: int, made: str, depth: int) -> Value | None:
        """The object that a call gives."""
        if made == "super":
            around = self.enclosing(scope, owner)
            bases = self.bases(*around) if around else []
            return next((Value(ValueKind.INSTANCE, b.path, b.ordinal) for b in bases), FOREIGN)
        return self._typed(scope, owner, f"{made}()", depth + 1)

    def enclosing(self, scope: Scope, owner: int) -> tuple[str, int] | None:
        """The class around an entity: (path, ordinal)."""
        around = scope.around(owner)
        if around:
            return scope.path, around
        if owner and scope.rules.folder_scope:
            value = self._in_folder(scope, scope.qualname(owner).rpartition(".")[0])
            return (value.path, value.ordinal) if value else None
        return None

    def _typed(self, scope: Scope, owner: int, kind: str, depth: int) -> Value | None:
        """An object of the type `kind` (`Class`), or what a call gives (`make()`)."""
        called = kind.endswith("()")
        value = self.chain(scope, owner, kind.removesuffix("()"), depth + 1)
        if value is None or value.kind is not ValueKind.ENTITY:
            return FOREIGN if value is FOREIGN else None
        other = self.scope(value.path)
        if other is None:
            return None
        if other.is_class(value.ordinal):
            return Value(ValueKind.INSTANCE, value.path, value.ordinal)
        returns = other.parsed.entities[value.ordinal - 1].returns
        if not called or not returns:
            return None
        if returns in ("Self", "self"):
            around = self.enclosing(other, value.ordinal)
            return Value(ValueKind.INSTANCE, *around) if around else None
        return self._typed(other, other.parent(value.ordinal), returns, depth + 1)

    def _part(self, value: Value, name: str, depth: int) -> Value | None:
        """What `.name` of a value is."""
        if value.kind is ValueKind.MODULE:
            return self.exported(value.path, name, depth + 1)
        scope = self.scope(value.path)
        if scope is None:
            return None
        if value.kind is ValueKind.ENTITY and not scope.is_class(value.ordinal):
            return None  # an attribute of a function
        return self.member(value.path, value.ordinal, name, depth + 1)

    def member(self, path: str, ordinal: int, name: str, depth: int = 0) -> Value | None:
        """A member of a class or of its bases, depth first; `FOREIGN` when a base is outside."""
        key = (path, ordinal, name)
        if key in self._members:
            return self._members[key]
        if depth > _DEEPEST:
            return None
        self._members[key] = None
        value = self._members[key] = self._member(path, ordinal, name, depth)
        return value

    def _member(self, path: str, ordinal: int, name: str, depth: int) -> Value | None:
        scope = self.scope(path)
        if scope is None or not ordinal:
            return None
        found = scope.inside(ordinal).get(name)
        if found is not None:
            return Value(ValueKind.ENTITY, path, found)
        kind = scope.attributes.get(ordinal, _NO_TYPES).get(name)
        if kind is not None:
            return self._typed(scope, ordinal, kind, depth + 1)
        if scope.rules.folder_scope:
            value = self._in_folder(scope, f"{scope.qualname(ordinal)}.{name}")
            if value is not None:
                return value
        bases = self.bases(path, ordinal)
        for base in bases:
            value = self.member(base.path, base.ordinal, name, depth + 1)
            if value is not None and value is not FOREIGN:
                return value
        # Its bases are all known and have no such thing: it was set from outside, or a base is foreign.
        return FOREIGN if len(bases) < len(scope.bases.get(ordinal, ())) else None

    def bases(self, path: str, ordinal: int) -> list[Value]:
        """The base classes that are in the repository, in order."""
        key = (path, ordinal)
        if key not in self._bases:
            self._bases[key] = []
            scope = self.scope(path)
            found = []
            for chain in scope.bases.get(ordinal, ()) if scope else ():
                value = self.chain(scope, scope.parent(ordinal), chain) if scope else None
                if value is not None and value.kind is ValueKind.ENTITY and value[1:] != key:
                    found.append(value)
            self._bases[key] = found
        return self._bases[key]


_NO_TYPES: Mapping[str, str] = {}


def _joined(module: str, name: str) -> str:
    """`name` as a part of `module`, in the way that the module's own name is written."""
    if not module or module.endswith((".", "/", "::")):
        return module + name
    return f"{module}{'::' if '::' in module else '/' if '/' in module else '.'}{name}"
