"""Where the signals write: reasons by entity and by file."""

from collections import defaultdict
from collections.abc import Collection

from codeforge.localize.index import CodeIndex, Document
from codeforge.localize.model import Reason

Target = tuple[str, int]
"""(path, ordinal); ordinal 0 is the file itself."""


class Scoreboard:
    """Collects what each signal says about each entity. Of one signal and detail the strongest stays."""

    def __init__(self, index: CodeIndex) -> None:
        self.index = index
        self._reasons: dict[Target, dict[tuple[str, str], float]] = defaultdict(dict)
        self._by_content: dict[int, list[Document]] = {}
        self.named_files: set[str] = set()

    def add(self, target: Target, signal: str, detail: str, weight: float) -> None:
        """Note a reason for a target."""
        found = self._reasons[target]
        key = (signal, detail)
        found[key] = max(found.get(key, 0.0), weight)

    def targets(self) -> list[Target]:
        """Everything that has a reason."""
        return list(self._reasons)

    def total(self, target: Target) -> float:
        """The sum of a target's weights."""
        return sum(self._reasons[target].values()) if target in self._reasons else 0.0

    def reasons(self, target: Target) -> tuple[Reason, ...]:
        """A target's reasons, the weightiest first."""
        found = [Reason(signal, detail, weight) for (signal, detail), weight in self._reasons[target].items()]
        return tuple(sorted(found, key=lambda reason: (-reason.weight, reason.signal, reason.detail)))

    def documents(self, path: str) -> list[Document]:
        """The entities of a file in source order, the file itself first; none when it isn't indexed."""
        content = self.index.snapshot.content_of.get(path)
        if content is None:
            return []
        if content not in self._by_content:
            self.load([content])
        return self._by_content[content]

    def load(self, contents: Collection[int]) -> None:
        """Fetch the entities of many contents at once."""
        missing = {content for content in contents if content not in self._by_content}
        if not missing:
            return
        for content in missing:
            self._by_content[content] = []
        for document in self.index.inside(missing):
            self._by_content[document.content].append(document)
        for content in missing:
            self._by_content[content].sort(key=lambda document: document.ordinal)

    def innermost(self, path: str, line: int) -> Document | None:
        """The smallest entity around a line; the file when there is none."""
        around = [d for d in self.documents(path) if d.ordinal == 0 or d.first <= line <= d.last]
        return max(around, key=lambda d: (d.ordinal > 0, d.first, -d.last), default=None)
