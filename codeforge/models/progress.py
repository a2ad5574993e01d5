"""How a long download is shown: a bar on a terminal, a line every ten percent elsewhere; always on stderr."""

import sys
import time
from typing import Any, Protocol, TextIO


class ProgressSink(Protocol):
    """Where a download reports what it does."""

    def start(self, label: str, total: int, done: int) -> None:
        """A transfer of `total` bytes begins; `done` of them are here already."""
        ...

    def update(self, done: int) -> None:
        """`done` bytes are here."""
        ...

    def note(self, text: str) -> None:
        """Something that the user should know."""
        ...

    def finish(self) -> None:
        """The transfer ended, well or badly. May be called twice."""
        ...


class QuietProgress:
    """Shows nothing."""

    def start(self, label: str, total: int, done: int) -> None: ...
    def update(self, done: int) -> None: ...
    def note(self, text: str) -> None: ...
    def finish(self) -> None: ...


class LineProgress:
    """A line every ten percent, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._label = ""
        self._total = 0
        self._start_done = 0
        self._started = 0.0
        self._tenths = 0

    def start(self, label: str, total: int, done: int) -> None:
        self._label, self._total, self._start_done = label, total, done
        self._started = time.monotonic()
        self._tenths = _tenths(done, total)
        self.note(f"{label}: {_size(total)}" + (f", {_size(done)} of it here already" if done else ""))

    def update(self, done: int) -> None:
        tenths = _tenths(done, self._total)
        if tenths <= self._tenths:
            return
        self._tenths = tenths
        speed = (done - self._start_done) / max(1e-6, time.monotonic() - self._started)
        percent = min(100, 100 * done // self._total)
        self.note(f"{self._label}: {_size(done)} of {_size(self._total)} ({percent}%), {_size(int(speed))}/s")

    def note(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def finish(self) -> None: ...


class BarProgress:
    """A bar with bytes, speed and remaining time, drawn by rich."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._bar: Any = None
        self._task: Any = None

    def start(self, label: str, total: int, done: int) -> None:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self.finish()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._task = self._bar.add_task(label, total=total, completed=done)
        self._bar.start()

    def update(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def note(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def terminal_progress() -> ProgressSink:
    """The bar on a terminal, lines elsewhere."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def _tenths(done: int, total: int) -> int:
    return min(10, 10 * done // total) if total else 0


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
