"""Render a `Patch` as a unified diff in git's style, whatever the files' encodings."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeforge.errors import PatchRefusedError
from codeforge.patch.model import FileChange, Patch
from codeforge.patch.textfile import decode_bytes

_CONTEXT = 3
_MANY_LINES = 3000  # beyond this, exact comparison of repeated lines takes too long
_NO_NEWLINE = "\\ No newline at end of file"
_PLAIN_PATH = re.compile(r'[^"\\\x00-\x1f\x7f]+')


@dataclass(frozen=True, slots=True)
class DiffStats:
    """How much a patch changes: files, lines added, lines removed."""

    files: int
    added: int
    removed: int


def render_patch(patch: Patch) -> str:
    """The whole patch. `git apply` takes it where the files are UTF-8 (any line endings)."""
    return "".join(render_change(change) for change in patch.changes)


def render_change(change: FileChange) -> str:
    """One file's part of the diff; empty when nothing changes.

    Text in other encodings is shown decoded: readable, but not for `git apply`. Binary content gives
    git's one line that says so.
    """
    if change.before == change.after:
        return ""
    lines = [f"diff --git {_quote('a/' + change.path)} {_quote('b/' + change.path)}"]
    mode = f"100{0o755 if (change.mode or 0) & 0o111 else 0o644:o}"
    if change.before is None:
        lines.append(f"new file mode {mode}")
    elif change.after is None:
        lines.append(f"deleted file mode {mode}")
    old = "/dev/null" if change.before is None else _quote("a/" + change.path)
    new = "/dev/null" if change.after is None else _quote("b/" + change.path)
    try:
        body = list(_hunks(_lines(change.before, change.path), _lines(change.after, change.path)))
    except PatchRefusedError:
        return "\n".join([*lines, f"Binary files {old} and {new} differ"]) + "\n"
    if body:
        lines += [f"--- {old}{_tab(old)}", f"+++ {new}{_tab(new)}", *body]
    return "\n".join(lines) + "\n"


def patch_stats(patch: Patch) -> DiffStats:
    """Count what `render_patch` shows."""
    added = removed = 0
    for change in patch.changes:
        try:
            before, after = _lines(change.before, change.path), _lines(change.after, change.path)
        except PatchRefusedError:
            continue
        for line in _hunks(before, after):
            added += line.startswith("+")
            removed += line.startswith("-")
    return DiffStats(len(patch.changes), added, removed)


def _lines(raw: bytes | None, path: str) -> list[str]:
    """Lines as git sees them: ended by `\\n` alone, a carriage return being part of the line."""
    if raw is None:
        return []
    try:
        # Valid UTF-8 is shown as it is, whatever a coding cookie says: so git can apply it.
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        file = decode_bytes(raw, path)
        text = ("\ufeff" if file.bom else "") + file.shown
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    # Only the part between the first and the last difference is compared: big files change little.
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    skipped = max(0, head - _CONTEXT)
    before = before[skipped : len(before) - max(0, tail - _CONTEXT)]
    after = after[skipped : len(after) - max(0, tail - _CONTEXT)]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(before) > _MANY_LINES)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f"@@ -{_range(skipped + i1, skipped + i2)} +{_range(skipped + j1, skipped + j2)} @@"
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                yield from _marked(" ", before[a1:a2])
                continue
            yield from _marked("-", before[a1:a2])
            yield from _marked("+", after[b1:b2])


def _common(before: list[str], after: list[str]) -> int:
    """How many lines at the start are the same."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        count += 1
    return count


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line[:-1]
        else:
            yield mark + line
            yield _NO_NEWLINE


def _range(start: int, stop: int) -> str:
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _quote(path: str) -> str:
    """Git's C-style quoting, where a path needs it."""
    if _PLAIN_PATH.fullmatch(path):
        return path
    escaped = "".join(
        f"\\{char}" if char in '"\\' else f"\\{ord(char):03o}" if ord(char) < 32 or char == "\x7f" else char
        for char in path
    )
    return f'"{escaped}"'


def _tab(path: str) -> str:
    """Git ends a name that holds spaces with a tab, so that nothing after it is taken for a time."""
    return "\t" if " " in path else ""
