"""Pytest plugin that judges many versions of one tree from one interpreter start.

The user's own pytest command is started once. Before pytest loads any conftest (and so before any module
of the repository is imported) this plugin takes over: for every job it writes that job's file, forks, and
lets the child go on as a normal pytest run. Starting Python and importing pytest, most of the cost of a
short test run, is paid once instead of once a job.

It lies alone in its folder, which goes on `PYTHONPATH`, and runs on any Python from 3.8 and any pytest
from 6 on. Input: `CODEFORGE_SCREEN_DIR` holds `jobs.json`, a list of {"id", "path", "content", "out"} with
paths relative to the root or absolute. Output: one line of `results.jsonl` a job. A file named `stop` in
that folder ends the run before the next job.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from typing import Any, Dict, Generator, List, Optional

import pytest

POLL_S = 0.004
_is_child = False


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests() -> Generator[None, None, None]:
    """Serve the jobs; only a child comes back from this and runs the tests."""
    folder = os.environ.pop("CODEFORGE_SCREEN_DIR", "")
    if folder:
        _serve(folder)
    yield


def pytest_runtest_logreport(report: Any) -> None:
    """A child has its verdict with the first failure. Leaving at once skips the terminal summary and what
    other plugins do at the end of a session, which can cost more than the tests."""
    if _is_child and report.failed:
        os._exit(1)


def pytest_collectreport(report: Any) -> None:
    """A variant that can't be collected has failed."""
    if _is_child and report.failed:
        os._exit(2)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(exitstatus: int) -> None:
    """Nothing failed: leave with pytest's own status (5 when no test ran)."""
    if _is_child:
        os._exit(int(exitstatus))


def _serve(folder: str) -> None:
    with open(os.path.join(folder, "jobs.json"), encoding="utf-8") as file:
        settings = json.load(file)
    jobs: List[Dict[str, Any]] = settings["jobs"]
    passes = 0
    with open(os.path.join(folder, "results.jsonl"), "a", encoding="utf-8") as results:
        for job in jobs:
            if os.path.exists(os.path.join(folder, "stop")):
                break
            before = _read(job["path"])
            _write(job["path"], _read(job["content"]))
            started = time.monotonic()
            pid = os.fork()
            if pid == 0:
                _become_child(job, settings)
                return
            status = _wait(pid, settings["job_limit_s"])
            _write(job["path"], before)
            record = {"id": job["id"], "exit": status, "duration": time.monotonic() - started}
            results.write(json.dumps(record) + "\n")
            results.flush()
            passes += status == 0
            if passes >= settings["stop_after"]:
                break
    os._exit(0)


def _become_child(job: Dict[str, Any], settings: Dict[str, Any]) -> None:
    """Be a process group of its own, bounded and silent, whose probe writes to the job's own file."""
    global _is_child
    _is_child = True
    os.setpgid(0, 0)
    silent = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silent, descriptor)
    os.environ["CODEFORGE_PROBE_OUT"] = job["out"]
    limit = settings["memory_bytes"]
    if limit:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    sys.dont_write_bytecode = True


def _wait(pid: int, limit_s: float) -> Optional[int]:
    """Exit status of the child, or `None` when it had to be killed; its whole group ends with it."""
    deadline = time.monotonic() + limit_s
    status: Optional[int] = None
    while True:
        done, raw = os.waitpid(pid, os.WNOHANG)
        if done:
            status = os.WEXITSTATUS(raw) if os.WIFEXITED(raw) else 128 + os.WTERMSIG(raw)
            break
        if time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
    if status is None:
        os.waitpid(pid, 0)
    return status


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
