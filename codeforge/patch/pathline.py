"""Read a file's path from the line (or lines) in which a model names it."""

import re
from collections.abc import Iterable, Sequence

_EXTENSIONS = re.compile(
    r"bash|bat|c|cc|cfg|cjs|clj|cmake|conf|cpp|cs|css|csv|cxx|dart|env|erl|ex|exs|go|gradle|graphql|h|hpp|hs|htm"
    r"|html|ini|ipynb|java|jl|js|json|jsx|kt|kts|less|lock|lua|m|md|mjs|ml|mm|php|pl|proto|ps1|py|pyi|pyx|r|rb"
    r"|rs|rst|sass|scala|scss|sh|sql|svelte|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh"
)
_BARE_NAMES = re.compile(
    r"Makefile|Dockerfile|Jenkinsfile|Procfile|Gemfile|Rakefile|Justfile|LICENSE|README|CMakeLists\.txt"
)
_DECORATION = re.compile(r"^(?:[-*+>]\s+|\d+[.)]\s+|#+\s*|//+\s*|/\*+\s*|<!--\s*|--\s+|;+\s*|%+\s*)")
_LABEL = re.compile(
    r"^(?:the\s+)?(?:new\s+|updated\s+)?(?:file\s*name|file\s*path|filename|filepath|file|path|title|update|edit|in)"
    r"\s*(?:[:=]\s*|\s(?=[`*\"']))",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"\s*(?:\*/|-->|\((?:new|new file|updated|modified|changed|unchanged)\)|:)\s*$", re.IGNORECASE
)
_QUOTED = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\"([^\"\n]+)\"|'([^'\n]+)'")
_PATH_CHARACTERS = re.compile(r"[\w./@+~\[\]()$ -]+")
_WORD = re.compile(r"[\w.@+~/\[\]-]+")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([^`]*)$")


def _clean(path: str) -> str:
    return path.removeprefix("./")


def _extension(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[1].lower() if "." in name[1:] else ""


def looks_like_path(text: str) -> bool:
    """Whether `text`, standing alone, names a file."""
    if not text or " " in text or not _PATH_CHARACTERS.fullmatch(text) or text.endswith(("/", ".", ")")):
        return False
    if text.startswith("//"):
        return False  # the rest of a web address
    name = text.rsplit("/", 1)[-1]
    if _BARE_NAMES.fullmatch(name) or _EXTENSIONS.fullmatch(_extension(text)):
        return True
    if "/" in text:
        return bool(re.search(r"\w\.[A-Za-z]\w*$", name))
    return name.startswith(".") and bool(re.fullmatch(r"\.[A-Za-z][\w.-]*", name))


def path_alone(line: str, known: frozenset[str] = frozenset()) -> str | None:
    """The path, when the line holds nothing else (its decorations apart)."""
    text = line.strip()
    if not text or len(text) > 400:
        return None
    bare = _undecorated(text)
    return _clean(bare) if _clean(bare) in known or looks_like_path(bare) else None


def path_of_line(line: str, known: frozenset[str] = frozenset()) -> str | None:
    """The path that a line names: alone (with its decorations), or as the only path in a sentence."""
    alone = path_alone(line, known)
    text = line.strip()[:400]
    if alone is not None or not text:
        return alone
    quoted = ["".join(groups) for groups in _QUOTED.findall(text)]
    return _only(quoted, known) or _only((word.rstrip(".:,") for word in _WORD.findall(text)), known)


def _undecorated(text: str) -> str:
    for _ in range(6):
        before = text
        text = _TRAILER.sub("", text)
        text = _LABEL.sub("", _DECORATION.sub("", text)).strip()
        for mark in ("**", "__", "`", '"', "'", "*"):
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text[len(mark) : -len(mark)].strip()
        if text == before:
            break
    return text


def _only(candidates: Iterable[str], known: frozenset[str]) -> str | None:
    """The one candidate that is a path; `None` when none or several are."""
    paths = set()
    for candidate in candidates:
        path = _clean(candidate.strip())
        spelled = "/" in path or "." in path  # a known file called `test` is also a word
        if (spelled and path in known) or (looks_like_path(path) and _EXTENSIONS.fullmatch(_extension(path))):
            paths.add(path)
    return paths.pop() if len(paths) == 1 else None


def path_of_info(info: str, known: frozenset[str] = frozenset()) -> str | None:
    """The path in a fence's info string: `python a.py`, `python:a.py`, `a.py`, `py title="a.py"`."""
    for word in re.split(r"[\s,]+", info.strip()):
        for part in (word, word.partition(":")[2], word.partition("=")[2]):
            path = _clean(part.strip("\"'`{}"))
            if path and (path in known or looks_like_path(path)):
                return path
    return None


def path_above(lines: Sequence[str], index: int, floor: int, known: frozenset[str]) -> str | None:
    """The path named above line `index`, at most three written lines up and not above `floor`."""
    written = 0
    for at in range(index - 1, floor - 1, -1):
        line = lines[at]
        if not line.strip():
            continue
        fence = FENCE.match(line)
        if fence:
            if written and not fence[2].strip():
                return None  # the end of somebody else's fence
            path = path_of_info(fence[2], known)
        else:
            written += 1
            path = path_of_line(line, known)
        if path is not None:
            return path
        if written == 3:
            return None
    return None
