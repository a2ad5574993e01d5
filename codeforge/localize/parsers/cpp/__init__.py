"""C++."""

from codeforge.localize.parsers.c import CRules


class CppRules(CRules):
    """Implements `LanguageRules`."""

    instances = frozenset(("this",))
    member_scope = True

    def constructor(self, name: str) -> str:
        """See `LanguageRules`."""
        return name


RULES = CppRules()
