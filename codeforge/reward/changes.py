"""Which lines a patch changes."""

from difflib import SequenceMatcher

from codeforge.patch.model import FileChange, Patch


def changed_lines(patch: Patch) -> list[tuple[str, int]]:
    """(path, 1-based line of the file before) for every line that is changed, removed or added.

    An added line counts at the line before which it is put; so a replaced line counts once, and
    replacing one line by three counts three.
    """
    return [(change.path, line) for change in patch.changes for line in _lines(change)]


def _lines(change: FileChange) -> list[int]:
    before = (change.before or b"").splitlines()
    after = (change.after or b"").splitlines()
    found: list[int] = []
    for tag, start, end, new_start, new_end in SequenceMatcher(None, before, after, False).get_opcodes():
        if tag == "equal":
            continue
        found.extend(range(start + 1, end + 1))
        extra = (new_end - new_start) - (end - start)
        found.extend([start + 1] * max(0, extra))
    return found
