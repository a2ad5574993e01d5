"""Gold locations of a fix: what it changes in the tree before it."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from codeforge.git import GitRepo
from codeforge.localize.dataset.touched import Edit, edits_of, touched_entities
from codeforge.localize.roles import FileRole, role_of

_VERSION = re.compile(r"\s*(?:__version__|version|VERSION)\s*=\s*['\"][^'\"]*['\"],?\s*(?:#.*)?")
_FILE_MODES = ("100644", "100755", "100664")


@dataclass(frozen=True, slots=True)
class Gold:
    """What a fix changes, named as its base commit names it.

    Attributes:
        files: product files that it changes, renames or deletes; not where only comments, docstrings or the
            number of the version change.
        functions, classes: `path:Qual.name` of the innermost entities around the changed lines.
        created: product files that it adds.
        tests: test files that it changes or adds, named as the fix names them.
        changed_lines: lines added and removed in `files`.
    """

    files: tuple[str, ...]
    functions: tuple[str, ...]
    classes: tuple[str, ...]
    created: tuple[str, ...]
    tests: tuple[str, ...]
    changed_lines: int


class _Entry(NamedTuple):
    """A changed file: its blobs and its paths before and after."""

    mode: str
    blob: str
    status: str
    old: str
    new: str


def gold_of(repo: GitRepo, base: str, fix: str, *, max_files: int) -> Gold:
    """The gold of the change from `base` to `fix`.

    A change of more than `max_files` product files is not looked into: only its `files` are answered.

    Raises:
        GitError: a commit or an object is not there (a shallow or partial clone).
    """
    entries = _entries(repo, base, fix)
    product = [entry for entry in entries if entry.status != "A" and role_of(entry.old) is FileRole.SOURCE]
    created = tuple(e.new for e in entries if e.status == "A" and role_of(e.new) is FileRole.SOURCE)
    tests = tuple(e.new for e in entries if role_of(e.new) is FileRole.TEST and e.status != "D")
    if not 0 < len(product) <= max_files:
        return Gold(tuple(entry.old for entry in product), (), (), created, tests, 0)
    patches = _patches(repo, base, fix, product)
    files: list[str] = []
    functions: list[str] = []
    classes: list[str] = []
    lines = 0
    for entry in product:
        patched = patches.get(entry.old)
        edits = edits_of(patched) if patched is not None else []
        if patched is None or not edits or entry.mode not in _FILE_MODES:
            files.append(entry.old)  # binary, a link, a mode or a name: no line changes
            continue
        if entry.old == entry.new:
            edits = [edit for edit in edits if not _only_version(edit)]
        touched = touched_entities(entry.old, repo.raw("cat-file", "blob", entry.blob), edits)
        if touched is not None:
            files.append(entry.old)
            functions += touched.functions
            classes += touched.classes
            lines += patched.added + patched.removed
    return Gold(tuple(files), tuple(functions), tuple(classes), created, tests, lines)


def _only_version(edit: Edit) -> bool:
    return all(_VERSION.fullmatch(line) for line in (*edit.removed, *edit.added))


def _entries(repo: GitRepo, base: str, fix: str) -> list[_Entry]:
    raw = repo.raw("diff-tree", "-r", "-z", "-M", "--no-abbrev", base, fix)
    fields = [field.decode("utf-8", "surrogateescape") for field in raw.split(b"\0")]
    entries: list[_Entry] = []
    at = 0
    while at + 1 < len(fields):
        mode, _, blob, _, status = fields[at].removeprefix(":").split(" ")
        old, at = fields[at + 1], at + 2
        new = old
        if status[0] in "RC":
            new, at = fields[at], at + 1
        entries.append(_Entry(mode, blob, status[0], old, new))
    return sorted(entries, key=lambda entry: entry.old)


def _patches(repo: GitRepo, base: str, fix: str, entries: Sequence[_Entry]) -> Mapping[str, Any]:
    """Parsed diffs by path before the change."""
    from unidiff import PatchSet

    paths = sorted({path for entry in entries for path in (entry.old, entry.new)})
    options = ("-r", "-p", "-M", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index")
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    # Names stay unquoted, or unidiff would not know them.
    quoting = ("-c", "core.quotePath=false")
    raw = repo.raw(*quoting, "diff-tree", *options, *prefixes, base, fix, "--", *paths)
    text = raw.decode("utf-8", "surrogateescape")
    return {
        patched.source_file.removeprefix("a/"): patched
        for patched in PatchSet(io.StringIO(text, newline="\n"))
        if patched.source_file.startswith("a/") and not patched.is_binary_file
    }
