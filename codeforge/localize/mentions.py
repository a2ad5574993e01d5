"""What an issue text names: tracebacks, paths, symbols."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import log1p

from codeforge.localize.frames import TextFrame, frames_in
from codeforge.localize.speech import SPEECH, SPEECH_SHARE
from codeforge.localize.tokens import STOP, count_words, spellings

_PATH = re.compile(r"[\w.@+/\\-]+")
_EXTENSION = re.compile(r"[^/]\.[A-Za-z]\w{0,5}$")
_DOTTED = re.compile(r"(?<![\w./])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_CALLED = re.compile(r"(?<![\w.])((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)\(")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_DEFINED = re.compile(r"\b(?:def|class|function|method|module)\s+`*([A-Za-z_]\w*)")
_CAMEL = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_URL = re.compile(r"\b[a-z]+://\S+")

LONGEST = 250
"""Characters of a name or path; longer ones are data."""
_RUN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ -][A-Za-z][A-Za-z0-9]*)+")
JOINED = 0.35
"""What neighbouring words written as one weigh, where one word weighs `log(1 + count)`."""
MOST_JOINED = 2_000
"""Characters in which neighbouring words are joined: later ones are logs and code."""
MOST_TEXT = 100_000
"""Characters of an issue that are looked at: the first half of them, and the last."""


@dataclass(frozen=True)
class Mentions:
    """A text taken apart for the signals."""

    text: str

    @cached_property
    def _kept(self) -> str:
        """The text, of a long one its head and its end: a log ends with what went wrong."""
        half = MOST_TEXT // 2
        whole = len(self.text) <= MOST_TEXT
        return self.text if whole else f"{self.text[:half]}\n{self.text[-half:]}"

    @cached_property
    def prose(self) -> str:
        """The text without web addresses."""
        return _URL.sub(" ", self._kept)

    @cached_property
    def frames(self) -> list[TextFrame]:
        """Every frame of every traceback, in order."""
        return frames_in(self._kept)

    @cached_property
    def paths(self) -> list[str]:
        """Things that look like paths, each once, with forward slashes."""
        found = (match.group().replace("\\", "/") for match in _PATH.finditer(self.prose))
        trimmed = (
            path.removeprefix("./").lstrip("/").rstrip("./-") for path in found if len(path) <= LONGEST
        )
        return list(dict.fromkeys(path for path in trimmed if "/" in path or _EXTENSION.search(path)))

    @cached_property
    def dotted(self) -> list[str]:
        """Dotted names, each once."""
        return [name for name in dict.fromkeys(_DOTTED.findall(self.prose)) if len(name) <= LONGEST]

    @cached_property
    def symbols(self) -> dict[str, float]:
        """Names with how surely they are meant as names of code, in (0, 1]."""
        return _symbols(self.prose)

    @cached_property
    def words(self) -> dict[str, float]:
        """Words with their weights for BM25: the first line (an issue's title) counts twice; neighbouring
        words
        written together (`tool results` → `tool_results`, `toolresults`) count as the identifiers they may
        be."""
        lines = self.prose.strip().split("\n", 1)
        counts = count_words(self.prose)
        for word, count in count_words(lines[0]).items():
            counts[word] += count
        weights = {
            word: log1p(count) * (SPEECH_SHARE if word in SPEECH else 1.0) for word, count in counts.items()
        }
        for joined in self.joined:
            weights.setdefault(joined, JOINED)
        return weights

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return spellings(self.prose)

    def spelled(self, words: Iterable[str]) -> str:
        """Words as the text spells them (`updat` → `updating`), for people to read."""
        return ", ".join(self._spellings.get(word, word) for word in words)

    @cached_property
    def joined(self) -> list[str]:
        """Neighbouring plain words of the prose written as one identifier, each once."""
        found: dict[str, None] = {}
        for run in _RUN.findall(self.prose[:MOST_JOINED]):
            plain = run.lower().split()
            for size in (2, 3):
                for place in range(len(plain) - size + 1):
                    part = plain[place : place + size]
                    if part[0] not in STOP and part[-1] not in STOP:
                        found["_".join(part)] = found["".join(part)] = None
        return list(found)


def _symbols(text: str) -> dict[str, float]:
    sure: dict[str, float] = {}

    def add(names: Iterable[str], surety: float) -> None:
        for name in names:
            if 1 < len(name) <= LONGEST:
                sure[name] = max(sure.get(name, 0.0), surety)

    for quoted in _QUOTED.findall(text):
        inside = [*_NAME.findall(quoted), *_DOTTED.findall(quoted)]
        # A quoted name alone is a name; a quoted line of code also holds names that matter less.
        add(inside, 1.0 if len(inside) <= 2 else 0.7)
    add(_CALLED.findall(text), 0.9)
    add(_DOTTED.findall(text), 0.9)
    add(_DEFINED.findall(text), 0.9)
    for name in _NAME.findall(text):
        if "_" in name.strip("_") or name.startswith("__") or _CAMEL.fullmatch(name):
            add([name], 0.8)
        elif name[0].isupper() or len(name) >= 4:
            add([name], 0.25)
    return sure
