"""The nouns of localization: `Entity`, `Reason`, `Location`."""

from dataclasses import dataclass
from enum import StrEnum


class EntityKind(StrEnum):
    """Kinds of nodes of the code graph."""

    DIRECTORY = "directory"
    FILE = "file"
    CLASS = "class"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the code graph.

    Attributes:
        id: `path/to/file.py:Class.method`; for a file the path, for a directory the path with a slash.
        kind: what it is.
        path: the file, relative to the root, with forward slashes.
        qualname: `Class.method`; empty for files and directories.
        start_line, end_line: 1-based, inclusive, decorators included.
        signature: its first line(s) up to the body, one line of text.
    """

    id: str
    kind: EntityKind
    path: str
    qualname: str
    start_line: int
    end_line: int
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a location scored: the signal ("traceback", "path", "symbol", "lexical", "structural"), a
    detail a person can read, and its share of the score."""

    signal: str
    detail: str
    weight: float


@dataclass(frozen=True, slots=True)
class Location:
    """An entity with a score (higher is better) and the reasons for it."""

    entity: Entity
    score: float
    reasons: tuple[Reason, ...]
