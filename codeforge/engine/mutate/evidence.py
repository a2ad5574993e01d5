"""What the failures say about the kind of repair: weights by tag.

A proposal's tags name the failures it speaks to: "grow" and "shrink" (a result too short, too long), "order"
(the right parts in the wrong order), "off-by-one" and "boundary", "bool", "type" and "unwrap" (a value of the
wrong kind), "none" and "empty" (guards), "recursion" and "loop" (no end), "copy", "name", "exception".
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping

from codeforge.engine.mutate.model import MutationHints

Weights = Mapping[str, float]

_ENDLESS: Weights = {"recursion": 1.8, "loop": 1.8, "boundary": 1.3, "off-by-one": 1.3, "branch": 1.2}
_BY_TYPE: Mapping[str, Weights] = {
    "RecursionError": _ENDLESS,
    "IndexError": {"boundary": 1.4, "off-by-one": 1.4, "empty": 1.8, "loop": 1.5, "shrink": 1.2},
    "KeyError": {"off-by-one": 1.2, "name": 1.3, "order": 1.3, "empty": 1.2},
    "NameError": {"name": 2.0},
    "UnboundLocalError": {"name": 1.6, "insert": 1.5},
    "AttributeError": {"name": 1.5, "type": 1.4},
    "TypeError": {"type": 1.8, "unwrap": 1.8, "order": 1.3, "call": 1.5},
    "ValueError": {"empty": 1.5, "order": 1.2},
    "ZeroDivisionError": {"empty": 1.5, "branch": 1.3},
    "StopIteration": {"empty": 1.5, "loop": 1.3},
}
_BY_MESSAGE: tuple[tuple[str, Weights], ...] = (
    ("NoneType", {"none": 4.0, "type": 1.4}),
    ("changed size during iteration", {"copy": 8.0}),
    ("mutated during iteration", {"copy": 8.0}),
    ("not enough values to unpack", {"empty": 3.0}),
    ("empty", {"empty": 2.5}),
)


def tag_weights(hints: MutationHints) -> Weights:
    """A factor for each tag; absent tags have 1. Evidence counts by its share of the failures."""
    parts: list[Weights] = []
    for place, name in enumerate(hints.exc_types):
        message = hints.messages[place] if place < len(hints.messages) else ""
        found = [_BY_TYPE.get(name, {})]
        if name != "AssertionError":
            found += [weights for text, weights in _BY_MESSAGE if text in message]
        if name == "TestHang":
            found.append(_ENDLESS)
        parts.append(_product(found))
    compared = [_compared(expected, actual) for expected, actual in hints.comparisons]
    return _product([_mean(parts), _mean(compared), _ENDLESS if hints.hung and not parts else {}])


def _compared(expected_text: str, actual_text: str) -> Weights:
    """What one failed comparison says."""
    if "generator object" in actual_text and "generator object" not in expected_text:
        return {"unwrap": 3.0, "type": 2.0}
    try:
        expected, actual = ast.literal_eval(expected_text), ast.literal_eval(actual_text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return {}
    if isinstance(expected, bool) and isinstance(actual, bool):
        return {"bool": 1.8, "branch": 1.2}
    if _number(expected) and _number(actual):
        close = abs(expected - actual) == 1
        return {"off-by-one": 1.4, "boundary": 1.4, "value": 1.1} if close else {"value": 1.2}
    if isinstance(expected, str | list | tuple) and type(expected) is type(actual):
        return _compared_sequences(expected, actual)
    if isinstance(expected, set | dict) and type(expected) is type(actual):
        return _sized(len(expected), len(actual))
    return {"type": 2.0, "unwrap": 1.8}


def _compared_sequences(expected: "str | list[object] | tuple[object, ...]", actual: object) -> Weights:
    assert isinstance(actual, str | list | tuple)
    if len(expected) == len(actual):
        same = Counter(map(repr, expected)) == Counter(map(repr, actual))
        return {"order": 2.5} if same else {"value": 1.2, "order": 1.1, "name": 1.2}
    return _sized(len(expected), len(actual))


def _sized(expected: int, actual: int) -> Weights:
    if actual < expected:
        return {"grow": 1.8, "boundary": 1.2, "insert": 1.2}
    return {"shrink": 1.8, "boundary": 1.2} if actual > expected else {"value": 1.2}


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _product(parts: Iterable[Weights]) -> Weights:
    result: dict[str, float] = {}
    for part in parts:
        for tag, weight in part.items():
            result[tag] = result.get(tag, 1.0) * weight
    return result


def _mean(parts: list[Weights]) -> Weights:
    tags = {tag for part in parts for tag in part}
    return {tag: sum(part.get(tag, 1.0) for part in parts) / len(parts) for tag in tags}
