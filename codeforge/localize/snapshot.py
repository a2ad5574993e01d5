"""The tree as the index sees it at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class ContentSize:
    """How many documents a content has, and their weighted words together."""

    documents: int
    words: int
    generated: bool


@dataclass(frozen=True)
class Snapshot:
    """Which content each path holds.

    Attributes:
        files: every path of the tree, indexed or not.
        content_of: by indexed path, the content's id.
        words_of: by indexed path, the words of the path, with blanks between.
        sizes: by content id.
        skipped: by reason, how many files were not looked into.
    """

    files: Sequence[str]
    content_of: Mapping[str, int]
    words_of: Mapping[str, str]
    sizes: Mapping[int, ContentSize]
    skipped: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def paths_of(self) -> Mapping[int, Sequence[str]]:
        """By content id, the paths that hold it."""
        found: dict[int, list[str]] = {}
        for path, content in self.content_of.items():
            found.setdefault(content, []).append(path)
        return found

    @cached_property
    def documents(self) -> int:
        """How many documents there are."""
        return sum(self.sizes[content].documents for content in self.paths_of)

    @cached_property
    def average_length(self) -> float:
        """The mean length of a document, in weighted words."""
        total = sum(self.sizes[content].words for content in self.paths_of)
        return total / self.documents if self.documents else 1.0

    @cached_property
    def paths_by_name(self) -> Mapping[str, Sequence[str]]:
        """By file name (the last part), the paths of the tree."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def notices(self) -> list[str]:
        """What was left out, for the user."""
        return [f"{count} file(s) not indexed: {why}" for why, count in sorted(self.skipped.items())]
