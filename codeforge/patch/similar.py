"""Texts that are alike but not equal: the unique very similar place, and the nearest lines for a refusal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MIN_RATIO = 0.9
"""A similar place must be at least this much alike (difflib's ratio over the text)."""
MARGIN = 0.05
"""… and ahead of every other place by at least this much."""
MIN_CHARACTERS = 30
"""Shorter texts are never matched by similarity: `return a - b` is too much like `return a + b`."""

_SLACK = 2  # lines more or fewer than the search text has
_SHORT = 3  # search texts of so few lines are compared with every place
_MOST_PLACES = 24


@dataclass(frozen=True, slots=True)
class Similar:
    """A similar place: where each search line lies (see `match.Match`), its first line, and the ratio."""

    places: tuple[int | None, ...]
    start: int
    ratio: float


def most_similar(file: Sequence[str], search: Sequence[str]) -> Similar | None:
    """The one place very much like `search`, if there is exactly one."""
    if sum(len(line.strip()) for line in search) < MIN_CHARACTERS:
        return None
    scored = sorted(_scores(file, search), reverse=True)
    for ratio, start, end in scored:
        if ratio < MIN_RATIO:
            return None
        rivals = [other for other, first, last in scored if first >= end or last <= start]
        if rivals and max(rivals) > ratio - MARGIN:
            return None
        places = _align(file, search, start, end)
        if places is not None:
            return Similar(places, start, ratio)
    return None


def nearest(file: Sequence[str], search: Sequence[str]) -> int | None:
    """The 0-based line at which the text most like `search` starts; `None` when nothing is like it."""
    best = max(_scores(file, search, slack=0), default=None)
    return best[1] if best is not None and best[0] >= 0.4 else None


def _scores(
    file: Sequence[str], search: Sequence[str], slack: int = _SLACK
) -> Iterator[tuple[float, int, int]]:
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2("\n".join(line.strip() for line in search))
    floor = 0.4
    for start in _places(file, search):
        for size in range(max(1, len(search) - slack), len(search) + slack + 1):
            end = start + size
            if end > len(file):
                break
            matcher.set_seq1("\n".join(line.strip() for line in file[start:end]))
            if matcher.real_quick_ratio() >= floor and matcher.quick_ratio() >= floor:
                yield matcher.ratio(), start, end


def _places(file: Sequence[str], search: Sequence[str]) -> list[int]:
    """Starts worth comparing: those where the most lines agree, or the likeliest ones for a short text."""
    by_text: dict[str, list[int]] = {}
    for index, line in enumerate(file):
        if line.strip():
            by_text.setdefault(line.strip(), []).append(index)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(search):
        for index in by_text.get(line.strip(), ()):
            for drift in range(-_SLACK, _SLACK + 1):
                if 0 <= index - offset + drift < len(file):
                    votes[index - offset + drift] += 1
    if len(search) <= _SHORT:
        votes.update(_likely(file, search))
    return [start for start, _ in votes.most_common(_MOST_PLACES)]


def _likely(file: Sequence[str], search: Sequence[str]) -> dict[int, int]:
    """The lines most like the search text's first non-blank line, by the letters they share."""
    matcher = SequenceMatcher(autojunk=False)
    offset, wanted = next(((i, s.strip()) for i, s in enumerate(search) if s.strip()), (0, ""))
    matcher.set_seq2(wanted)
    scored = []
    for index, line in enumerate(file):
        matcher.set_seq1(line.strip())
        if index >= offset and matcher.real_quick_ratio() >= 0.5 and (quick := matcher.quick_ratio()) >= 0.5:
            scored.append((quick, index - offset))
    scored.sort(reverse=True)
    return {start: 1 for _, start in scored[:_MOST_PLACES]}


def _align(file: Sequence[str], search: Sequence[str], start: int, end: int) -> tuple[int | None, ...] | None:
    """Where each search line lies; `None` when it isn't clear which line is which."""
    here = [line.strip() for line in file[start:end]]
    wanted = [line.strip() for line in search]
    places: list[int | None] = [None] * len(search)
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, wanted, here, autojunk=False).get_opcodes():
        if tag == "replace" and i2 - i1 != j2 - j1:
            return None
        if tag == "insert" and i1 in (0, len(search)):
            return None  # the place has lines at its rim that the search text doesn't name
        if tag in ("equal", "replace"):
            places[i1:i2] = range(start + j1, start + j2)
    return tuple(places)
