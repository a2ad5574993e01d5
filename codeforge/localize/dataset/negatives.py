"""Hard negatives: what a ranker puts high and the fix left alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeforge.localize.dataset.record import Example, HardNegative, HardNegativeFile, Passage
from codeforge.localize.model import Entity, EntityKind, Location
from codeforge.localize.roles import FileRole, role_of

_SPARE = 30
"""Asked for beyond what is wanted: gold and its surroundings are dropped."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Entities and files, best first."""

    locations: tuple[Location, ...]
    files: tuple[Location, ...]


class Ranking(Protocol):
    """Ranks the entities of a tree."""

    @property
    def name(self) -> str:
        """The ranker and its version."""
        ...

    def rank(self, root: Path, files: Sequence[str], text: str, limit: int) -> Ranked:
        """The `limit` best entities, and files, of the tree at `root` for an issue text."""
        ...


class LocalizerRanking:
    """`codeforge locate`. Its tree has no history, so that no later commit shows."""

    @property
    def name(self) -> str:
        """The ranker and its version."""
        from codeforge import __version__

        return f"codeforge.localize {__version__}"

    def rank(self, root: Path, files: Sequence[str], text: str, limit: int) -> Ranked:
        """As `Ranking` says."""
        from codeforge.localize.ranker import Localizer, LocateQuery

        answer = Localizer(root, files).locate_all(LocateQuery(text, limit=limit))
        return Ranked(answer.locations, answer.files)


def choose(
    example: Example, ranked: Ranked, count: int, passage: Callable[[Entity], Passage | None]
) -> tuple[list[HardNegative], list[HardNegativeFile]]:
    """The best ranked entities and files, `count` of each, that are certainly not gold.

    Left out as well: what is around a gold entity or inside of one; all of a gold file in which no entity is
    gold; whole files that hold gold; what the fix changes beside its gold; tests and whatever else is no
    product code.

    Args:
        passage: the source of an entity; `None` when there is none.
    """
    negatives: list[HardNegative] = []
    for rank, location in enumerate(ranked.locations, 1):
        if len(negatives) == count:
            break
        if _is_negative(location.entity, example) and (text := passage(location.entity)) is not None:
            negatives.append(HardNegative(text, rank, location.score))
    gone = {*example.gold.files, *example.beside}
    files = [
        HardNegativeFile(each.entity.path, rank, each.score)
        for rank, each in enumerate(ranked.files, 1)
        if each.entity.path not in gone and role_of(each.entity.path) is FileRole.SOURCE
    ]
    return negatives, files[:count]


def wanted(example: Example, count: int) -> int:
    """How many a ranker is asked for, so that `count` negatives remain."""
    return 2 * count + len(example.gold.functions) + len(example.gold.classes) + _SPARE


def _is_negative(entity: Entity, example: Example) -> bool:
    if role_of(entity.path) is not FileRole.SOURCE or entity.path in example.beside:
        return False
    if entity.path not in example.gold.files:
        return True
    inside = [
        gold.removeprefix(f"{entity.path}:")
        for gold in (*example.gold.functions, *example.gold.classes)
        if gold.startswith(f"{entity.path}:")
    ]
    if not inside or entity.kind is EntityKind.FILE:
        return False
    return not any(_overlap(entity.qualname, gold) for gold in inside)


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
