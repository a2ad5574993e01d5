"""The tree as the index sees it at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Snapshot:
    """Which content each path holds.

    Attributes:
        files: every path of the tree, indexed or not, sorted.
        content_of: by indexed path, the content's id.
        skipped: by reason, how many files were not looked into.
    """

    files: Sequence[str]
    content_of: Mapping[str, int]
    skipped: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def paths_by_name(self) -> Mapping[str, Sequence[str]]:
        """By file name (the last part), the paths of the tree."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for path in self.content_of:
            found.setdefault(path.rpartition("/")[0], []).append(path)
        return found

    def __contains__(self, path: object) -> bool:
        """See `parsers.base.FileTree`. Only indexed files count: no name leads to what has no node."""
        return path in self.content_of

    def ending(self, tail: str) -> Sequence[str]:
        """See `parsers.base.FileTree`."""
        same_name = self.paths_by_name.get(tail.rpartition("/")[2], ())
        return [
            path
            for path in same_name
            if path in self.content_of and (path == tail or path.endswith(f"/{tail}"))
        ]

    def inside(self, folder: str) -> Sequence[str]:
        """See `parsers.base.FileTree`."""
        return self._folders.get(folder, ())

    def notices(self) -> list[str]:
        """What was left out, for the user."""
        return [f"{count} file(s) not indexed: {why}" for why, count in sorted(self.skipped.items())]
