"""Explicit operations on whole files, one line each.

    *** Create File: path/to/new.py      (a fenced block with the content follows, or lines with "+")
    *** Delete File: path/to/old.py
    *** Rename File: old.py -> new.py
    *** Update File: path.py             (hunks follow, as in a diff; `*** Move to: new.py` may come first)

"Add File" is the same as "Create File", "Move File" the same as "Rename File". `*** Begin Patch`,
`*** End Patch` and `*** End of File` around them are read over.
"""

import re

from codeforge.patch.answer import Draft, joined
from codeforge.patch.fences import fence_at
from codeforge.patch.model import EditBlock, EditKind
from codeforge.patch.udiff import parse_diff

_DIRECTIVE = re.compile(
    r"^\s*\*{3}\s*(create|add|new|delete|remove|rename|move|update)\s+file\s*:\s*(.+?)\s*(?:\*{3})?\s*$",
    re.IGNORECASE,
)
_FRAME = re.compile(r"^\s*\*{3}\s*(?:begin patch|end patch|end of file)\s*$", re.IGNORECASE)
_MOVE_TO = re.compile(r"^\s*\*{3}\s*move to\s*:\s*(.+?)\s*$", re.IGNORECASE)
_ARROW = re.compile(r"\s+(?:->|=>|→|to)\s+")


def take_directives(draft: Draft) -> None:
    """Take every directive with what belongs to it."""
    index = 0
    while index < len(draft.lines):
        line = draft.lines[index]
        found = None if draft.taken[index] else _DIRECTIVE.match(line)
        end = index + 1
        if found is not None:
            end = _take(draft, index, found[1].lower(), _path(found[2]))
        if found is not None or (_FRAME.match(line) and not draft.taken[index]):
            draft.take(index, end)
        index = end


def _path(text: str) -> str:
    return text.strip().strip("`\"'").removeprefix("./")


def _take(draft: Draft, index: int, verb: str, path: str) -> int:
    """Add the edits of one directive; returns the line after it."""
    if verb in ("delete", "remove"):
        draft.add(index, [EditBlock(path, EditKind.DELETE)])
        return index + 1
    if verb in ("rename", "move"):
        names = [_path(name) for name in _ARROW.split(path)]
        if len(names) == 2 and all(names):
            draft.add(index, [EditBlock(names[0], EditKind.RENAME, new_path=names[1])])
        else:
            draft.problem(index, "a rename is written `*** Rename File: old -> new`")
        return index + 1
    return _update(draft, index, path) if verb == "update" else _create(draft, index, path)


def _create(draft: Draft, index: int, path: str) -> int:
    at = index + 1
    while at < len(draft.lines) and not draft.lines[at].strip():
        at += 1
    fence = fence_at(draft.lines, draft.taken, at)
    if fence is not None:
        draft.add(index, [EditBlock(path, EditKind.CREATE, replace=joined(fence.content(draft.lines)))])
        return fence.after
    end = at
    while end < len(draft.lines) and draft.lines[end].startswith("+"):
        end += 1
    if end == at:
        draft.problem(index, f"no content follows `Create File: {path}` (a fenced block was expected)")
        return index + 1
    body = [line[1:] for line in draft.lines[at:end]]
    draft.add(index, [EditBlock(path, EditKind.CREATE, replace=joined(body))])
    return end


def _update(draft: Draft, index: int, path: str) -> int:
    at = index + 1
    edits = []
    move = _MOVE_TO.match(draft.lines[at]) if at < len(draft.lines) else None
    if move is not None:
        edits.append(EditBlock(path, EditKind.RENAME, new_path=_path(move[1])))
        path = _path(move[1])
        at += 1
    if at < len(draft.lines) and draft.lines[at].startswith(("@@", "+", "-", " ")):
        body = draft.lines[at:]
        if not body[0].startswith("@@"):
            body = ["@@", *body]
        files, used = parse_diff(body, first_line=index, path=path, fenced=False)
        at += used - (len(body) - len(draft.lines[at:]))
        for file in files:
            found, problems = file.edits()
            edits += found
            for reason in problems:
                draft.problem(index, reason)
    if edits:
        draft.add(index, edits)
    elif not draft.has_problems:
        draft.problem(index, f"no hunk follows `Update File: {path}`")
    return at
