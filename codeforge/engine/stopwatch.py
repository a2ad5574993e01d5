"""Where the time of a run goes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from codeforge.engine.outcome import Timings


class Stopwatch:
    """Adds up the seconds spent in the model and in test commands, and those of the whole run.

    Checks may overlap the model's work; their share is what the run waited for, so a check is timed where
    it is waited for.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._spent = {"model": 0.0, "checks": 0.0}

    @contextmanager
    def model(self) -> Iterator[None]:
        """Time spent loading the model and generating."""
        yield from self._timed("model")

    @contextmanager
    def checks(self) -> Iterator[None]:
        """Time spent in test commands."""
        yield from self._timed("checks")

    def _timed(self, kind: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._spent[kind] += time.monotonic() - started

    def read(self) -> Timings:
        """The seconds so far."""
        with self._lock:
            return Timings(time.monotonic() - self._started, self._spent["model"], self._spent["checks"])
