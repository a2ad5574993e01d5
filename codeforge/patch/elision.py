"""Lines that stand for code the model did not write out: `# ... existing code ...` and its kin."""

import re
from collections.abc import Iterable

_COMMENT = r"^\s*(?:#|//|/\*|<!--|--|;|%)+\s*"
_DOTS = r"(?:\.{3,}|…)"
_WORDS = r"(?:existing|rest|remain\w*|unchanged|same|other|omitted|previous|original|code|more|as before)"
_ELISION_COMMENT = re.compile(
    rf"{_COMMENT}(?:{_DOTS}\s*(?:\*/|-->)?\s*$"
    rf"|{_DOTS}.*\b{_WORDS}\b"
    rf"|.*\b{_WORDS}\b.*{_DOTS}"
    r"|(?:the )?(?:rest|remainder) of (?:the |your )?\w+"
    r"|(?:existing|unchanged|remaining) (?:code|method|function|line|import)s?\b)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"^\s*{_DOTS}\s*$")


def elision_comments(lines: Iterable[str]) -> list[str]:
    """The comment lines that stand for left-out code. A bare `...` is not among them: it is Python."""
    return [line.strip() for line in lines if _ELISION_COMMENT.match(line)]


def elisions(lines: Iterable[str]) -> list[str]:
    """The lines that may stand for left-out code, bare `...` included."""
    return [line.strip() for line in lines if _ELISION_COMMENT.match(line) or _BARE.match(line)]
