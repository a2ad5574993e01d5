"""The schema of localization training data: one JSON object a line.

Version 1 (`schema_version`):

- `id`: `task:ID` or `session:ID`; unique in the file.
- `source`: "task" (a fix from a repository's history) or "session" (a patch of codeforge's that passed
  the tests).
- `repo`: `owner/name`, or a path. Split by it: examples of one repository are alike.
- `base_commit`: the tree in which all ids, lines and texts are meant.
- `query`: the issue text. Secrets are taken out, here and in every `text`.
- `gold`: what the fix changed, without tests: `files` (paths), `functions` and `classes` (`path:Qual.name`).
- `positives`: the gold functions and classes as passages; a gold file in which none was changed is a passage
  itself. A passage has `id`, `kind` ("function", "class", "file"), `path`, `start_line` and `end_line`
  (1-based, inclusive) and `text` (its source, at most `MOST_CHARS` characters).
- `hard_negatives`: passages that the ranker put high and that the fix left alone, best first, with their
  `rank` (from 1) and `score` among all that it found.
- `hard_negative_files`: the same for whole files: `path`, `rank`, `score`.
- `ranker`: the ranker that chose the negatives, with its version.
- `trajectory`: for a session what was done before its first candidate, in order: messages (`kind` "message",
  `role`, `content`) and steps (`kind`, `payload`), as the archive has them; for a task empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

SCHEMA_VERSION = 1
MOST_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class GoldLocations:
    """What a fix changed: paths, and `path:Qual.name` of functions and classes."""

    files: tuple[str, ...]
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A query with its gold, before its tree was looked at.

    Attributes:
        id, source, repo, base_commit, query, gold: as in the schema.
        beside: further files of the fix (tests, new files): never negatives.
        trajectory: as in the schema.
    """

    id: str
    source: Literal["task", "session"]
    repo: str
    base_commit: str
    query: str
    gold: GoldLocations
    beside: tuple[str, ...] = ()
    trajectory: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of source."""

    id: str
    kind: str
    path: str
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class HardNegative:
    """A passage that looks right and is not."""

    passage: Passage
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class HardNegativeFile:
    """A file that looks right and is not."""

    path: str
    rank: int
    score: float


def to_json(
    example: Example,
    positives: Sequence[Passage],
    negatives: Sequence[HardNegative],
    negative_files: Sequence[HardNegativeFile],
    ranker: str,
) -> dict[str, object]:
    """An example as a line of the schema."""
    return {
        "schema_version": SCHEMA_VERSION,
        "id": example.id,
        "source": example.source,
        "repo": example.repo,
        "base_commit": example.base_commit,
        "query": example.query,
        "gold": {name: list(values) for name, values in asdict(example.gold).items()},
        "positives": [asdict(each) for each in positives],
        "hard_negatives": [
            asdict(each.passage) | {"rank": each.rank, "score": round(each.score, 6)} for each in negatives
        ],
        "hard_negative_files": [asdict(each) | {"score": round(each.score, 6)} for each in negative_files],
        "ranker": ranker,
        "trajectory": [dict(step) for step in example.trajectory],
    }
