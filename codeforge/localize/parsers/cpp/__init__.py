"""C++."""

from collections.abc import Sequence

from codeforge.localize.parsers.c import CRules
from codeforge.localize.parsers.paths import outer_names


class CppRules(CRules):
    """Implements `LanguageRules`."""

    instances = frozenset(("this",))
    member_scope = True
    constructor = ""

    def namespaces(self, qualname: str) -> Sequence[str]:
        """See `LanguageRules`."""
        return outer_names(qualname)


RULES = CppRules()
