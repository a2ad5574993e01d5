"""C++."""

from codeforge.localize.parsers.c import CRules


class CppRules(CRules):
    """Implements `LanguageRules`."""

    instances = frozenset(("this",))
    member_scope = True
    constructor = ""


RULES = CppRules()
