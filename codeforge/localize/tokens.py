"""Words of code and prose: identifiers are split at underscores, case changes and digits."""

import re
from collections.abc import Iterator

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_STOP = frozenset(
    (
        *("a", "an", "the", "is", "are", "be", "was", "it", "its", "this", "that", "of", "in", "on", "at"),
        *("to", "for", "and", "or", "not", "with", "from", "by", "as", "if", "when", "then", "than", "but"),
        *("do", "does", "has", "have", "i", "we", "you", "should", "would", "can", "will", "see", "self"),
        *("def", "class", "return", "none", "true", "false", "import"),
    )
)


def words(text: str) -> Iterator[str]:
    """Lower-case words of `text` for BM25: every part of an identifier, and the whole when it has parts."""
    for match in _WORD.finditer(text):
        whole = match.group().lower()
        parts = [part.lower() for part in _PART.findall(match.group())]
        if len(parts) > 1:
            yield whole
        for part in parts:
            if part not in _STOP and len(part) > 1:
                yield part
