"""A text that is too long for its share of a prompt keeps its beginning and its end."""

from collections.abc import Callable

GAP = "\n[… {dropped} characters left out …]\n"


def fit_text(text: str, limit_tokens: int, count_tokens: Callable[[str], int]) -> str:
    """`text`, or as much of its two ends as `limit_tokens` allow: logs say at the start what was done and at
    the end what failed."""
    # A token has at least one byte, so a short text needs no count.
    if len(text.encode("utf-8", "replace")) <= limit_tokens or count_tokens(text) <= limit_tokens:
        return text
    low, high = 0, len(text) // 2
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(_ends(text, middle)) <= limit_tokens:
            low = middle
        else:
            high = middle - 1
    return _ends(text, low)


def _ends(text: str, kept: int) -> str:
    if kept == 0:
        return ""
    return text[:kept] + GAP.format(dropped=len(text) - 2 * kept) + text[-kept:]
