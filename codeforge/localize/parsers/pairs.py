"""Which of the spans that two captures found belong together."""

from collections.abc import Callable, Iterable, Iterator, Sequence

Span = tuple[int, int]
"""The first byte and the one behind the last."""
Pairing = Callable[[Sequence[Span], Sequence[Span]], Iterable[tuple[Span, Span]]]
"""From sorted names and sorted values to (name, value)."""


def paired(names: Sequence[Span], values: Sequence[Span]) -> Iterable[tuple[Span, Span]]:
    """Pair each span with the nearest open one of the other kind before it, like brackets."""
    if _alternate(names, values):
        return zip(names, values, strict=True)
    return _bracketed(names, values)


def shared(names: Sequence[Span], types: Sequence[Span]) -> Iterator[tuple[Span, Span]]:
    """Pair names with types, where one type may stand for several names: those before it, or, in languages
    that
    begin with the type, those behind it."""
    marks = _marked(names, types)
    if marks and not marks[0][2]:
        last: Span = (0, 0)
        for start, end, is_name in marks:
            if is_name:
                yield (start, end), last
            else:
                last = (start, end)
        return
    waiting: list[Span] = []
    for start, end, is_name in marks:
        if is_name:
            waiting.append((start, end))
        else:
            for name in waiting:
                yield name, (start, end)
            waiting.clear()


def _alternate(names: Sequence[Span], values: Sequence[Span]) -> bool:
    """Whether a value follows on each name, and nothing else."""
    if len(names) != len(values):
        return False
    last = 0
    for name, value in zip(names, values, strict=True):
        if name[0] < last or value[0] < name[1]:
            return False
        last = value[1]
    return True


def _marked(names: Sequence[Span], values: Sequence[Span]) -> list[tuple[int, int, bool]]:
    """All spans in order, each once; the flag tells the names."""
    return sorted({*((*span, True) for span in names), *((*span, False) for span in values)})


def _bracketed(names: Sequence[Span], values: Sequence[Span]) -> Iterator[tuple[Span, Span]]:
    waiting: list[tuple[int, int, bool]] = []
    for mark in _marked(names, values):
        if not waiting or waiting[-1][2] == mark[2]:
            waiting.append(mark)
            continue
        other = waiting.pop()
        name, value = (mark, other) if mark[2] else (other, mark)
        yield name[:2], value[:2]
