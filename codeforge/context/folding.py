"""Shorter forms of source excerpts: first a preview around the lines that matter, then headers only."""

from collections.abc import Collection, Iterator, Sequence

from codeforge.localize.parsers.base import ParsedEntity, parser_for

MARGIN = 3
"""Lines kept before and after each line that matters."""
_LAYERS = (MARGIN, 1)


def fold_levels(text: str, path: str, interesting: Collection[int] = ()) -> tuple[str, ...]:
    """Shorter forms of an excerpt (lines of `path`), longest first, for `ContextItem.folds`.

    Every kept line keeps its text; each gap becomes one comment-like line that says how many lines it hides.

    Args:
        text: the excerpt, `\\n` between lines.
        path: tells the language.
        interesting: 1-based lines of the excerpt that must stay as long as possible.
    """
    lines = text.split("\n")
    headers = _header_lines(text, path)
    forms: list[str] = []
    for margin in _LAYERS if interesting else ():
        kept = headers | {
            line
            for middle in interesting
            for line in range(middle - margin, middle + margin + 1)
            if 1 <= line <= len(lines)
        }
        forms.append("\n".join(_folded(lines, kept)))
    forms.append("\n".join(_folded(lines, headers)))
    shorter = [form for form in dict.fromkeys(forms) if len(form) < len(text)]
    return tuple(sorted(shorter, key=len, reverse=True))


def outline(text: str, path: str, *, hide: Collection[str] = ()) -> str:
    """The imports and the headers of a file's classes and functions, in order; "" when nothing is known.

    Args:
        text: the whole file.
        path: tells the language.
        hide: qualified names that are shown elsewhere.
    """
    parser = parser_for(path)
    if parser is None:
        return ""
    parsed = parser.parse(text.encode("utf-8", "replace"))
    lines = text.split("\n")
    inside = [False] * (len(lines) + 2)
    for entity in parsed.entities:
        for line in range(entity.start_line, min(entity.end_line, len(lines)) + 1):
            inside[line] = True
    imports = list(_imports(lines, inside))
    shown = [e for e in parsed.entities if e.qualname not in hide and not _is_local(e, parsed.entities)]
    headers = ["    " * entity.qualname.count(".") + f"{entity.signature} ..." for entity in shown]
    return "\n".join([*imports, *headers])


def _imports(lines: Sequence[str], inside: Sequence[bool]) -> Iterator[str]:
    """The import statements at the top level, with the lines that continue them."""
    open_brackets = 0
    for number, line in enumerate(lines, start=1):
        if open_brackets or (not inside[number] and line.startswith(("import ", "from "))):
            yield line
            code = line.split("#", 1)[0]
            open_brackets = max(0, open_brackets + code.count("(") - code.count(")"))


def _is_local(entity: ParsedEntity, entities: Sequence[ParsedEntity]) -> bool:
    """Whether it is defined inside a function: of no use outside."""
    return any(
        other.kind.value == "function" and entity.qualname.startswith(f"{other.qualname}.")
        for other in entities
    )


def _header_lines(text: str, path: str) -> set[int]:
    """The lines from each definition's first line to the end of its header; the first line at least."""
    parser = parser_for(path)
    lines = text.split("\n")
    kept = {1}
    for entity in parser.parse(text.encode("utf-8", "replace")).entities if parser else ():
        for number in range(entity.start_line, entity.end_line + 1):
            kept.add(number)
            if lines[number - 1].split("#", 1)[0].rstrip().endswith((":", "{")):
                break
    return kept


def _folded(lines: Sequence[str], kept: Collection[int]) -> Iterator[str]:
    hidden: list[str] = []
    for number, line in enumerate(lines, start=1):
        if number in kept:
            yield from _gap(hidden)
            hidden = []
            yield line
        else:
            hidden.append(line)
    yield from _gap(hidden)


def _gap(hidden: Sequence[str]) -> Iterator[str]:
    """A gap of one line is shown: saying that it is missing costs as much."""
    if len(hidden) == 1:
        yield hidden[0]
    elif hidden:
        filled = next((line for line in hidden if line.strip()), "")
        indent = filled[: len(filled) - len(filled.lstrip())]
        yield f"{indent}# ... {len(hidden)} lines"
