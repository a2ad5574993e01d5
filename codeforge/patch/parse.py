"""Parse an answer, as models really write them, into edits.

Tried in this order, each on what the ones before left over: explicit directives (see `directives`),
SEARCH/REPLACE blocks, unified diffs, and, only when none of these gave anything, whole functions and
classes (see `wholecode`). What looks like an edit and can't be one is a `ParseProblem`.
"""

from collections.abc import Iterable

from codeforge.patch.answer import Draft, ParsedAnswer, ParseProblem
from codeforge.patch.blocks import take_blocks
from codeforge.patch.directives import take_directives
from codeforge.patch.entities import EntitySource
from codeforge.patch.fences import Fence, find_fences
from codeforge.patch.pathline import path_above, path_alone, path_of_info
from codeforge.patch.udiff import FileDiff, parse_diff, starts_diff
from codeforge.patch.wholecode import Redefinition, redefine

__all__ = ["ParseProblem", "ParsedAnswer", "parse_answer"]

_DIFF_LANGUAGES = ("diff", "patch", "udiff")


def parse_answer(
    text: str, entities: EntitySource | None = None, known_paths: Iterable[str] = ()
) -> ParsedAnswer:
    """Read the edits out of `text`. Never raises, whatever the text.

    Args:
        text: the answer.
        entities: what is known about the repository; without it whole functions are not understood.
        known_paths: paths relative to the root that the answer may well name (the prompt's files). With
            exactly one, a block that names no path is for that file.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    draft = Draft(lines, frozenset(known_paths))
    take_blocks(draft, entities)
    take_directives(draft)
    _take_diffs(draft)
    if entities is not None and not draft.has_edits:
        _take_code(draft, entities)
    return draft.finish()


def _take_diffs(draft: Draft) -> None:
    for fence in find_fences(draft.lines, draft.taken):
        if not draft.free(fence.start, fence.after):
            continue
        body = fence.content(draft.lines)
        headed = any(starts_diff(body, index) for index in range(len(body)))
        if headed or fence.language in _DIFF_LANGUAGES:
            path = _fence_path(draft, fence)
            files, _ = parse_diff(body, first_line=fence.start + 1, path=path)
            _add_diff(draft, fence.start, files)
            draft.take(fence.start, fence.after)
    index = 0
    while index < len(draft.lines):
        if draft.taken[index] or not starts_diff(draft.lines, index):
            index += 1
            continue
        files, used = parse_diff(draft.lines[index:], first_line=index, fenced=False)
        _add_diff(draft, index, files)
        end = index + max(used, 1)
        draft.take(index, end)
        index = end


def _add_diff(draft: Draft, line: int, files: list[FileDiff]) -> None:
    if not files:
        draft.problem(line, "a diff without a file name or a hunk")
    for file in files:
        edits, problems = file.edits()
        draft.add(file.line, edits)
        for reason in problems:
            draft.problem(file.line, reason)
        if not edits and not problems:
            draft.problem(file.line, "the diff changes nothing")


def _fence_path(draft: Draft, fence: Fence) -> str | None:
    path = path_of_info(fence.info, draft.known_paths)
    path = path or path_above(draft.lines, fence.start, 0, draft.known_paths)
    if path is None and len(draft.known_paths) == 1:
        (path,) = draft.known_paths
    return path


def _take_code(draft: Draft, entities: EntitySource) -> None:
    """Whole functions. Two blocks that redefine the same thing differently are a problem."""
    found: list[tuple[int, Redefinition]] = []
    fences = [
        fence for fence in find_fences(draft.lines, draft.taken) if draft.free(fence.start, fence.after)
    ]
    for fence in fences:
        body = fence.content(draft.lines)
        found.append((fence.start, _redefine(draft, fence, body, entities)))
    if not fences and draft.free(0, len(draft.lines)):
        bare = redefine(draft.lines, None, entities)
        # Prose is not Python: that is no problem worth telling.
        found.append(
            (0, bare if not bare.problem.startswith("the code block is not valid") else Redefinition())
        )
    _merge(draft, found)


def _redefine(draft: Draft, fence: Fence, body: list[str], entities: EntitySource) -> Redefinition:
    """A path right at the block binds; one mentioned in the prose above only settles what is ambiguous."""
    named = path_of_info(fence.info, draft.known_paths)
    if named is None and body and body[0].lstrip().startswith(("#", "//")):
        named = path_alone(body[0], draft.known_paths)
    above = next((line for line in reversed(draft.lines[: fence.start]) if line.strip()), "")
    named = named or path_alone(above, draft.known_paths)
    result = redefine(body, named, entities)
    mentioned = path_above(draft.lines, fence.start, 0, draft.known_paths)
    if result.problem and named is None and mentioned and entities.source(mentioned) is not None:
        narrowed = redefine(body, mentioned, entities)
        return narrowed if narrowed.edits else result
    return result


def _merge(draft: Draft, found: list[tuple[int, Redefinition]]) -> None:
    versions: dict[tuple[str, int], dict[str, int]] = {}
    for line, result in found:
        for place, text in result.targets.items() if result.edits else ():
            versions.setdefault(place, {}).setdefault(text, line)
    for line, result in found:
        clashes = [place for place in result.targets if len(versions.get(place, ())) > 1]
        if result.problem:
            draft.problem(line, result.problem)
        elif result.edits and clashes:
            path, start = clashes[0]
            lines = ", ".join(str(other + 1) for other in versions[path, start].values())
            draft.problem(
                line, f"{path}:{start} is redefined in several ways (blocks at answer lines {lines})"
            )
        else:
            draft.add(line, [edit for edit in result.edits if edit not in draft.edits])
            draft.notes += [note for note in result.notes if note not in draft.notes]
