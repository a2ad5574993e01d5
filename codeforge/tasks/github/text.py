"""Issue texts without what gives the solution away: diffs, references, trailers."""

import re
from collections.abc import Iterator, Sequence

from codeforge.tasks.github.references import KEYWORD, reference

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+-]*)")
_DIFF_LANGUAGES = frozenset({"diff", "patch", "suggestion", "udiff"})
_DIFF_LINE = re.compile(r"diff --git |@@ -\d|Index: ")
_DIFF_BODY = re.compile(
    r"[ +\-\\@]|diff --git |index |Index: |=====|(?:new|deleted) file|old mode|new mode|rename |similarity "
)
_TRAILER = re.compile(
    r"\s*(?:co-authored-by|signed-off-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|helped-by"
    r"|co-developed-by|change-id|pr-url|reviewed-on|differential revision|cc)\s*:",
    re.I,
)
_PICKED = re.compile(r"\(cherry picked from commit [0-9a-f]{7,40}\)", re.I)
_REVERTS = re.compile(r"This reverts commit [0-9a-f]{7,40}\.?", re.I)
_URL = re.compile(
    r"https?://[^\s/]{1,100}/[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}"
    r"/(?:pull|pulls|commit|commits|compare|issues)/[^\s)\]>]*"
)
_CLOSING = re.compile(
    rf"(?<![\w-]){KEYWORD}(?:\s{{0,2}}:)?\s{{1,3}}(?:(?:issue|bug|ticket)s?\s{{1,2}})?{reference(0)}"
    rf"(?:\s{{0,3}}(?:,|and\b|&)\s{{0,3}}(?:and\s)?{reference(1)})*[.,;]?",
    re.I,
)
# "Refs #12": without the number the word says nothing.
_REFERRING = re.compile(
    rf"(?<![\w-])(?:refs?|references?|see(?:\s+also)?|relate[sd]\s+to|part\s+of|addresses|follow-?up\s+(?:to|of))"
    rf"(?:\s{{0,2}}:)?\s{{1,3}}{reference(0)}(?:\s{{0,3}}(?:,|and\b|&)\s{{0,3}}(?:and\s)?{reference(1)})*[.;]?",
    re.I,
)
_HOLE = "\0"
# What leads to a reference ("as reported in #12") says nothing without it; "the issue (#12)" stays.
_LEADS = (
    r"(?:and|as|in|to|of|by|for|from|with|on|per|via|at|the|see|issues?|bugs?|tickets?|prs?|gh"
    r"|pull[ \t]requests?|requested|reported|described|discussed|mentioned|raised|suggested|outlined|noted)"
)
_HOLE_AT_END = re.compile(
    rf"(?:(?:^|[ \t]{{1,9}}|(?<=[(\[]))[(\[]?{_LEADS}(?=[ \t:/])){{0,6}}"
    r"[ \t,;:(\[/–—-]{0,9}\0[\0 \t,;:.)\]]*$",
    re.M | re.I,
)
_STOP = r"(?:[:;,.)\]–—]+|-{1,3}(?=[ \t]))"
_HOLE_AT_START = re.compile(
    rf"^([ \t]*(?:[-*+>][ \t]+)?)(?:\0[\0 \t]*{_STOP}?|(?:{_LEADS}[ \t]+)+\0[\0 \t]*{_STOP})[ \t]*",
    re.M | re.I,
)
_HOLE_BETWEEN = re.compile(r"(?<=\S)[ \t]+\0[\0 \t]*[ \t]")
_MERGE = re.compile(r"\A(?:Merge pull request|Merge|Auto merge of) #\d{1,7}[^\n]*\n?")
# Five digits at most: `#112233` is a colour.
_NUMBER = re.compile(
    r"\s?\(\s*#\d{1,5}(?:\s*,\s*#\d{1,5})*\s*\)|(?<![\w&\"'`/#:.=-])(?:[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100})?#\d{1,5}(?!\w)"
    r"|(?<![\w-])GH-\d{1,7}(?!\w)",
    re.I,
)
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b|(?<=\bcommit )[0-9a-f]{7,39}\b")
_EMPTY = re.compile(r"(?:[-*+.,;:()\s]|\[\]|\(\))*")
_MANY_BLANKS = re.compile(r"\n{3,}")


def issue_text(title: str, body: str) -> str:
    """An issue's or a pull request's title and body, cleaned."""
    return "\n\n".join(part for part in (without_solution(title), without_solution(body)) if part)


def change_text(message: str, inner: Sequence[str]) -> str:
    """A commit's message, cleaned; for a merge followed by those of the commits that it brings in.

    What another one begins with is said once: the title of a merge is often that of its commit.
    """
    parts = [without_solution(_MERGE.sub("", message)), *(without_solution(each) for each in inner)]
    return "\n\n".join(_distinct([part for part in parts if part]))


def _distinct(parts: Sequence[str]) -> Iterator[str]:
    keys = [" ".join(part.casefold().split()) + " " for part in parts]
    for number, (part, key) in enumerate(zip(parts, keys, strict=True)):
        longer = any(other.startswith(key) and other != key for other in keys)
        if not longer and key not in keys[:number]:
            yield part


def without_solution(text: str) -> str:
    """`text` without diffs, comments, trailers, closing words, issue numbers, links to changes, commit ids.

    Code in fences stays as it is, unless it is a diff. Cleaning a clean text changes nothing.
    """
    before, text = "", text.replace("\r\n", "\n").replace("\r", "\n")
    while text != before:  # taking one thing away can make another one visible
        before, text = text, _cleaned(text)
    return text


def _cleaned(text: str) -> str:
    text = _COMMENT.sub("", text)
    parts = [block if fenced else _clean_prose(block) for fenced, block in _blocks(text)]
    return _MANY_BLANKS.sub("\n\n", "\n".join(parts)).strip()


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Fenced blocks (`True`), but no diffs, and the prose between them."""
    prose: list[str] = []
    fence: list[str] = []
    mark, language = "", ""
    for line in text.split("\n"):
        opened = _FENCE.match(line)
        if not mark:
            if opened is None:
                prose.append(line)
                continue
            if prose:
                yield False, "\n".join(prose)
            prose, fence, mark, language = [], [line], opened[1], opened[2].lower()
            continue
        fence.append(line)
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            if not _is_diff(language, fence):
                yield True, "\n".join(fence)
            fence, mark = [], ""
    if fence and not _is_diff(language, fence):
        yield True, "\n".join(fence)
    if prose:
        yield False, "\n".join(prose)


def _is_diff(language: str, lines: Sequence[str]) -> bool:
    return language in _DIFF_LANGUAGES or any(_DIFF_LINE.match(line.strip()) for line in lines)


def _clean_prose(text: str) -> str:
    text = "\n".join(_without_diff(text.split("\n")))
    text = text.replace(_HOLE, "")
    for pattern in (_PICKED, _REVERTS, _CLOSING, _REFERRING, _URL, _NUMBER, _COMMIT):
        text = pattern.sub(_HOLE, text)
    text = _HOLE_BETWEEN.sub(" ", _HOLE_AT_START.sub(r"\1", _HOLE_AT_END.sub("", text))).replace(_HOLE, "")
    lines = [line.rstrip() for line in text.split("\n") if not _TRAILER.match(line)]
    return "\n".join("" if _EMPTY.fullmatch(line) else line for line in lines)


def _without_diff(lines: Sequence[str]) -> Iterator[str]:
    """`lines` without diffs that stand in no fence."""
    inside = False
    for line in lines:
        inside = bool(_DIFF_BODY.match(line)) if inside else bool(_DIFF_LINE.match(line))
        if not inside:
            yield line
