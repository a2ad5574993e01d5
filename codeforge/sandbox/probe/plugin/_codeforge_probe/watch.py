"""How the probe watches a running test: the lines that run, and the time limit.

Part of the plugin in this folder: Python 3.8, standard library only.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from .describe import Frames, Paths, TestHang

REPEAT_S = 0.2
RETURNS_SEEN = 4


class Types:
    """Types of the locals of the functions that ran, from the first returns of each; for one test."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._counts: dict[types.CodeType, int] = {}
        self._found: dict[str, dict[str, dict[str, list[str]]]] = {}

    def take(self) -> dict[str, dict[str, dict[str, list[str]]]]:
        """What was found since the last call: path, first line of the function, name, type names."""
        found, self._found = self._found, {}
        return found

    def see(self, frame: types.FrameType) -> bool:
        """Look at a frame that returns; false when this function was looked at often enough."""
        code = frame.f_code
        count = self._counts.get(code, 0)
        if count >= RETURNS_SEEN:
            return False
        path = self._paths.source(code.co_filename)
        if path is None or code.co_name.startswith("<"):
            return False
        self._counts[code] = count + 1
        names = self._found.setdefault(path, {}).setdefault(str(code.co_firstlineno), {})
        for name, value in list(frame.f_locals.items()):
            known = names.setdefault(name, [])
            if type(value).__name__ not in known:
                known.append(type(value).__name__)
        return True


class LineTrace:
    """Lines run, through `sys.settrace` (before Python 3.12). Stops after `max_events` events of one
    test, so that a hot loop runs at full speed after a moment."""

    def __init__(self, paths: Paths, max_events: int) -> None:
        self._paths = paths
        self.types = Types(paths)
        self._max = max_events
        self._left = 0
        self._hits: dict[str, set[int]] = {}
        self._running = False

    def start(self) -> None:
        self._hits = {}
        self._left = self._max
        if sys.gettrace() is None:  # a debugger or a coverage tool keeps its place
            self._running = True
            sys.settrace(self._call)

    def stop(self) -> dict[str, set[int]]:
        if self._running and sys.gettrace() == self._call:
            sys.settrace(None)
        self._running = False
        return self._hits

    def _call(self, frame: types.FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        del event, arg
        self._left -= 1
        if self._left < 0:
            sys.settrace(None)
            return None
        path = self._paths.source(frame.f_code.co_filename)
        if path is None:
            return None
        lines = self._hits.setdefault(path, set())

        def local(inner: types.FrameType, event: str, arg: Any) -> Any:
            del arg
            if event == "line":
                lines.add(inner.f_lineno)
                self._left -= 1
                if self._left < 0:
                    sys.settrace(None)
                    return None
            elif event == "return":
                self.types.see(inner)
            return local

        return local


class LineMonitor:
    """Lines run, through `sys.monitoring` (Python 3.12 and later): each line costs one event a test."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.types = Types(paths)
        self._hits: dict[str, set[int]] = {}
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._tool: int | None = None
        self._events = 0

    def start(self) -> None:
        self._hits = {}
        monitoring = self._monitoring
        if self._tool is None:
            free = [number for number in (4, 3) if monitoring.get_tool(number) is None]
            if not free:
                return
            self._tool = free[0]
            monitoring.use_tool_id(self._tool, "codeforge-probe")
            events = monitoring.events
            monitoring.register_callback(self._tool, events.LINE, self._line)
            for event in (events.PY_RETURN, events.PY_YIELD):
                monitoring.register_callback(self._tool, event, self._return)
            monitoring.register_callback(self._tool, events.PY_UNWIND, self._unwind)
            self._events = events.LINE | events.PY_RETURN | events.PY_YIELD | events.PY_UNWIND
        monitoring.set_events(self._tool, self._events)
        monitoring.restart_events()

    def stop(self) -> dict[str, set[int]]:
        if self._tool is not None:
            self._monitoring.set_events(self._tool, 0)
        return self._hits

    def _line(self, code: types.CodeType, line: int) -> Any:
        path = self._paths.source(code.co_filename)
        if path is not None:
            self._hits.setdefault(path, set()).add(line)
        return self._monitoring.DISABLE

    def _return(self, code: types.CodeType, offset: int, value: Any) -> Any:
        del code, offset, value
        return None if self.types.see(sys._getframe(1)) else self._monitoring.DISABLE

    def _unwind(self, code: types.CodeType, offset: int, error: Any) -> None:
        del code, offset, error
        self.types.see(sys._getframe(1))


class Watch:
    """The time limit of one test phase: `TestHang` at the running line, again and again if swallowed."""

    def __init__(self, frames: Frames, limit_s: float, out: str) -> None:
        self._frames = frames
        self._stacks = out + ".stacks"
        self._base = limit_s
        self._longest = 0.0
        self._hangs = 0
        self._alarms = 0
        self._armed = False
        self._previous: Any = None
        self._file: Any = None
        self._usable = hasattr(signal, "setitimer")
        self.stack: list[dict[str, Any]] = []

    def passed(self, duration: float) -> None:
        self._longest = max(self._longest, duration)

    def hung(self) -> None:
        self._hangs += 1

    @property
    def limit_s(self) -> float:
        """Seconds for the next phase: generous for suites of slow tests, shorter once tests hang, because
        every further hang costs the whole limit and proves little."""
        base = max(min(self._base, 1.0), self._base / (2 ** min(self._hangs, 8)))
        return float(max(base, 20 * self._longest))

    def __enter__(self) -> None:
        self._alarms = 0
        self.stack = []
        limit = self.limit_s
        if self._base <= 0 or not self._usable or threading.current_thread() is not threading.main_thread():
            return
        if 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= limit:
            return  # someone else's shorter limit (pytest-timeout) stands
        self._armed = True
        self._previous = signal.signal(signal.SIGALRM, self._alarm)
        signal.setitimer(signal.ITIMER_REAL, limit, REPEAT_S)
        # A loop inside C code never lets Python handle the signal: then the process ends, stacks first.
        if self._file is None:
            self._file = open(self._stacks, "a", encoding="utf-8")
        faulthandler.dump_traceback_later(limit * 2 + 5, exit=True, file=self._file)

    def __exit__(self, *exc: object) -> None:
        if self._armed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, self._previous)
            self._armed = False
            if self._alarms > 1:
                sys.settrace(None)

    def _alarm(self, number: int, frame: types.FrameType | None) -> None:
        del number
        if not self._armed:
            return
        self._alarms += 1
        if self._alarms == 1:
            signal.setitimer(signal.ITIMER_REAL, 1.0, REPEAT_S)  # a hanging __repr__ is cut off as well
            self.stack = self._frames.of_stack(frame)
            signal.setitimer(signal.ITIMER_REAL, REPEAT_S, REPEAT_S)
        elif frame is not None:
            _raise_in_handler(frame)
        raise TestHang("the test did not finish in time")


def _raise_in_handler(frame: types.FrameType) -> None:
    """Make the next line of this frame raise too: that line is the `except` body which swallows."""

    def trace(inner: types.FrameType, event: str, arg: Any) -> Any:
        del inner, arg
        if event == "line":
            raise TestHang("the test did not finish in time")
        return trace

    sys.settrace(lambda *_: None)
    frame.f_trace = trace
