"""The runner: real processes in every kind of cage that this machine offers."""

import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.sandbox.isolation import probe_isolation
from codeforge.sandbox.model import CommandResult, Isolation, KillReason, Limits
from codeforge.sandbox.runner import Cage, available_isolation, run_command, supports_mounts

Run = Callable[..., CommandResult]


def offered() -> list[Isolation]:
    probed = probe_isolation()
    kinds = [Isolation.BUBBLEWRAP] if probed.bubblewrap.usable else []
    kinds += [Isolation.LANDLOCK] if probed.landlock_abi else []
    return [*kinds, Isolation.LIMITS_ONLY]


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CODEFORGE_SANDBOX", raising=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


@pytest.fixture(params=offered())
def run(request: pytest.FixtureRequest, tree: Path) -> Run:
    def _run(command: str, limits: Limits | None = None, cage: Cage | None = None, **more: object):
        cage = cage or Cage(tree, (tree,))
        return run_command(command, cage, limits or Limits(wall_s=20), isolation=request.param, **more)

    return _run


def alive(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if mark in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def mark() -> str:
    return f"mark-{uuid.uuid4().hex}"


def sleeper(mark: str) -> str:
    """A shell word list that sleeps for long, with the mark on its command line."""
    return f"python3 -c 'import time; time.sleep(600)' {mark}"


DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid() if os.getpid() != os.getsid(0) else None
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.environ.clear()
        os.execv(sys.executable, [sys.executable, "-c", "import signal,time\\n"
            "signal.signal(15, signal.SIG_IGN)\\ntime.sleep(600)", sys.argv[1]])
    os._exit(0)
os.wait()
print("daemon started", flush=True)
time.sleep(float(sys.argv[2]))
"""


def test_reports_exit_status_and_both_streams(run: Run) -> None:
    result = run("echo out; echo err >&2; exit 7")
    assert (result.exit_code, result.stdout, result.stderr) == (7, "out\n", "err\n")
    assert result.killed is None
    assert not result.timed_out
    assert not result.output_truncated


def test_a_signal_is_reported_as_a_shell_does(run: Run) -> None:
    assert run("kill -SEGV $$").exit_code == 128 + 11


def test_runs_in_the_given_folder_with_nothing_on_stdin(run: Run, tree: Path) -> None:
    assert run("pwd; cat; echo end").stdout == f"{tree}\nend\n"


def test_writes_reach_the_writable_tree(run: Run, tree: Path) -> None:
    assert run("echo new > file && mkdir sub && mv file sub/").exit_code == 0
    assert (tree / "sub" / "file").read_text() == "new\n"


def test_the_temporary_folder_is_private_and_removed(run: Run, tree: Path) -> None:
    result = run(
        'echo x > "$TMPDIR/left"; mkdir "$TMPDIR/closed"; chmod 0 "$TMPDIR/closed"; df "$TMPDIR" >&2'
    )
    assert result.exit_code == 0
    before = set(Path("/tmp").glob("codeforge-run-*"))
    inside = Path(run("mktemp").stdout.strip())
    assert not inside.exists()
    assert set(Path("/tmp").glob("codeforge-run-*")) <= before


def test_hang_is_ended_in_time(run: Run, mark: str) -> None:
    result = run(f"echo before; {sleeper(mark)}", Limits(wall_s=0.4))
    assert result.timed_out
    assert result.killed is KillReason.TIMEOUT
    assert result.exit_code is None
    assert result.stdout == "before\n"
    assert "longer than 0.4 s" in result.stderr
    assert not alive(mark)


@pytest.mark.parametrize("stays", [True, False], ids=["timeout", "normal end"])
def test_no_daemon_survives(run: Run, tree: Path, mark: str, stays: bool) -> None:
    (tree / "daemon.py").write_text(DAEMON)
    result = run(f"python3 daemon.py {mark} {600 if stays else 0.2}", Limits(wall_s=0.7 if stays else 20))
    assert "daemon started" in result.stdout
    assert result.timed_out is stays
    assert not alive(mark)


def test_background_job_does_not_delay_the_end(run: Run, mark: str) -> None:
    result = run(f"{sleeper(mark)} & echo done")
    assert result.stdout == "done\n"
    assert result.duration_s < 10
    assert not alive(mark)


def test_a_stopped_process_ends_too(run: Run, mark: str) -> None:
    result = run(f"{sleeper(mark)} & kill -STOP $!; kill -STOP $$", Limits(wall_s=0.4))
    assert result.timed_out
    assert not alive(mark)


def test_cancel_from_another_thread(run: Run, mark: str) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.4, cancel.set)
    timer.start()
    result = run(sleeper(mark), cancel=cancel)
    timer.join()
    assert result.killed is KillReason.CANCELLED
    assert result.exit_code is None
    assert not result.timed_out
    assert result.duration_s < 10
    assert not alive(mark)


def test_cancelled_before_the_start(run: Run) -> None:
    cancel = threading.Event()
    cancel.set()
    assert run("sleep 600", cancel=cancel).killed is KillReason.CANCELLED


def test_a_flood_is_drained_within_bounds(run: Run) -> None:
    lines = 40_000  # 280 kB: more than the limit, more than a pipe holds
    result = run(f"seq -f %06g {lines}; echo last line", Limits(wall_s=20, output_bytes=10_000))
    assert result.exit_code == 0
    assert result.output_truncated
    assert result.stdout.startswith("000001\n")
    assert result.stdout.endswith("last line\n")
    assert "bytes of output here" in result.stdout
    assert len(result.stdout) < 11_000


def test_an_endless_flood_is_killed(run: Run) -> None:
    result = run("yes", Limits(wall_s=20, output_bytes=10_000))
    assert result.killed is KillReason.OUTPUT
    assert result.duration_s < 10


def test_output_that_is_not_text(run: Run) -> None:
    assert run(r"printf 'a\377b'").stdout == "a�b"


def test_output_is_handed_on_as_it_comes(run: Run) -> None:
    seen: list[tuple[str, str]] = []
    arrived: list[float] = []

    def _take(stream: str, text: str) -> None:
        seen.append((stream, text))
        arrived.append(time.monotonic())

    run(r"printf 'caf\303'; sleep 0.3; printf '\251\n'; echo e >&2", on_output=_take)
    assert "".join(text for stream, text in seen if stream == "stdout") == "café\n"
    assert ("stderr", "e\n") in seen
    assert arrived[-1] - arrived[0] > 0.2


def test_an_error_in_the_callback_ends_the_command(run: Run, mark: str) -> None:
    def _fail(stream: str, text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="first"):
        run(f"echo first; {sleeper(mark)}", on_output=_fail)
    assert not alive(mark)


def test_memory_is_limited_over_the_tree(run: Run, mark: str) -> None:
    hog = f"python3 -c 'import time; a = b\"x\" * 90_000_000; time.sleep(30)' {mark}"
    result = run(f"{hog} & {hog} & wait", Limits(wall_s=20, memory_bytes=150_000_000))
    assert result.killed is KillReason.MEMORY
    assert "of memory" in result.stderr
    assert not alive(mark)


def test_shared_pages_of_forked_workers_count_once(run: Run, tree: Path) -> None:
    (tree / "fork.py").write_text(
        "import os, time\na = b'x' * 60_000_000\npids = [os.fork() for _ in range(3)]\ntime.sleep(0.4)\n"
    )
    assert run("python3 fork.py", Limits(wall_s=20, memory_bytes=200_000_000)).exit_code == 0


def test_processes_are_limited(run: Run, mark: str) -> None:
    result = run(f"for i in $(seq 30); do {sleeper(mark)} & done; wait", Limits(wall_s=20, processes=15))
    assert result.killed is KillReason.PROCESSES
    assert not alive(mark)


def test_forking_without_end_is_ended(run: Run, mark: str) -> None:
    result = run(f"while :; do (sleep 30; : {mark}) & done", Limits(wall_s=10, processes=60))
    assert result.killed is KillReason.PROCESSES
    assert not alive(mark)


def test_file_size_is_limited(run: Run, tree: Path) -> None:
    result = run("head -c 3000000 /dev/zero > big", Limits(wall_s=20, file_bytes=1_000_000))
    assert result.exit_code != 0
    assert (tree / "big").stat().st_size <= 1_000_000


def test_cpu_time_is_limited(run: Run) -> None:
    result = run("while :; do :; done", Limits(wall_s=30, cpu_s=1))
    assert result.exit_code == 128 + 24
    assert result.duration_s < 25


def test_many_at_once(tree: Path) -> None:
    results: list[CommandResult] = []

    def _one(number: int) -> None:
        results.append(run_command(f"echo {number}", Cage(tree, (tree,)), Limits(wall_s=30)))

    threads = [threading.Thread(target=_one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.stdout for result in results) == [f"{number}\n" for number in range(8)]


def test_nothing_is_left_open(run: Run) -> None:
    run("true")
    before = psutil.Process().num_fds()
    for _ in range(3):
        run("true")
        run("sleep 5", Limits(wall_s=0.1))
    assert psutil.Process().num_fds() <= before


def test_a_missing_folder_is_refused(run: Run, tree: Path) -> None:
    with pytest.raises(EnvironmentUnavailableError, match="does not exist"):
        run("true", cage=Cage(tree / "gone", (tree,)))


def test_weaker_isolation_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    monkeypatch.setenv("CODEFORGE_SANDBOX", "limits-only")
    assert available_isolation() is Isolation.LIMITS_ONLY
    assert run_command("true", Cage(tree, (tree,)), Limits()).isolation is Isolation.LIMITS_ONLY
    assert not supports_mounts(Isolation.LIMITS_ONLY)
