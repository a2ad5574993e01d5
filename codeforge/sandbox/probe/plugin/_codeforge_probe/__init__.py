"""Pytest plugin that codeforge loads into the user's own Python to see why tests fail.

It lies in a folder of its own, because that folder goes on `PYTHONPATH`. It must run on any Python from
3.8 and any pytest from 6 on: standard library and pytest only. It writes JSON Lines to
`CODEFORGE_PROBE_OUT`, one `write` per record, so a kill loses only the test in flight:

    {"kind": "session", "root": ...}            once, at the start
    {"kind": "collect_error", "id": ..., "failure": {...}}
    {"kind": "collected", "ids": [...]}
    {"kind": "start", "id": ...}                before each test
    {"kind": "test", "id", "outcome", "duration", "lines": {path: [int]}, "types": {path: ...},
     "failure": {...} | null}
    {"kind": "finish", "exit": int}             once, at the end

The reader is `codeforge.sandbox.probe.read`; the variables are set by `probe_env`.
"""

# os.path, because Python 3.8 is old enough to lack half of pathlib, and paths here are only compared:
from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from .describe import (
    MAX_LOCALS,
    MAX_TEXT,
    Frames,
    Paths,
    TestHang,
    causes_of,
    message_of,
    safe_repr,
)
from .watch import LineMonitor, LineTrace, Watch


class _Settings:
    """What the environment asks for."""

    def __init__(self, environ: Any) -> None:
        self.out: str = environ.get("CODEFORGE_PROBE_OUT", "")
        self.root: str = os.path.abspath(environ.get("CODEFORGE_PROBE_ROOT") or os.getcwd())
        self.coverage: bool = environ.get("CODEFORGE_PROBE_COVERAGE", "1") == "1"
        self.fail_fast: bool = environ.get("CODEFORGE_PROBE_FAIL_FAST", "0") == "1"
        self.limit_s: float = float(environ.get("CODEFORGE_PROBE_TEST_LIMIT", "5"))
        self.max_events: int = int(environ.get("CODEFORGE_PROBE_EVENTS", "200000"))
        self.only: list[str] = _read_lines(environ.get("CODEFORGE_PROBE_ONLY", ""))
        self.first: list[str] = _read_lines(environ.get("CODEFORGE_PROBE_FIRST", ""))


def _read_lines(path: str) -> list[str]:
    if not path:
        return []
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip()]


class _Probe:
    """The plugin object: hooks only."""

    def __init__(self, settings: _Settings, config: Any) -> None:
        self._settings = settings
        self._worker = hasattr(config, "workerinput")
        patterns = list(config.getini("python_files") or [])
        self._paths = Paths(settings.root, patterns)
        self._frames = Frames(self._paths)
        self._watch = Watch(self._frames, settings.limit_s, settings.out)
        self._lines: Any = None
        if settings.coverage:
            monitored = hasattr(sys, "monitoring")
            self._lines = (
                LineMonitor(self._paths) if monitored else LineTrace(self._paths, settings.max_events)
            )
        self._failure: dict[str, Any] | None = None
        self._outcome = "passed"
        self._duration = 0.0
        if not self._worker:
            self._write({"kind": "session", "root": settings.root, "python": sys.version.split()[0]})

    def _write(self, record: dict[str, Any]) -> None:
        """One `write` at the end of the file: whole lines even with several workers."""
        data = (json.dumps(record) + "\n").encode("utf-8", "backslashreplace")
        descriptor = os.open(self._settings.out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        if self._settings.only:
            wanted = set(self._settings.only)
            deselected = [item for item in items if item.nodeid not in wanted]
            if deselected:
                config.hook.pytest_deselected(items=deselected)
            items[:] = [item for item in items if item.nodeid in wanted]
        rank = {name: place for place, name in enumerate(self._settings.first)}
        if rank and not self._worker:
            items.sort(key=lambda item: rank.get(item.nodeid, len(rank)))
        if not self._worker:
            self._write({"kind": "collected", "ids": [item.nodeid for item in items]})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        del collector
        outcome: Any = yield
        report = outcome.get_result()
        excinfo = getattr(getattr(report, "call", None), "excinfo", None)
        if report.failed and excinfo is not None:
            error = excinfo.value
            if type(error).__name__ == "CollectError" and error.__cause__ is not None:
                error = error.__cause__
            failure = self._describe(error, getattr(report, "longreprtext", ""))
            self._write({"kind": "collect_error", "id": report.nodeid, "failure": failure})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._failure, self._outcome, self._duration = None, "passed", 0.0
        self._write({"kind": "start", "id": item.nodeid})
        if self._lines is not None:
            self._lines.start()
        yield
        hits: dict[str, set[int]] = self._lines.stop() if self._lines is not None else {}
        if self._outcome == "passed":
            self._watch.passed(self._duration)
        lines = {path: sorted(found) for path, found in hits.items() if found}
        record = {
            "kind": "test",
            "id": item.nodeid,
            "outcome": self._outcome,
            "duration": round(self._duration, 6),
            "lines": lines,
            "types": self._lines.types.take() if self._lines is not None else {},
            "failure": self._failure,
        }
        self._write(record)
        if self._settings.fail_fast and self._outcome in ("failed", "error", "timeout"):
            item.session.shouldfail = "codeforge: stopped after the first failure"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        del item
        with self._watch:
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        del item
        with self._watch:
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        del item
        with self._watch:
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome: Any = yield
        report = outcome.get_result()
        self._duration += report.duration
        if report.skipped and self._outcome == "passed":
            self._outcome = "skipped"
        if not report.failed or self._failure is not None:
            return
        error = call.excinfo.value if call.excinfo is not None else None
        hung = isinstance(error, TestHang) or bool(self._watch.stack)
        self._outcome = "timeout" if hung else "failed" if report.when == "call" else "error"
        if hung:
            self._watch.hung()
        message = getattr(getattr(report.longrepr, "reprcrash", None), "message", "") or report.longreprtext
        failure = self._describe(error, message)
        failure["hung"] = hung
        if hung and self._watch.stack:
            failure["frames"] = self._watch.stack
        failure["params"] = _parameters(item)
        failure["test_source"] = _test_source(item)
        self._failure = failure

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        if not self._worker:
            self._write({"kind": "finish", "exit": int(exitstatus)})

    def _describe(self, error: BaseException | None, explanation: str) -> dict[str, Any]:
        failure: dict[str, Any] = {
            "exc_type": type(error).__name__ if error is not None else "",
            "message": message_of(error),
            "explanation": explanation[:MAX_TEXT],
            "frames": self._frames.of_traceback(error.__traceback__) if error is not None else [],
            "causes": causes_of(error),
            "hung": False,
        }
        if isinstance(error, SyntaxError) and error.filename:
            relative = self._paths.relative(error.filename)
            place = {
                "path": relative if relative is not None else error.filename,
                "line": error.lineno or 1,
                "function": "<module>",
                "source": (error.text or "").rstrip(),
                "in_repo": relative is not None,
            }
            failure["frames"].append(place)
        return failure


def _parameters(item: Any) -> dict[str, str]:
    """The values of a parametrised test."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    return {str(name): safe_repr(value) for name, value in list(params.items())[:MAX_LOCALS]}


def _test_source(item: Any) -> str:
    try:
        lines, first = inspect.getsourcelines(item.function)
    except (OSError, TypeError, AttributeError, SyntaxError):
        return ""
    del first
    return "".join(lines)[:MAX_TEXT]


def pytest_configure(config: Any) -> None:
    """Register the probe, unless nothing asked for it."""
    settings = _Settings(os.environ)
    if settings.out and not config.pluginmanager.has_plugin("codeforge-probe"):
        config.pluginmanager.register(_Probe(settings, config), "codeforge-probe")
