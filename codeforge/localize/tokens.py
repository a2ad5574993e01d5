"""Words of code and prose: identifiers are split at underscores, case changes and digits; stemmed."""

import re
from collections import Counter
from functools import lru_cache
from itertools import chain

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d{3,}", re.ASCII)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_LONGEST = 64
"""Longer words are data (hashes, encoded bytes), not names."""
_MOST_REMEMBERED = 400_000

STOP = frozenset(
    (
        *("a", "an", "the", "is", "are", "be", "was", "were", "been", "it", "its", "this", "that", "these"),
        *("of", "in", "on", "at", "to", "for", "and", "or", "not", "no", "with", "from", "by", "as", "if"),
        *("when", "then", "than", "but", "do", "does", "did", "has", "have", "had", "i", "we", "you", "so"),
        *("should", "would", "could", "can", "will", "may", "also", "there", "which", "what", "how", "my"),
        *("self", "cls", "def", "return", "none", "true", "false", "import", "str", "int", "else", "elif"),
        *("async", "await", "lambda", "yield", "raise", "pass", "nonlocal", "global"),
    )
)

_DOUBLED = re.compile(r"([bdfgmnprt])\1$")


class _Parts(dict[str, tuple[str, ...]]):
    """By identifier its words, worked out at the first look-up: a dictionary's own look-up is the fastest
    way."""

    def __missing__(self, identifier: str) -> tuple[str, ...]:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        found = self[identifier] = _split(identifier)
        return found


def _split(identifier: str) -> tuple[str, ...]:
    if len(identifier) > _LONGEST:
        return ()
    pieces = [piece.lower() for piece in _PART.findall(identifier)]
    kept = [stem(piece) for piece in pieces if len(piece) > 1 and piece not in STOP]
    if len(pieces) > 1:
        kept.append(identifier.strip("_").lower())
    return tuple(kept)


_parts = _Parts()


def parts_of(identifier: str) -> tuple[str, ...]:
    """The stemmed lower-case words of one identifier; with the whole, when it has several parts.

    Stop words and single letters give nothing.
    """
    return _parts[identifier]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """`caching`, `cached`, `caches`, `cache` → `cach`: common English endings off; short words stay."""
    if len(word) < 4 or not word.isalpha():
        return word
    for ending, least in (("ing", 6), ("ied", 5), ("ies", 5), ("ed", 5)):
        if word.endswith(ending) and len(word) >= least:
            base = word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            return _bare(_DOUBLED.sub(r"\1", base))
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _bare(word)


def _bare(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


identifiers = _WORD.findall
"""The identifiers and long numbers of a text, in order (`identifiers(text) -> list[str]`)."""


def count_words(text: str) -> Counter[str]:
    """How often each word occurs in `text`."""
    return Counter(chain.from_iterable(map(_parts.__getitem__, identifiers(text))))


def words_in(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(chain.from_iterable(map(_parts.__getitem__, identifiers(text))))


def spellings(text: str) -> dict[str, str]:
    """By word of `text` (stemmed), how it is first written there, in lower case."""
    found: dict[str, str] = {}
    for identifier in identifiers(text):
        if len(identifier) <= _LONGEST:
            for piece in _PART.findall(identifier):
                found.setdefault(stem(piece.lower()), piece.lower())
    return found
