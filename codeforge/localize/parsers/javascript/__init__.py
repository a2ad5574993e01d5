"""JavaScript: ECMAScript modules and CommonJS. TypeScript has the same rules."""

import re
from collections.abc import Iterator, Sequence

from codeforge.localize.parsers.base import FileTree, Import, LanguageRules
from codeforge.localize.parsers.paths import joined, only

_COMMENTS = re.compile(r"/\*.*?\*/|(?<![:'\"/])//[^\n]*", re.DOTALL)
_STRING = r"(?P<quote>['\"`])(?P<module>[^'\"`]*)(?P=quote)"
_FROM = re.compile(rf"(?P<verb>import|export)\b(?P<what>[^'\"`]*?)(?:\bfrom\b\s*)?{_STRING}", re.DOTALL)
_REQUIRE = re.compile(
    rf"(?:(?P<what>[\w$.]+|\{{[^}}]*\}})\s*(?::[^=]*)?=\s*)?require\s*\(\s*{_STRING}\s*\)(?:\.(?P<part>[\w$]+))?",
    re.DOTALL,
)
_DYNAMIC = re.compile(rf"import\s*\(\s*{_STRING}", re.DOTALL)
_DEFAULT = re.compile(
    r"export\s+default\s+(?:async\s+|abstract\s+)*(?P<declared>(?:function\b\s*\*?|class\b)\s*)?"
    r"(?P<name>[\w$]+)\s*(?P<more>.?)",
    re.DOTALL,
)
_LIST = re.compile(r"export\s*(?:type\s*)?\{(?P<names>[^}]*)\}", re.DOTALL)
_ASSIGNED = re.compile(
    r"(?:module\s*\.\s*)?exports(?:\s*\.\s*(?P<alias>[\w$]+))?\s*=\s*(?P<value>.*)", re.DOTALL
)
_FUNCTION = re.compile(
    r"(?:async\s+)?(?:(?:function\b\s*\*?|class\b)\s*(?!extends\b)(?P<name>[\w$]*)|\(|[\w$]+\s*=>)"
)
_EQUALS = re.compile(r"export\s*=\s*(?P<name>[\w$]+)")
_PAIR = re.compile(r"(?<=[{,])\s*(?P<key>[\w$]+)\s*:\s*(?P<value>[\w$]+)\s*(?=[,}])")
_NOT_BOUND = frozenset(
    ("function", "class", "new", "true", "false", "null", "undefined", "async", "await", "extends")
)
_WRITTEN_AS = re.compile(r"\.[cm]?jsx?$")


class EcmaScriptRules(LanguageRules):
    """Implements `LanguageRules`.

    What a file exports under another name than it has is told by imports from `""`, the file itself.

    Args:
        extensions: of the files that a module name without one may mean, the first one that exists counts.
    """

    instances = frozenset(("this",))
    folder_scope = False
    member_scope = False
    constructor = "constructor"

    def __init__(self, extensions: Sequence[str]) -> None:
        self._extensions = extensions

    def imports(self, statement: str) -> Sequence[Import]:
        """See `LanguageRules`. A default import also binds the module, for those that have no default."""
        return list(_imports(statement))

    def modules(self, tree: FileTree, importer: str, module: str) -> Sequence[str]:
        """See `LanguageRules`. Relative names are exact, up to extensions and index files; names that start
        at a root are looked up in that of the repository, in its `src`, and behind `@/` anywhere."""
        if not module:
            return (importer,)
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._at(tree, joined(importer.rpartition("/")[0], module))
        if module.startswith("/"):
            return self._at(tree, module[1:])
        for root in ("@/", "~/", "~", "#/", "$lib/"):
            if module.startswith(root):
                return self._anywhere(tree, module[len(root) :])
        if "/" not in module:
            return ()
        if module.startswith("@"):
            return self._anywhere(tree, module[1:])
        return self._at(tree, module) or self._at(tree, f"src/{module}")

    def _stems(self, stem: str) -> Iterator[str]:
        yield stem
        for extension in self._extensions:
            yield stem + extension
        written = _WRITTEN_AS.search(stem)
        if written:  # TypeScript names the file that it will become
            for extension in self._extensions:
                yield stem[: written.start()] + extension
        for extension in self._extensions:
            yield f"{stem}/index{extension}".lstrip("/")

    def _at(self, tree: FileTree, stem: str | None) -> Sequence[str]:
        if stem is None:
            return ()
        return [path for path in self._stems(stem) if path in tree][:1]

    def _anywhere(self, tree: FileTree, tail: str) -> Sequence[str]:
        if not tail:
            return ()
        for path in self._stems(tail):
            found = tree.ending(path)
            if found:
                return only(found)
        return ()


def _imports(statement: str) -> Iterator[Import]:
    if statement.startswith("export") and (default := _DEFAULT.match(statement)):
        used = default["more"] in (".", "(", "`", "=", "[") and not default["declared"]
        if default["name"] not in _NOT_BOUND and not used:
            yield Import("", default["name"], "default")
        return
    text = _COMMENTS.sub(" ", statement).strip()
    if text.startswith(("import", "export")):
        yield from _declared(text)
        return
    required = _REQUIRE.match(text)
    if required:
        yield from _required(required, required["what"] or "")
        return
    assigned = _ASSIGNED.match(text)
    if assigned:
        yield from _exported(assigned["alias"] or "default", assigned["value"].strip())


def _declared(text: str) -> Iterator[Import]:
    """`import` and `export` statements, `import(...)`."""
    for pattern in (_DYNAMIC, _EQUALS):
        found = pattern.match(text)
        if found:
            bound = pattern is _EQUALS
            yield Import("", found["name"], "default") if bound else Import(found["module"], "", "")
            return
    required = _REQUIRE.search(text)
    if required:
        yield from _required(required, required["what"] or "")
        return
    found = _FROM.match(text)
    if found:
        yield from _clause(found["module"], found["what"].strip(), found["verb"] == "export")
        return
    listed = _LIST.match(text)
    for name, alias in _names(listed["names"]) if listed else ():
        if name != alias:
            yield Import("", name, alias)


def _clause(module: str, what: str, is_export: bool) -> Iterator[Import]:
    """What stands between `import` (`export`) and `from`."""
    what = re.sub(r"^(?:type|typeof)\s+(?=[\w${*])", "", what)
    if not what:
        yield Import(module, "", "")
        return
    before, _, rest = what.partition("{")
    for part in before.split(","):
        words = part.split()
        if words[:1] == ["*"]:
            yield Import(module, "", words[2]) if len(words) > 2 else Import(module, "*", "*")
        elif words and not is_export:
            yield Import(module, "default", words[0])
            yield Import(module, "", words[0])
    for name, alias in _names(rest.partition("}")[0]):
        yield Import(module, name, alias)


def _names(listed: str) -> Iterator[tuple[str, str]]:
    """`a, b as c, type D`, `a, b: c` → (name, alias)."""
    for part in listed.split(","):
        words = part.partition("=")[0].replace(":", " as ").replace('"', "").replace("'", "").split()
        if len(words) > 1 and words[0] in ("type", "typeof") and words[1] != "as":
            words = words[1:]
        if len(words) == 3 and words[1] == "as":
            yield words[0], words[2]
        elif len(words) == 1 and not words[0].startswith("..."):
            yield words[0], words[0]


def _required(found: "re.Match[str]", what: str) -> Iterator[Import]:
    """`what = require(module).part`."""
    module, part = found["module"], found["part"] or ""
    if what.startswith("{"):
        for name, alias in _names(what[1:-1]) if not part else ():
            yield Import(module, name, alias)
        return
    alias = what.rpartition(".")[2]
    alias = "default" if what == "module.exports" else "" if alias == "exports" else alias
    if part and alias:
        yield Import(module, part, alias)
    else:
        if alias:
            yield Import(module, "default", alias)
        yield Import(module, "", alias)


def _exported(alias: str, value: str) -> Iterator[Import]:
    """`exports.alias = value` (`default` for the whole)."""
    required = _REQUIRE.match(value)
    if required and not required["what"]:
        yield from _required(required, alias)
    elif value.startswith("{"):
        for pair in _PAIR.finditer(value) if alias == "default" else ():
            if (
                pair["value"] not in _NOT_BOUND
                and pair["key"] != pair["value"]
                and not pair["value"].isdigit()
            ):
                yield Import("", pair["value"], pair["key"])
    elif function := _FUNCTION.match(value):
        name = function["name"] or "exports"
        if alias == "default":
            yield Import("", name, alias)
    elif re.fullmatch(r"[A-Za-z_$][\w$]*", value) and value not in _NOT_BOUND and value != alias:
        yield Import("", value, alias)
    elif assigned := _ASSIGNED.match(value):
        yield from _exported(assigned["alias"] or "default", assigned["value"].strip())


RULES = EcmaScriptRules((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".d.ts", ".mts", ".cts"))
