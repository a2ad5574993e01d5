"""Recorded or scripted replies behind the model protocol, and the recorder that writes them.

A replay file is JSONL, one reply a line, or a JSON list; a reply is a string or an object:

    {"text": "…", "finish_reason": "stop", "logprobs": [["token", -0.1], …], "delay_s": 0.0,
     "error": "overflow" | "unavailable", "request": "HASH"}

The first line may be settings instead of a reply, to stand in for another kind of model:

    {"settings": {"local": true, "context_window": 8192}}

A session export works too: its assistant messages are the replies. A reply with `request` answers only the
request with that hash; the others are given in their order. `replay:empty` answers nothing, as often as it is
asked.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from codeforge.errors import ContextOverflowError, EnvironmentUnavailableError, UsageError
from codeforge.models.protocol import (
    ChatChunk,
    ChatModel,
    ChatRequest,
    ChatResult,
    ChatStream,
    TokenLogprob,
    Usage,
)

_CONTEXT = 1 << 20
_CHARS_PER_TOKEN = 4
_ERRORS = ("", "overflow", "unavailable")


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """What a replay says about itself: whether it counts as running on this machine, and its tokens."""

    local: bool = False
    context_window: int = _CONTEXT


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: what the model answers, after how many seconds, or how it fails ("" not at all)."""

    text: str
    finish_reason: str = "stop"
    logprobs: tuple[TokenLogprob, ...] = ()
    delay_s: float = 0.0
    error: str = ""
    request: str = ""


class ReplayModel:
    """Gives replies in their order; the same requests get the same answers and counts every time.

    Args:
        name: how the user names it.
        replies: what it answers; None: the empty answer, always.
        settings: what it says about itself.
    """

    supports_grammar = False

    def __init__(
        self, name: str, replies: Iterable[Reply] | None, settings: ReplaySettings | None = None
    ) -> None:
        settings = settings or ReplaySettings()
        self.name = name
        self.local = settings.local
        self.context_window = settings.context_window
        self._replies = list(replies) if replies is not None else None
        self._lock = threading.Lock()
        text = json.dumps([asdict(reply) for reply in self._replies or []])
        self.version = hashlib.sha256(text.encode()).hexdigest()[:16]

    def stream(self, request: ChatRequest) -> ChatStream:
        """The next reply that fits the request, in one chunk a line.

        Raises:
            EnvironmentUnavailableError: there are no more replies, or the reply says so.
            ContextOverflowError: the reply says so.
        """
        started = time.monotonic()
        reply = self._next(request)
        if reply.delay_s:
            time.sleep(reply.delay_s)
        if reply.error == "overflow":
            raise ContextOverflowError(
                "The prompt does not fit (a scripted failure).", kept="nothing was generated"
            )
        if reply.error:
            raise EnvironmentUnavailableError(
                "The model can't answer (a scripted failure).", kept="nothing was generated"
            )
        for line in reply.text.splitlines(keepends=True):
            yield ChatChunk(line)
        prompt = sum(self.count_tokens(message.content) for message in request.messages)
        usage = Usage(prompt, prompt, self.count_tokens(reply.text))
        elapsed = time.monotonic() - started
        return ChatResult(reply.text, self.name, reply.finish_reason, usage, elapsed, reply.logprobs)

    def count_tokens(self, text: str) -> int:
        """A quarter of the characters, rounded up."""
        return -(-len(text) // _CHARS_PER_TOKEN)

    def close(self) -> None:
        """Nothing to free."""

    def _next(self, request: ChatRequest) -> Reply:
        with self._lock:
            if self._replies is None:
                return Reply("")
            wanted = request_hash(request)
            for hashes in ((wanted,), ("",)):
                for place, reply in enumerate(self._replies):
                    if reply.request in hashes:
                        return self._replies.pop(place)
        raise EnvironmentUnavailableError(
            f"{self.name} has no more replies for this request.",
            kept="what was done before is kept",
            hint="record a longer session, or use another model",
        )


class RecordingModel:
    """Writes each reply of another model to a replay file, as soon as it is finished.

    Args:
        model: the model that answers.
        file: gets one line for each finished reply; it stays open for the caller to close.
        keyed: whether a line answers only the request that it came from.
    """

    def __init__(self, model: ChatModel, file: TextIO, *, keyed: bool = True) -> None:
        self._model = model
        self._file = file
        self._keyed = keyed
        self._lock = threading.Lock()
        self.name = model.name
        self.version = model.version
        self.context_window = model.context_window
        self.supports_grammar = model.supports_grammar
        self.local = model.local

    def stream(self, request: ChatRequest) -> ChatStream:
        """What the model answers; a failure that a replay can repeat is recorded too."""
        key = {"request": request_hash(request)} if self._keyed else {}
        try:
            result = yield from self._model.stream(request)
        except ContextOverflowError:
            self._write({"text": "", "error": "overflow", **key})
            raise
        except EnvironmentUnavailableError:
            self._write({"text": "", "error": "unavailable", **key})
            raise
        line: dict[str, Any] = {"text": result.text, "finish_reason": result.finish_reason, **key}
        if result.logprobs:
            line["logprobs"] = [[item.token, item.logprob] for item in result.logprobs]
        self._write(line)
        return result

    def count_tokens(self, text: str) -> int:
        """By the model's own count."""
        return self._model.count_tokens(text)

    def close(self) -> None:
        """Close the model; the file stays open."""
        self._model.close()

    def _write(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()


def request_hash(request: ChatRequest) -> str:
    """SHA-256 over everything in the request that the answer depends on."""
    text = json.dumps(asdict(request), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def open_replay(source: str) -> ReplayModel:
    """The model of `replay:SOURCE`: a file, or "empty".

    Raises:
        UsageError: the file is missing or can't be read as replies.
    """
    name = f"replay:{source}"
    if source == "empty":
        return ReplayModel(name, None)
    try:
        text = Path(source).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The replay file {source} can't be read: {error}.") from error
    settings, replies = _split_settings(text, source)
    return ReplayModel(name, parse_replies(replies, source), settings)


def parse_replies(text: str, source: str) -> list[Reply]:
    """The replies in `text`: a JSON list, or one JSON value a line.

    Raises:
        UsageError: it is neither; the line is named.
    """
    stripped = text.lstrip()
    if stripped.startswith("["):
        try:
            return [_reply(item, source, place) for place, item in enumerate(json.loads(stripped), start=1)]
        except ValueError as error:
            raise UsageError(f"{source} is not valid JSON: {error}.") from error
    replies: list[Reply] = []
    # Not `splitlines`: a JSON string may hold characters such as U+2028 as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise UsageError(f"{source}, line {number}: not valid JSON: {error}.") from error
        if not isinstance(item, dict) or "type" not in item:
            replies.append(_reply(item, source, number))
        elif item["type"] == "message" and item.get("role") == "assistant":
            replies.append(Reply(str(item["content"])))
    return replies


def _split_settings(text: str, source: str) -> tuple[ReplaySettings, str]:
    """The settings of a JSONL file's first line, and the file without them (the line stays, empty)."""
    line, _, rest = text.partition("\n")
    try:
        item = json.loads(line)
    except ValueError:
        return ReplaySettings(), text  # `parse_replies` says what is wrong with it
    if not isinstance(item, dict) or "settings" not in item:
        return ReplaySettings(), text
    given = item["settings"]
    known = {"local": bool, "context_window": int}
    right = isinstance(given, dict) and all(type(value) is known.get(key) for key, value in given.items())
    if not right or given.get("context_window", 1) < 1:
        raise UsageError(
            f"{source}, line 1: the settings are `local` (true or false) and `context_window` (tokens)."
        )
    return ReplaySettings(**given), f"\n{rest}"


def _reply(item: object, source: str, place: int) -> Reply:
    if isinstance(item, str):
        return Reply(item)
    if not isinstance(item, dict) or not isinstance(item.get("text", ""), str):
        raise UsageError(f"{source}, reply {place}: it is neither a string nor an object with a text.")
    error = item.get("error", "")
    if error not in _ERRORS:
        raise UsageError(f"{source}, reply {place}: the error {error!r} is none of {', '.join(_ERRORS[1:])}.")
    try:
        return Reply(
            text=item.get("text", ""),
            finish_reason=str(item.get("finish_reason", "stop")),
            logprobs=tuple(
                TokenLogprob(str(token), float(value)) for token, value in item.get("logprobs", [])
            ),
            delay_s=float(item.get("delay_s", 0.0)),
            error=error,
            request=str(item.get("request", "")),
        )
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{source}, reply {place}: {problem}.") from problem
