"""Find a SEARCH text in a file: exactly, or by a difference that is harmless, unique and reported.

Levels, tried in this order; the first that finds anything decides, and finding more than one place is
a refusal with all their line numbers:

0. the same lines;
1. trailing white space ignored;
2. one uniform change of indentation (the replacement follows it);
3. blank lines more or fewer;
4. a very similar text (see `similar`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codeforge.patch.elision import elisions
from codeforge.patch.indent import Reindent, Unchanged, find_reindent
from codeforge.patch.similar import most_similar, nearest

_LEVEL_NOTES = ("", "ignoring trailing white space", "with shifted indentation", "ignoring blank lines")


@dataclass(frozen=True, slots=True)
class Match:
    """Where a search text lies.

    Attributes:
        places: for each line of the search text the 0-based file line it is, rising; `None` for a line
            that the file lacks.
        note: how it matched when not exactly, for people; else empty.
        reindent: how new lines must be changed.
    """

    places: tuple[int | None, ...]
    note: str = ""
    reindent: Reindent = field(default_factory=Unchanged)

    @property
    def start(self) -> int:
        """First line, 0-based."""
        return next(place for place in self.places if place is not None)

    @property
    def end(self) -> int:
        """One after the last line, 0-based."""
        return next(place for place in reversed(self.places) if place is not None) + 1


@dataclass(frozen=True, slots=True)
class NoMatch:
    """Why a search text was not taken; `lines` are the 1-based line numbers that the reason names."""

    reason: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    level: int
    match: Match


def find(
    file: Sequence[str], search: Sequence[str], *, near_line: int | None = None, hint_line: int | None = None
) -> Match | NoMatch:
    """Find the lines `search` in the lines `file`.

    Args:
        file: the file's lines, without endings.
        search: the lines sought, not empty.
        near_line: the match must start at this 1-based line.
        hint_line: which of several equal matches is meant.
    """
    exact = [_Found(0, Match(_consecutive(start, len(search)))) for start in _exact_starts(file, search)]
    found = exact or _harmless(file, search)
    if near_line is not None:
        return _pinned(file, found, near_line, exact)
    if found:
        level = min(item.level for item in found)
        return _only([item.match for item in found if item.level == level], hint_line)
    left_out = elisions(search)
    if left_out:
        return NoMatch(
            f"the SEARCH text leaves code out ({left_out[0]!r}); write every line as it is in the file"
        )
    match = most_similar(file, search)
    if match is not None:
        return Match(
            match.places, f"matched a very similar text ({match.ratio:.0%} alike) at line {match.start + 1}"
        )
    return _nowhere(file, search)


def _consecutive(start: int, count: int) -> tuple[int, ...]:
    return tuple(range(start, start + count))


def _exact_starts(file: Sequence[str], search: Sequence[str]) -> list[int]:
    wanted, count = list(search), len(search)
    return [
        start
        for start in range(len(file) - count + 1)
        if file[start] == wanted[0] and list(file[start : start + count]) == wanted
    ]


def _only(matches: list[Match], hint_line: int | None) -> Match | NoMatch:
    if len(matches) == 1:
        return matches[0]
    hinted = [match for match in matches if hint_line is not None and match.start + 1 == hint_line]
    if len(hinted) == 1:
        return hinted[0]
    lines = tuple(match.start + 1 for match in matches)
    numbers = ", ".join(map(str, lines[:-1])) + f" and {lines[-1]}"
    how = f" ({matches[0].note.split(' at line ')[0]})" if matches[0].note else ""
    return NoMatch(f"the SEARCH text matches {len(lines)} places{how}: lines {numbers}", lines)


def _pinned(file: Sequence[str], found: list[_Found], near_line: int, exact: list[_Found]) -> Match | NoMatch:
    here = [item for item in found if item.match.start + 1 == near_line]
    if here:
        return min(here, key=lambda item: item.level).match
    if exact:
        lines = tuple(item.match.start + 1 for item in exact)
        places = ", ".join(map(str, lines))
        return NoMatch(f"the text is not at line {near_line} but at line {places}", lines)
    there = file[near_line - 1] if 0 < near_line <= len(file) else "(past the end of the file)"
    return NoMatch(f"the text is not at line {near_line}, which reads {there!r}", (near_line,))


def _harmless(file: Sequence[str], search: Sequence[str]) -> list[_Found]:
    """Places where the non-blank lines agree but for white space, with how far they differ."""
    wanted = [index for index, line in enumerate(search) if line.strip()]
    if not wanted:
        return []
    places = [index for index, line in enumerate(file) if line.strip()]
    stripped = [search[index].strip() for index in wanted]
    file_stripped = [file[index].strip() for index in places]
    found = []
    for offset in range(len(places) - len(wanted) + 1):
        if file_stripped[offset] != stripped[0] or file_stripped[offset : offset + len(wanted)] != stripped:
            continue
        here = places[offset : offset + len(wanted)]
        reindent = find_reindent([search[i] for i in wanted], [file[i] for i in here])
        if reindent is not None:
            found.append(_classify(file, search, wanted, here, reindent))
    return found


def _classify(
    file: Sequence[str], search: Sequence[str], wanted: list[int], here: list[int], reindent: Reindent
) -> _Found:
    start = here[0] - wanted[0]
    same_layout = (
        start >= 0
        and start + len(search) <= len(file)
        and [index - start for index in here] == wanted
        and all(not file[start + i].strip() for i in range(len(search)) if not search[i].strip())
    )
    if same_layout:
        level, places = (2 if reindent.note else 1), tuple[int | None, ...](_consecutive(start, len(search)))
    else:
        level, places = 3, _stretched(search, dict(zip(wanted, here, strict=True)))
    detail = f" ({reindent.note})" if reindent.note else ""
    first = next(place for place in places if place is not None)
    return _Found(
        level, Match(places, f"matched {_LEVEL_NOTES[level]}{detail} at line {first + 1}", reindent)
    )


def _stretched(search: Sequence[str], place: dict[int, int]) -> tuple[int | None, ...]:
    """Places when the runs of blank lines have other lengths in the file than in the search text.

    A blank line of the search text takes the file's next blank line of the same run, while there is one.
    """
    following: list[int | None] = [None] * (len(search) + 1)
    for index in range(len(search) - 1, -1, -1):
        following[index] = place.get(index, following[index + 1])
    places: list[int | None] = []
    free: int | None = None  # the file line after the last one placed
    for index in range(len(search)):
        limit = following[index]
        if index in place:
            places.append(place[index])
            free = place[index] + 1
        elif free is not None and limit is not None and free < limit:
            places.append(free)
            free += 1
        else:
            places.append(None)
    return tuple(places)


def _nowhere(file: Sequence[str], search: Sequence[str]) -> NoMatch:
    start = nearest(file, search)
    if start is None:
        return NoMatch("the SEARCH text is nowhere in the file, nor anything like it")
    shown = range(start, min(len(file), start + min(len(search), 8)))
    listing = "\n".join(f"  {index + 1}: {file[index]}" for index in shown)
    lines = tuple(index + 1 for index in shown)
    return NoMatch(f"the SEARCH text is nowhere in the file; the nearest lines are\n{listing}", lines)
