"""Examples to lines of training data: trees, passages, hard negatives."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeforge.errors import CodeforgeError
from codeforge.git import GitError, GitRepo
from codeforge.localize.dataset.negatives import Ranking, choose, wanted
from codeforge.localize.dataset.record import MOST_CHARS, Example, Passage, to_json
from codeforge.localize.dataset.touched import split_lines
from codeforge.localize.dataset.trees import TreeFolder
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.parsers.base import language_of
from codeforge.redact import redact

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Exporter:
    """Makes lines of training data of the examples of one repository.

    Args:
        repo: the repository.
        folder: an empty folder for its trees; use another one for each repository.
        ranking: chooses the hard negatives.
        count: most hard negatives, and hard negative files, of an example.
        skipped: is told why examples got no line.
    """

    repo: GitRepo
    folder: Path
    ranking: Ranking
    count: int
    skipped: Counter[str] = field(default_factory=Counter)

    def rows(self, examples: Iterable[Example]) -> Iterator[Row]:
        """A line (`codeforge.localize.dataset.record`) for each example whose tree and gold are there."""
        trees = TreeFolder(self.repo, self.folder)
        for example in examples:
            try:
                files = trees.go_to(example.base_commit)
            except GitError:
                self.skipped["its base commit is not whole in the repository"] += 1
                continue
            row = self._row(example, trees.root, files)
            if row is not None:
                yield row

    def _row(self, example: Example, root: Path, files: Sequence[str]) -> Row | None:
        missing = set(example.gold.files) - set(files)
        positives = [] if missing else _positives(root, example)
        if not positives:
            self.skipped["its gold is not in its base commit"] += 1
            return None
        if self.count == 0:
            return to_json(example, positives, (), (), "")
        try:
            ranked = self.ranking.rank(root, files, example.query, wanted(example, self.count))
        except CodeforgeError as error:
            self.skipped[f"it could not be ranked: {error.message}"] += 1
            return None
        negatives, negative_files = choose(example, ranked, self.count, lambda entity: _passage(root, entity))
        return to_json(example, positives, negatives, negative_files, self.ranking.name)


def _positives(root: Path, example: Example) -> list[Passage]:
    """The gold as passages; empty when some of it isn't there."""
    gold = {*example.gold.functions, *example.gold.classes}
    found: list[Passage] = []
    named: set[str] = set()
    for path in example.gold.files:
        inside = [entity for entity in _entities(root, path) if entity.id in gold]
        named.update(entity.id for entity in inside)
        if not inside:
            inside = [Entity(path, EntityKind.FILE, path, "", 1, 0)]
        found.extend(filter(None, (_passage(root, entity) for entity in inside)))
    return found if named == gold else []


def _entities(root: Path, path: str) -> Iterator[Entity]:
    language = language_of(path)
    if language is None:
        return
    lines = split_lines((root / path).read_bytes())
    # As the gold was found: UTF-8, line ends of one kind.
    source = "".join(f"{line.removesuffix(chr(13))}\n" for line in lines)
    raw = source.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()
    for each in language.parser.parse(raw).entities:
        identity = f"{path}:{each.qualname}"
        yield Entity(identity, each.kind, path, each.qualname, each.start_line, each.end_line)


def _passage(root: Path, entity: Entity) -> Passage | None:
    """The source of an entity, without secrets; `None` when it can't be read."""
    try:
        raw = (root / entity.path).read_bytes()
    except OSError:
        return None
    lines = raw.decode("utf-8", "replace").split("\n")
    if entity.kind is EntityKind.FILE:
        end = len(split_lines(raw))
        part = lines[:end]
        start = 1
    else:
        start, end = entity.start_line, entity.end_line
        part = lines[start - 1 : end]
    text = redact("\n".join(line.removesuffix("\r") for line in part))[:MOST_CHARS]
    return Passage(entity.id, entity.kind.value, entity.path, start, end, text)
