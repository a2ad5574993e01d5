"""Put a replacement into a file's lines so that every line the edit does not name keeps its bytes."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from codeforge.patch.elision import elision_comments
from codeforge.patch.match import Match, NoMatch
from codeforge.patch.textfile import Line


def edit_lines(text: str) -> list[str]:
    """The lines of an edit's text; one newline at its end is not a line of its own."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def splice(
    lines: Sequence[Line], match: Match, search: Sequence[str], replace: Sequence[str]
) -> tuple[Line, ...] | NoMatch:
    """The file's lines with `replace` in place of `search`.

    Search lines that the replacement repeats are context: they keep the file's bytes even where the match
    was not exact. File lines that the search text skips are kept.
    """
    left_out = [line for line in elision_comments(replace) if line not in {s.strip() for s in search}]
    if left_out:
        return NoMatch(f"the replacement leaves code out ({left_out[0]!r}); write it in full")
    fresh = [match.reindent.apply(line, index) for index, line in enumerate(replace)]
    builder = _Builder(lines, match.start)
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, search, replace, autojunk=False).get_opcodes():
        named = [place for place in match.places[i1:i2] if place is not None]
        if tag == "equal":
            builder.keep_through(named)
            continue
        if any(lines[index].text.strip() for index in _gaps(named)):
            return NoMatch("the SEARCH text skips lines inside the part it changes")
        new = [line for line in fresh[j1:j2] if line is not None]
        if len(new) != j2 - j1:
            return NoMatch("the replacement's indentation doesn't fit the place that matched")
        builder.change(named, new)
    return builder.finish(match.start)


def insert(lines: Sequence[Line], at: int, new: Sequence[str]) -> tuple[Line, ...]:
    """The file's lines with `new` before line `at` (0-based; `len(lines)` appends)."""
    builder = _Builder(lines, at)
    builder.change([], new)
    return builder.finish(at)


def _gaps(places: Sequence[int]) -> list[int]:
    """The file lines between the first and the last of `places` that are not among them."""
    return [index for index in range(places[0], places[-1]) if index not in set(places)] if places else []


class _Builder:
    """Collects the new lines of one place, walking through the old ones."""

    def __init__(self, lines: Sequence[Line], start: int) -> None:
        self._lines = lines
        self.cursor = start
        self.out: list[Line] = []
        self._new_last = False

    def keep_through(self, places: Sequence[int]) -> None:
        for place in places:
            self.out += self._lines[self.cursor : place + 1]
            self.cursor = place + 1
            self._new_last = False

    def change(self, places: Sequence[int], new: Sequence[str]) -> None:
        old: list[Line] = []
        for place in places:
            self.out += self._lines[self.cursor : place]  # lines nobody named stay
            old.append(self._lines[place])
            self.cursor = place + 1
        neighbour = self._neighbour_ending()
        for index, text in enumerate(new):
            ending = old[min(index, len(old) - 1)].ending if old else neighbour
            self.out.append(Line(text, ending or neighbour))
        self._new_last = self._new_last or bool(new)

    def finish(self, start: int) -> tuple[Line, ...]:
        """The whole file, given the place's first line. "No newline at the end" stays as it was."""
        result = [*self._lines[:start], *self.out, *self._lines[self.cursor :]]
        unended = bool(self._lines) and not self._lines[-1].ending
        if unended:
            neighbour = self._neighbour_ending()
            result[:-1] = [line if line.ending else line._replace(ending=neighbour) for line in result[:-1]]
            if self.cursor == len(self._lines) and self._new_last:
                result[-1] = result[-1]._replace(ending="")
        return tuple(result)

    def _neighbour_ending(self) -> str:
        """The ending of the nearest ended line: those before first, then those after."""
        for line in (*reversed(self._lines[: self.cursor]), *self._lines[self.cursor :]):
            if line.ending:
                return line.ending
        return "\n"
