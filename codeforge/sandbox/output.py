"""Bounded output: the head and the tail of a stream, whatever its length."""

# The end of a test run holds the summary, so the tail gets the larger share.
_HEAD_SHARE = 0.25


class BoundedOutput:
    """Collects bytes, keeps at most `limit` of them: the first quarter and the last three quarters.

    Memory stays below three times `limit`, however much is fed.
    """

    def __init__(self, limit: int) -> None:
        self._head_limit = int(limit * _HEAD_SHARE)
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    @property
    def truncated(self) -> bool:
        """More than `limit` bytes were fed."""
        return self.total > self._head_limit + self._tail_limit

    def feed(self, data: bytes) -> None:
        """Add `data`."""
        self.total += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._tail_limit :] if self._tail_limit else b""
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: len(self._tail) - self._tail_limit]

    def text(self) -> str:
        """The decoded output (UTF-8, undecodable bytes replaced), with a line for what was dropped."""
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        tail = self._tail[-self._tail_limit :] if self._tail_limit else bytearray()
        head = _without_partial_end(self._head)
        tail = _without_partial_start(tail)
        dropped = self.total - len(head) - len(tail)
        mark = f"\n[codeforge dropped {dropped} bytes of output here]\n"
        return head.decode("utf-8", "replace") + mark + tail.decode("utf-8", "replace")


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _without_partial_start(data: bytearray) -> bytearray:
    """`data` without the rest of a character whose start was cut off."""
    start = 0
    while start < min(3, len(data)) and _is_continuation(data[start]):
        start += 1
    return data[start:]


def _without_partial_end(data: bytearray) -> bytearray:
    """`data` without the start of a character whose rest was cut off."""
    end = len(data)
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if _is_continuation(byte):
            continue
        width = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[: end - back] if width > back else data
    return data
