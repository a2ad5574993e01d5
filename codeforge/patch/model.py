"""The nouns of the patch engine: `EditBlock`, `Patch`, `FileChange`."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class EditKind(StrEnum):
    """What one edit does to its file."""

    REPLACE = "replace"
    CREATE = "create"
    DELETE = "delete"
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class EditBlock:
    """One edit of one file.

    Attributes:
        path: the file, relative to the repository root, with forward slashes.
        kind: what is done.
        search: for `REPLACE`, the text that must be found exactly once; line endings are `\\n`. Whole
            lines. An empty search with `near_line` inserts before that line.
        replace: for `REPLACE` and `CREATE`, the new text; line endings are `\\n`.
        new_path: for `RENAME`, the new path.
        near_line: for `REPLACE`, the 1-based line at which `search` must start (a caller that knows
            the place, such as a mutation or an entity edit); `None` means "unique in the file". Lines
            are those of the file before the patch: edits before this one don't shift the number.
        hint_line: which of several equal places is meant (a diff's hunk header); unlike `near_line` it
            is only looked at when the text alone does not decide.
    """

    path: str
    kind: EditKind = EditKind.REPLACE
    search: str = ""
    replace: str = ""
    new_path: str | None = None
    near_line: int | None = None
    hint_line: int | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """The bytes of one file before and after. `None` means that the file does not exist."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """An ordered set of edits, resolved against a tree: the edits and the bytes they lead to.

    Attributes:
        edits: the edits in order.
        changes: one `FileChange` a path, in path order; a rename is a delete plus a create.
        notes: what a person should know ("matched ignoring trailing white space at line 12").
    """

    edits: tuple[EditBlock, ...]
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def paths(self) -> Sequence[str]:
        """The paths touched, in order."""
        return [change.path for change in self.changes]
