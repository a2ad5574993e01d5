"""What the names of one file mean, before other files are asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import (
    LISTED,
    Import,
    LanguageRules,
    ParsedFile,
    ReferenceKind,
    language_of,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """One file.

    Attributes:
        path: the file.
        rules: of its language.
        family: of languages that use each other's code.
        parsed: its structure.
        ordinals: by qualified name, the entity (the last one of that name).
        top: by name, the entities outside others.
        members: by qualified name of an entity, what is directly inside it, by name.
        bindings: by name, the imports that bind it in the whole file.
        local: by (owner, name), the imports that bind it only inside an entity.
        stars: the modules whose names are all bound here.
        exports: the names that others get who bind all of this file; `None` for all of them.
        hints: by (owner, variable), its type.
        variables: those of them that are at the top of the file.
        hidden: (owner, variable) of those that only their functions know, with an unknown type.
        attributes: by class, the types of its objects' attributes, each with the entity that binds it.
        bases: by class, its bases as written.
    """

    path: str
    rules: LanguageRules
    family: str
    parsed: ParsedFile
    ordinals: Mapping[str, int]
    top: Mapping[str, int]
    members: Mapping[str, Mapping[str, int]]
    bindings: Mapping[str, Sequence[Import]]
    local: Mapping[tuple[int, str], Sequence[Import]]
    stars: Sequence[str]
    exports: frozenset[str] | None
    hints: Mapping[tuple[int, str], str]
    variables: Mapping[str, str]
    hidden: Collection[tuple[int, str]]
    attributes: Mapping[int, Mapping[str, tuple[int, str]]]
    bases: Mapping[int, Sequence[str]]

    def is_class(self, ordinal: int) -> bool:
        """Whether this entity is a class."""
        return ordinal > 0 and self.parsed.entities[ordinal - 1].kind is EntityKind.CLASS

    def parent(self, ordinal: int) -> int:
        """The entity around it, 0 for the file."""
        return self.parsed.entities[ordinal - 1].parent

    def qualname(self, ordinal: int) -> str:
        """Its qualified name."""
        return self.parsed.entities[ordinal - 1].qualname

    def name(self, ordinal: int) -> str:
        """The last part of that."""
        return self.qualname(ordinal).rpartition(".")[2]

    def signature(self, ordinal: int) -> str:
        """Its header."""
        return self.parsed.entities[ordinal - 1].signature

    def inside(self, ordinal: int) -> Mapping[str, int]:
        """What is directly inside an entity."""
        return self.members.get(self.qualname(ordinal), _NOTHING)

    def bound(self, owner: int, name: str) -> Sequence[Import]:
        """The imports by which a name is bound inside an entity (0: at the top of the file)."""
        inner = owner if self.local else 0
        while inner > 0:
            found = self.local.get((inner, name))
            if found is not None and (inner == owner or not self.is_class(inner)):
                return found
            inner = self.parent(inner)
        return self.bindings.get(name, ())

    def hides(self, ordinal: int, name: str) -> bool:
        """Whether a function itself binds a name, so that it doesn't mean there what it means outside."""
        if (ordinal, name) in self.hidden:
            return True
        entity = self.parsed.entities[ordinal - 1]
        if name not in entity.signature or entity.kind is EntityKind.CLASS:
            return False
        return name in self.rules.parameters(entity.signature)

    def around(self, ordinal: int) -> int:
        """The class around an entity (or itself), by qualified names too: methods may stand outside of their
        type. 0 when there is none here."""
        while ordinal > 0 and not self.is_class(ordinal):
            owner = self.qualname(ordinal).rpartition(".")[0]
            ordinal = self.parent(ordinal) or (self.ordinals.get(owner, 0) if owner else 0)
        return ordinal


_NOTHING: Mapping[str, int] = {}


def is_listing(item: Import) -> bool:
    """Whether this is no import but a name that the file lists for others."""
    return item.alias == LISTED and not item.module


def scope_of(path: str, parsed: ParsedFile) -> Scope | None:
    """The names of a file; `None` when its language has no parser."""
    language = language_of(path)
    if language is None:
        return None
    ordinals: dict[str, int] = {}
    top: dict[str, int] = {}
    members: dict[str, dict[str, int]] = {}
    for ordinal, entity in enumerate(parsed.entities, 1):
        qualname = entity.qualname
        ordinals[qualname] = ordinal
        owner, _, name = qualname.rpartition(".")
        if owner:
            members.setdefault(owner, {})[name] = ordinal
        else:
            top[name] = ordinal
    bindings: dict[str, list[Import]] = {}
    local: dict[tuple[int, str], list[Import]] = {}
    listed = frozenset(item.name for item in parsed.imports if is_listing(item))
    imports = [item for item in parsed.imports if not is_listing(item)] if listed else parsed.imports
    for item in imports:
        if item.name != "*":
            if item.owner:
                local.setdefault((item.owner, item.alias), []).append(item)
            else:
                bindings.setdefault(item.alias, []).append(item)
    stars = [item.module for item in imports if item.name == "*"]
    bases: dict[int, list[str]] = {}
    for owner_ordinal, kind, chain in parsed.references:
        if kind == ReferenceKind.BASE:
            bases.setdefault(owner_ordinal, []).append(chain)
    hints = {(hint.owner, hint.name): hint.type for hint in reversed(parsed.hints) if hint.type}
    return Scope(
        path,
        language.rules,
        language.family,
        parsed,
        ordinals,
        top,
        members,
        bindings,
        local,
        stars,
        listed or None,
        hints,
        {
            name: kind
            for (owner_ordinal, name), kind in hints.items()
            if not owner_ordinal and "." not in name
        },
        {(hint.owner, hint.name) for hint in parsed.hints if not hint.type},
        _attributes(parsed, language.rules),
        bases,
    )


def _attributes(parsed: ParsedFile, rules: LanguageRules) -> dict[int, dict[str, tuple[int, str]]]:
    """Types of attributes by class: bound in its body, or through the object in a method. The first
    counts."""
    found: dict[int, dict[str, tuple[int, str]]] = {}
    for owner, name, kind in parsed.hints:
        if owner == 0 or not kind:
            continue
        entity = parsed.entities[owner - 1]
        if entity.kind is EntityKind.CLASS and "." not in name:
            found.setdefault(owner, {}).setdefault(name, (owner, kind))
            continue
        receiver, _, attribute = name.partition(".")
        if attribute and "." not in attribute and receiver in rules.instances and entity.parent:
            # What only the method knows is known there alone.
            binder = owner if rules.local_imports else entity.parent
            found.setdefault(entity.parent, {}).setdefault(attribute, (binder, kind))
    return found
