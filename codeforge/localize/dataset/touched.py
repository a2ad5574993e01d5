"""Which functions and classes a change touches, named as the tree before the change has them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from codeforge.localize.dataset.meaning import same_but_inside, same_program
from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import ParsedEntity, language_of


class Edit(NamedTuple):
    """One run of changed lines.

    Attributes:
        start: the first line that goes, 1-based in the old file; where none goes, the line before which lines
            are added.
        removed: the lines that go, without line ends.
        added: the lines that come.
    """

    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Touched:
    """Ids (`path:Qual.name`) of the entities touched, in order of the file, each once.

    A line counts for the innermost entity around it: a class is touched where its own lines are, not where
    only its methods are.
    """

    functions: tuple[str, ...]
    classes: tuple[str, ...]


def split_lines(raw: bytes) -> list[str]:
    """Lines as git counts them, without `\\n`; bytes that are not UTF-8 become surrogate escapes."""
    lines = raw.decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def edits_of(patched: Any) -> list[Edit]:
    """The edits of a `unidiff.PatchedFile`, with or without lines of context."""
    edits: list[Edit] = []
    for hunk in patched:
        line = hunk.source_start if hunk.source_length else hunk.source_start + 1
        start, removed, added = line, list[str](), list[str]()
        for each in hunk:
            text = each.value.removesuffix("\n")
            if each.is_removed:
                removed.append(text)
                line += 1
            elif each.is_added:
                added.append(text)
            elif each.is_context:
                if removed or added:
                    edits.append(Edit(start, tuple(removed), tuple(added)))
                line += 1
                start, removed, added = line, [], []
        if removed or added:
            edits.append(Edit(start, tuple(removed), tuple(added)))
    return edits


def apply_edits(lines: Sequence[str], edits: Iterable[Edit]) -> list[str] | None:
    """`lines` after the edits; `None` when the edits were made for other lines."""
    result: list[str] = []
    done = 0
    for edit in edits:
        at = edit.start - 1
        if at < done or tuple(lines[at : at + len(edit.removed)]) != edit.removed:
            return None
        result += lines[done:at]
        result += edit.added
        done = at + len(edit.removed)
    return [*result, *lines[done:]]


def touched_entities(path: str, base: bytes, edits: Sequence[Edit]) -> Touched | None:
    """What the edits touch in the file `path`, whose old content is `base`.

    Lines that go count for the entity around them. A pure insertion counts for the entity around it; what it
    adds as a whole (a new method) counts for the nearest entity around that was there before (its class).
    Blank lines count for nothing, and an entity of which only comments or docstrings change is not touched
    (Python). A file in a language without a parser has no entities.

    Returns:
        `None` when nothing but comments and docstrings changes, or when the edits don't fit `base`.
    """
    lines = split_lines(base)
    after = apply_edits(lines, edits)
    if after is None:
        return None
    language = language_of(path)
    if language is None:
        return None if same_program(path, lines, after) else Touched((), ())
    old = language.parser.parse(_source(lines)).entities
    new = language.parser.parse(_source(after)).entities
    found = _found(old, new, edits)
    found -= _only_comments(path, found, _texts(old, lines), _texts(new, after))
    if not found and same_program(path, lines, after):
        return None
    return Touched(
        *(
            tuple(
                dict.fromkeys(f"{path}:{e.qualname}" for e in old if e.kind is kind and e.qualname in found)
            )
            for kind in (EntityKind.FUNCTION, EntityKind.CLASS)
        )
    )


def _texts(entities: Sequence[ParsedEntity], lines: Sequence[str]) -> dict[str, list[Sequence[str]]]:
    """By qualified name the lines of its definitions: overloads and property setters share a name."""
    texts: dict[str, list[Sequence[str]]] = {}
    for entity in entities:
        texts.setdefault(entity.qualname, []).append(lines[entity.start_line - 1 : entity.end_line])
    return texts


def _only_comments(
    path: str,
    names: Collection[str],
    old: Mapping[str, Sequence[Sequence[str]]],
    new: Mapping[str, Sequence[Sequence[str]]],
) -> set[str]:
    """Those of `names` whose definitions, without those in them, are the same programs before and after."""
    return {
        name
        for name in names
        for before in (old[name],)
        if len(before) == len(after := new.get(name, ()))
        and all(same_but_inside(path, *pair) for pair in zip(before, after, strict=True))
    }


def _found(old: Sequence[ParsedEntity], new: Sequence[ParsedEntity], edits: Sequence[Edit]) -> set[str]:
    """Qualified names of the old entities that the edits touch."""
    known = {entity.qualname for entity in old}
    found: set[str] = set()
    shift = 0
    for edit in edits:
        if any(line.strip() for line in edit.removed):
            found |= _names(old, edit.start, edit.removed)
        else:
            found.update(_known(name, known) for name in _names(new, edit.start + shift, edit.added))
        shift += len(edit.added) - len(edit.removed)
    return found - {""}


def _names(entities: Sequence[ParsedEntity], first: int, lines: Sequence[str]) -> set[str]:
    """Qualified names of the innermost entities around those of `lines`, counted from `first`, that aren't
    blank."""
    wanted = [number for number, line in enumerate(lines, first) if line.strip()]
    if not wanted:
        return set()
    near = [e for e in entities if e.start_line <= wanted[-1] and e.end_line >= wanted[0]]
    found = set()
    for number in wanted:
        around = [e for e in near if e.start_line <= number <= e.end_line]
        if around:
            found.add(around[-1].qualname)  # entities stand in source order: the last one begins latest
    return found


def _known(name: str, known: Collection[str]) -> str:
    """`name`, or the nearest name around it, that was there before; "" for none."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def _source(lines: Iterable[str]) -> bytes:
    """What parsers take: UTF-8 with `\\n`."""
    text = "".join(f"{line.removesuffix(chr(13))}\n" for line in lines)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()
