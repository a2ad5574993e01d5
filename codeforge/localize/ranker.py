"""Ranking entities against an issue: several signals, one weighted sum, and a reason for every share."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path, PurePosixPath

from codeforge.errors import CodeforgeError
from codeforge.localize.files import list_files
from codeforge.localize.model import Entity, EntityKind, Location, Reason
from codeforge.localize.parsers.base import parser_for
from codeforge.localize.query import FailureSignal, LocateQuery
from codeforge.localize.tokens import words
from codeforge.patch.textfile import read_text_file
from codeforge.reward.protected import protected_reason

__all__ = ["FailureSignal", "Localizer", "LocateQuery"]


@dataclass(frozen=True, slots=True)
class ParsedEntity:
    entity: Entity
    text: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    entities: tuple[ParsedEntity, ...]


def _parsed(path: str, text: str) -> ParsedFile:
    parser = parser_for(path)
    found = parser.parse(text).entities if parser else ()
    return ParsedFile(
        tuple(
            ParsedEntity(
                Entity(
                    f"{path}:{e.qualname}", e.kind, path, e.qualname, e.start_line, e.end_line, e.signature
                ),
                e.text,
                e.calls,
            )
            for e in found
        )
    )


_FRAME = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True, slots=True)
class _Known:
    """The repository as the ranker sees it."""

    files: Mapping[str, ParsedFile]
    by_name: Mapping[str, tuple[ParsedEntity, ...]]
    entities: tuple[ParsedEntity, ...]


class Localizer:
    """Ranks the entities of one tree."""

    def __init__(self, root: Path, files: Sequence[str] | None = None) -> None:
        self._root = root
        self._files = tuple(list_files(root) if files is None else files)
        self._known: _Known | None = None

    def locate(self, query: LocateQuery) -> list[Location]:
        """The `query.limit` best locations, best first."""
        known = self._load()
        reasons: dict[str, list[Reason]] = defaultdict(list)
        _frames(known, query, reasons)
        _tests(known, query, reasons)
        _symbols(known, query, reasons)
        _paths(known, query, reasons)
        _lexical(known, query, reasons)
        located = []
        for parsed in known.entities:
            found = reasons.get(parsed.entity.id)
            if found:
                factor = 0.2 if protected_reason(parsed.entity.path) else 1.0
                total = factor * sum(reason.weight for reason in found)
                ranked = tuple(sorted(found, key=lambda reason: -reason.weight))
                located.append(Location(parsed.entity, total, ranked))
        located.sort(key=lambda item: (-item.score, item.entity.id))
        return located[: query.limit]

    def _load(self) -> _Known:
        if self._known is None:
            files: dict[str, ParsedFile] = {}
            for path in self._files:
                if parser_for(path) is None:
                    continue
                try:
                    files[path] = _parsed(path, read_text_file(self._root, path).text)
                except CodeforgeError:
                    continue  # binary or huge: it has no entities
            entities = tuple(parsed for file in files.values() for parsed in file.entities)
            by_name: dict[str, list[ParsedEntity]] = defaultdict(list)
            for parsed in entities:
                by_name[parsed.entity.qualname.rpartition(".")[2]].append(parsed)
            self._known = _Known(files, {k: tuple(v) for k, v in by_name.items()}, entities)
        return self._known


Reasons = dict[str, list[Reason]]


def _innermost(known: _Known, path: str, line: int) -> Entity | None:
    file = known.files.get(path)
    if file is None:
        return None
    inside = [p.entity for p in file.entities if p.entity.start_line <= line <= p.entity.end_line]
    return max(inside, key=lambda entity: entity.start_line, default=None)


def _frames(known: _Known, query: LocateQuery, reasons: Reasons) -> None:
    """Frames of tracebacks: the innermost of the repository counts most."""
    stacks = [[(path, line) for path, line, _ in failure.frames] for failure in query.failures]
    quoted = [(match["path"], int(match["line"])) for match in _FRAME.finditer(query.text)]
    stacks.append([(path, line) for name, line in quoted for path in _suffix(known, name)])
    best: dict[str, Reason] = {}
    for stack in stacks:
        own = [(path, line) for path, line in stack if not protected_reason(path)]
        for depth, (path, line) in enumerate(reversed(own)):
            entity = _innermost(known, path, line)
            weight = 4.0 / (1 + depth)
            if entity and weight > getattr(best.get(entity.id), "weight", 0.0):
                best[entity.id] = Reason("traceback", f"traceback frame at line {line}", weight)
    for name, reason in best.items():
        reasons[name].append(reason)


def _suffix(known: _Known, name: str) -> list[str]:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    for start in range(len(parts)):
        path = "/".join(parts[start:])
        if path in known.files:
            return [path]
    return []


def _tests(known: _Known, query: LocateQuery, reasons: Reasons) -> None:
    """What failing tests call."""
    called: Counter[str] = Counter()
    for failure in query.failures:
        path, _, name = failure.test_id.partition("::")
        bare = name.split("[")[0].replace("::", ".")
        for parsed in known.files[path].entities if path in known.files else ():
            if parsed.entity.qualname == bare:
                called.update(set(parsed.calls))
    total = max(called.values(), default=1)
    for name, count in called.items():
        targets = [p for p in known.by_name.get(name, ()) if not protected_reason(p.entity.path)]
        for parsed in targets:
            weight = 2.0 * count / total / len(targets)
            reasons[parsed.entity.id].append(Reason("test", f"called by {count} failing test(s)", weight))


def _symbols(known: _Known, query: LocateQuery, reasons: Reasons) -> None:
    """Names in the text that are names of entities; rare names count more."""
    for written in dict.fromkeys(_NAME.findall(query.text)):
        last = written.rpartition(".")[2]
        targets = known.by_name.get(last, ())
        exact = [
            p for p in targets if p.entity.qualname == written or p.entity.qualname.endswith(f".{written}")
        ]
        chosen = exact if exact else (targets if "." not in written else ())
        if not chosen or (len(last) < 3 and "`" + written not in query.text):
            continue
        code_like = (
            "_" in last or "." in written or f"`{written}" in query.text or f"{written}(" in query.text
        )
        weight = (3.0 if code_like or last != last.lower() else 1.5) / len(chosen)
        for parsed in chosen:
            reasons[parsed.entity.id].append(Reason("symbol", f"`{written}` is named", weight))


def _paths(known: _Known, query: LocateQuery, reasons: Reasons) -> None:
    """Files and modules in the text."""
    for path, file in known.files.items():
        module = path.removesuffix(".py").replace("/", ".")
        if path in query.text or (module.count(".") and module in query.text):
            for parsed in file.entities:
                reasons[parsed.entity.id].append(Reason("path", f"{path} is named", 1.0))


def _lexical(known: _Known, query: LocateQuery, reasons: Reasons) -> None:
    """BM25 (Robertson and Zaragoza 2009; k1 = 1.2, b = 0.75) over the words of every entity."""
    documents = [Counter(words(" ".join((p.entity.qualname, p.entity.path, p.text)))) for p in known.entities]
    if not documents:
        return
    lengths = [sum(document.values()) for document in documents]
    average = sum(lengths) / len(lengths) or 1.0
    asked = Counter(words(query.text))
    frequency = Counter(word for document in documents for word in asked if word in document)
    scores = []
    for document, length in zip(documents, lengths, strict=True):
        score = 0.0
        for word in asked:
            if word in document:
                rarity = log(1 + (len(documents) - frequency[word] + 0.5) / (frequency[word] + 0.5))
                score += (
                    rarity * document[word] * 2.2 / (document[word] + 1.2 * (0.25 + 0.75 * length / average))
                )
        scores.append(score)
    top = max(scores) or 1.0
    for parsed, score in zip(known.entities, scores, strict=True):
        share = 2.0 * score / top
        if parsed.entity.kind is EntityKind.CLASS:
            share *= 0.8
        reasons[parsed.entity.id].append(Reason("lexical", "words of the issue", share))
