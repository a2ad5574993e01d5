"""From names as written to the entities they mean.

A name is looked up as the language would: the functions around it, the file, its imports (followed through
re-exports and stars), the files of its folder where a language shares them. Members are looked up through the
base classes; the type of a variable is known where it is annotated or made by a call of a known class.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from codeforge.localize.graph.memo import Memo
from codeforge.localize.graph.scope import Scope
from codeforge.localize.graph.sources import Sources
from codeforge.localize.parsers.base import FileTree, Import, ParsedFile


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
    """Resolves names in the files of one tree. No answer depends on what was asked before.

    Args:
        tree: the indexed files of the repository.
        parsed: the structure of an indexed file, by path; `None` for a file that isn't indexed.
    """

    def __init__(self, tree: FileTree, parsed: Callable[[str], ParsedFile | None]) -> None:
        self.sources = Sources(tree, parsed)
        self._memo = Memo()

    def imported(self, scope: Scope, item: Import) -> Value | None:
        """What an import binds; `FOREIGN` when its module isn't in the repository."""
        files = self.sources.modules(scope, item.module)
        if not item.name:
            return Value(ValueKind.MODULE, files[0]) if files else FOREIGN
        for path in files:
            value = self.exported(path, item.name) or self._nested(path, item)
            if value is not None:
                return value
        inner = self.sources.modules(scope, _joined(item.module, item.name))
        if inner:
            return Value(ValueKind.MODULE, inner[0])
        return None if files else FOREIGN

    def _nested(self, path: str, item: Import) -> Value | None:
        """What is imported from inside of the class that has the name of its file (`import static a.B.c`)."""
        scope = self.sources.scope(path)
        if scope is None or not scope.rules.member_scope:
            return None
        stem = path.rpartition("/")[2].partition(".")[0]
        value = self.exported(path, stem)
        inner = [*item.module.rpartition(f".{stem}")[2].split("."), item.name]
        parts = [part for place, part in enumerate(inner) if part and part != inner[place - 1]]
        return self._follow(value, parts) if value is not None else None

    def exported(self, path: str, name: str) -> Value | None:
        """What `name` means for those who import it from the file `path`."""
        return self._memo.answer((path, name), lambda: self._exported(path, name), None)

    def _exported(self, path: str, name: str) -> Value | None:
        scope = self.sources.scope(path)
        if scope is None:
            return None
        value = self._global(scope, name)
        if value is None and path.rpartition("/")[2].startswith("__init__."):
            inner = self.sources.modules(scope, f".{name}")
            value = Value(ValueKind.MODULE, inner[0]) if inner else None
        return value

    def _global(self, scope: Scope, name: str) -> Value | None:
        """What a name means at the top of a file."""
        value = self._own(scope, name)
        if value is not None:
            return value
        for path in self.sources.starred(scope, name):
            other = self.sources.scope(path)
            value = self._own(other, name) if other else None
            if value is not None:
                return value
        if scope.rules.folder_scope:
            value = self._in_folder(scope, name)
            for path in self.sources.star_files(scope) if value is None else ():
                other = self.sources.scope(path)
                value = self._in_folder(other, name) if other else None
                if value is not None:
                    break
            if value is not None:
                return value
        return FOREIGN if name in scope.bindings else None

    def _own(self, scope: Scope, name: str) -> Value | None:
        """What a name means that a file defines, makes or imports itself."""
        if name in scope.ordinals:
            return Value(ValueKind.ENTITY, scope.path, scope.ordinals[name])
        kind = scope.variables.get(name)
        value = self._typed(scope, 0, kind) if kind is not None else None
        if value is not None:
            return value
        return self._bound(scope, scope.bindings.get(name, ()))

    def _bound(self, scope: Scope, items: Sequence[Import]) -> Value | None:
        """What the first of these imports binds that binds something."""
        for item in items:
            if item.name or "." not in item.module or item.alias != item.module.partition(".")[0]:
                value = self.imported(scope, item)
            else:  # `import a.b` binds `a`
                files = self.sources.modules(scope, item.alias)
                value = Value(ValueKind.MODULE, files[0]) if files else FOREIGN
            if value is not None:
                return value
        return None

    def _in_folder(self, scope: Scope, name: str) -> Value | None:
        """What another file of the same folder defines as `name`."""
        path = self.sources.in_folder(scope, name)
        other = self.sources.scope(path) if path else None
        return Value(ValueKind.ENTITY, other.path, other.ordinals[name]) if other else None

    def named(self, scope: Scope, owner: int, name: str) -> Value | None:
        """What a plain name means inside the entity `owner` (0: at the top of the file)."""
        around, first = owner, True
        while around > 0:
            if first or not scope.is_class(around):
                inside = scope.inside(around)
                if name in inside:
                    return Value(ValueKind.ENTITY, scope.path, inside[name])
            kind = scope.hints.get((around, name))
            if kind is not None:
                return self._typed(scope, around, kind)
            if name in scope.rules.instances and scope.rules.is_own_class(name, scope.signature(around)):
                own = self.enclosing(scope, around)
                return Value(ValueKind.ENTITY, *own) if own else None
            if (first or not scope.is_class(around)) and (around, name) in scope.local:
                value = self._bound(scope, scope.local[around, name])
                return value if value is not None else FOREIGN
            if scope.hides(around, name):
                return None
            around, first = scope.parent(around), False
        if scope.rules.member_scope and owner:
            value = self._own_member(scope, owner, name)
            if value is not None:
                return value
        value = self._in_namespaces(scope, owner, [name])[0]
        return value if value is not None else self._global(scope, name)

    def _in_namespaces(
        self, scope: Scope, owner: int, parts: Sequence[str]
    ) -> tuple[Value | None, Sequence[str]]:
        """The entity that the first parts name in a namespace around `owner`, and the parts that are left."""
        for outer in scope.rules.namespaces(scope.qualname(owner) if owner else ""):
            for length in range(len(parts), 0 if outer else 1, -1):
                value = self._global(scope, ".".join([outer, *parts[:length]] if outer else parts[:length]))
                if value is not None and value is not FOREIGN:
                    return value, parts[length:]
        return None, ()

    def _own_member(self, scope: Scope, owner: int, name: str) -> Value | None:
        """What a plain name means as a member of the classes around an entity, the inner ones first."""
        around = self.enclosing(scope, owner)
        while around:
            value = self.member(*around, name)
            if value is not None and value is not FOREIGN:
                return self._class_of_constructor(value)
            other = self.sources.scope(around[0])
            around = self.enclosing(other, other.parent(around[1])) if other else None
        return None

    def _class_of_constructor(self, value: Value) -> Value:
        """The class, when `value` is a constructor that has its name; `value` otherwise."""
        scope = self.sources.scope(value.path) if value.kind is ValueKind.ENTITY else None
        if scope is None or scope.is_class(value.ordinal) or scope.rules.constructor != "":
            return value
        around = self.enclosing(scope, value.ordinal)
        other = self.sources.scope(around[0]) if around else None
        if around is None or other is None or other.name(around[1]) != scope.name(value.ordinal):
            return value
        return Value(ValueKind.ENTITY, *around)

    def chain(self, scope: Scope, owner: int, chain: str) -> Value | None:
        """What a chain of names means (`self.run`, `mod.Class.make`, `Class().run`).

        `None` when it can't be known, `FOREIGN` when it surely leads out of the repository.
        """
        if "." not in chain and not chain.endswith(")"):
            return self.named(scope, owner, chain)
        made, _, rest = chain.partition("()")
        if len(made) != len(chain):
            value = self._made(scope, owner, made)
            parts = [part for part in rest.split(".") if part]
        else:
            return self._dotted(scope, owner, chain.split("."))
        return self._follow(value, parts)

    def _dotted(self, scope: Scope, owner: int, parts: list[str]) -> Value | None:
        """What `a.b.c` means."""
        head, rest = self._head(scope, owner, parts)
        value = self._follow(head, rest)
        if value is None or value is FOREIGN:
            inner, rest = self._in_namespaces(scope, owner, parts)
            found = self._follow(inner, rest)
            if found is not None and found is not FOREIGN:
                return found
        bound = scope.bound(owner, parts[0])
        if value is None and len(bound) > 1 and head == self._first_meant(scope, parts[0], bound):
            for item in bound[1:]:  # a module and its default, or one of several modules
                value = self._follow(self.imported(scope, item), parts[1:])
                if value is not None:
                    break
        return value

    def _first_meant(self, scope: Scope, name: str, bound: Sequence[Import]) -> Value | None:
        return self._bound(scope, bound) if bound[0].owner else self._own(scope, name)

    def beside(self, scope: Scope, ordinal: int, chain: str) -> Value | None:
        """What a chain means where the definition `ordinal` stands: decorators, bases, types."""
        parent = scope.parent(ordinal) if ordinal else 0
        value = self.chain(scope, parent, chain)
        if (value is None or value is FOREIGN) and ordinal and not parent:
            inner, rest = self._in_namespaces(scope, ordinal, chain.split("."))
            found = self._follow(inner, rest)
            return found if found is not None else value
        return value

    def _follow(self, value: Value | None, parts: Sequence[str]) -> Value | None:
        """What attributes of attributes of a value are."""
        for part in parts:
            if value is None or value is FOREIGN:
                return value
            value = self._part(value, part)
        return value

    def _head(self, scope: Scope, owner: int, parts: list[str]) -> tuple[Value | None, Sequence[str]]:
        """The value of the first part(s) of a chain, and the parts that are left."""
        head = parts[0]
        if head == "?":
            return None, ()
        if head in scope.rules.instances:
            around = self.enclosing(scope, owner)
            if around:
                return Value(ValueKind.INSTANCE, *around), parts[1:]
        value = self.named(scope, owner, head)
        if value is FOREIGN or (value and value.kind is ValueKind.MODULE):
            for item in scope.bound(owner, head):
                own = item.module.split(".")
                if not item.name and len(own) > 1 and parts[: len(own)] == own:
                    files = self.sources.modules(scope, item.module)
                    if files:
                        return Value(ValueKind.MODULE, files[0]), parts[len(own) :]
        return value, parts[1:]

    def _made(self, scope: Scope, owner: int, made: str) -> Value | None:
        """The object that a call gives."""
        if made == "super":
            around = self.enclosing(scope, owner)
            bases = self.bases(*around) if around else []
            return next((Value(ValueKind.INSTANCE, b.path, b.ordinal) for b in bases), FOREIGN)
        return self._typed(scope, owner, f"{made}()")

    def enclosing(self, scope: Scope, owner: int) -> tuple[str, int] | None:
        """The class around an entity: (path, ordinal)."""
        around = scope.around(owner)
        if around:
            return scope.path, around
        if owner and scope.rules.folder_scope:
            value = self._global(scope, scope.qualname(owner).rpartition(".")[0])
            return (value.path, value.ordinal) if value and value.kind is ValueKind.ENTITY else None
        return None

    def _typed(self, scope: Scope, owner: int, kind: str) -> Value | None:
        """An object of the type `kind` (`Class`), or what a call gives (`make()`)."""
        question = (scope.path, owner, kind)
        called = kind.endswith("()")
        chain = kind.removesuffix("()")
        return self._memo.answer(
            question, lambda: self._object(self.chain(scope, owner, chain), called), None
        )

    def _object(self, value: Value | None, called: bool) -> Value | None:
        """An object of the class `value`, or what calling the function `value` gives."""
        if value is None or value.kind is not ValueKind.ENTITY:
            return FOREIGN if value is FOREIGN else None
        scope = self.sources.scope(value.path)
        if scope is None:
            return None
        if scope.is_class(value.ordinal):
            return Value(ValueKind.INSTANCE, value.path, value.ordinal)
        returns = scope.parsed.entities[value.ordinal - 1].returns
        if not called or not returns:
            return None
        if returns in ("Self", "self"):
            around = self.enclosing(scope, value.ordinal)
            return Value(ValueKind.INSTANCE, *around) if around else None
        question = (value.path, value.ordinal, "returns", "")
        return self._memo.answer(
            question, lambda: self._object(self.beside(scope, value.ordinal, returns), False), None
        )

    def _part(self, value: Value, name: str) -> Value | None:
        """What `.name` of a value is."""
        if value.kind is ValueKind.MODULE:
            return self.exported(value.path, name)
        scope = self.sources.scope(value.path)
        if scope is None:
            return None
        if value.kind is ValueKind.ENTITY and not scope.is_class(value.ordinal):
            return None  # an attribute of a function
        return self.member(value.path, value.ordinal, name)

    def member(self, path: str, ordinal: int, name: str) -> Value | None:
        """A member of a class or of its bases, depth first; `FOREIGN` when a base is outside."""
        question = (path, ordinal, "member", name)
        return self._memo.answer(question, lambda: self._member(path, ordinal, name), None)

    def _member(self, path: str, ordinal: int, name: str) -> Value | None:
        scope = self.sources.scope(path)
        if scope is None or not ordinal:
            return None
        found = scope.inside(ordinal).get(name)
        if found is not None:
            return Value(ValueKind.ENTITY, path, found)
        attribute = scope.attributes.get(ordinal, _NO_TYPES).get(name)
        if attribute is not None:
            return self._typed(scope, *attribute)
        if scope.rules.folder_scope:
            value = self._declared(scope, f"{scope.qualname(ordinal)}.{name}")
            if value is not None:
                return value
        bases = self.bases(path, ordinal)
        for base in bases:
            value = self.member(base.path, base.ordinal, name)
            if value is not None and value is not FOREIGN:
                return value
        # Its bases are all known and have no such thing: it was set from outside, or a base is foreign.
        return FOREIGN if len(bases) < len(scope.bases.get(ordinal, ())) else None

    def _declared(self, scope: Scope, qualname: str) -> Value | None:
        """What this file may only declare, where another one defines it."""
        value = self._in_folder(scope, qualname)
        for path in self.sources.companions(scope) if value is None else ():
            other = self.sources.scope(path)
            if other is not None and qualname in other.ordinals:
                return Value(ValueKind.ENTITY, path, other.ordinals[qualname])
        return value

    def bases(self, path: str, ordinal: int) -> Sequence[Value]:
        """The base classes that are in the repository, in order."""
        return self._memo.answer((path, ordinal, "bases", ""), lambda: self._bases(path, ordinal), ())

    def _bases(self, path: str, ordinal: int) -> Sequence[Value]:
        scope = self.sources.scope(path)
        if scope is None:
            return ()
        found = []
        for chain in scope.bases.get(ordinal, ()):
            value = self.beside(scope, ordinal, chain)
            if value is not None and value.kind is ValueKind.ENTITY and value[1:] != (path, ordinal):
                found.append(value)
        return found


_NO_TYPES: Mapping[str, tuple[int, str]] = {}


def _joined(module: str, name: str) -> str:
    """`name` as a part of `module`, in the way that the module's own name is written."""
    if not module or module.endswith((".", "/", "::")):
        return module + name
    return f"{module}{'::' if '::' in module else '/' if '/' in module else '.'}{name}"
