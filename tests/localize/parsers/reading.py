"""What a parser says of a text, asked by the names of entities."""

from textwrap import dedent

from codeforge.localize.parsers.base import ParsedEntity, ReferenceKind, parser_for


class Reading:
    """A parsed text. The file itself is the entity `""`.

    Args:
        path: a name with the extension of the language.
        text: the source; it is dedented.
    """

    def __init__(self, path: str, text: str) -> None:
        parser = parser_for(path)
        assert parser is not None
        self.source = dedent(text).lstrip("\n")
        self.parsed = parser.parse(self.source.encode())
        self.names = [entity.qualname for entity in self.parsed.entities]

    def __getitem__(self, qualname: str) -> ParsedEntity:
        return self.parsed.entities[self.names.index(qualname)]

    def lines(self, qualname: str) -> tuple[int, int]:
        """Its first and its last line."""
        return self[qualname].start_line, self[qualname].end_line

    def text(self, qualname: str) -> str:
        """The bytes of its span."""
        entity = self[qualname]
        return self.source.encode()[entity.start : entity.end].decode()

    def parent(self, qualname: str) -> str:
        """The entity around it."""
        return self._name(self[qualname].parent)

    @property
    def imports(self) -> list[tuple[str, str, str]]:
        """Its imports, in order: (module, name, alias)."""
        return [item[:3] for item in self.parsed.imports]

    def local_imports(self, owner: str) -> list[str]:
        """The names that are imported only inside an entity."""
        return [item.alias for item in self.parsed.imports if owner and self._name(item.owner) == owner]

    def calls(self, owner: str) -> set[str]:
        """What an entity calls by itself."""
        return self._used(owner, ReferenceKind.CALL)

    def decorators(self, owner: str) -> set[str]:
        """What decorates an entity."""
        return self._used(owner, ReferenceKind.DECORATOR)

    def bases(self, owner: str) -> set[str]:
        """The bases of a class."""
        return self._used(owner, ReferenceKind.BASE)

    def hints(self, owner: str) -> dict[str, str]:
        """The known types of an entity's variables; the first of each."""
        hints = reversed(self.parsed.hints)
        return {hint.name: hint.type for hint in hints if self._name(hint.owner) == owner}

    def _used(self, owner: str, kind: ReferenceKind) -> set[str]:
        found = [
            one.chain for one in self.parsed.references if (self._name(one.owner), one.kind) == (owner, kind)
        ]
        assert len(found) == len(set(found)), "each once for an owner"
        return set(found)

    def _name(self, ordinal: int) -> str:
        return self.names[ordinal - 1] if ordinal else ""
