"""What happens to a command when codeforge itself is killed, interrupted, or its supervisor is."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.sandbox.isolation import probe_isolation
from codeforge.sandbox.model import Isolation, Limits
from codeforge.sandbox.run_folder import remove_stale_run_folders
from codeforge.sandbox.runner import Cage, run_command

PROGRAM = """
import sys
from pathlib import Path
from codeforge.sandbox.model import Isolation, Limits
from codeforge.sandbox.runner import Cage, run_command
tree = Path(sys.argv[1])
try:
    run_command(sys.argv[2], Cage(tree, (tree,)), Limits(wall_s=60), isolation=Isolation(sys.argv[3]))
except KeyboardInterrupt:
    print("interrupted")
"""


def offered() -> list[Isolation]:
    probed = probe_isolation()
    kinds = [Isolation.BUBBLEWRAP] if probed.bubblewrap.usable else []
    return [*kinds, *([Isolation.LANDLOCK] if probed.landlock_abi else []), Isolation.LIMITS_ONLY]


def marked(mark: str) -> list[int]:
    """Processes that sleep with this mark, leaving out the shells and cages that only name it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[-1:] == [mark] and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def wait_for(count: int, mark: str, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if len(marked(mark)) == count:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("isolation", offered())
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_command_dies_with_codeforge(tmp_path: Path, isolation: Isolation, number: int) -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    sleeper = f"python3 -c 'import time; time.sleep(600)' {mark}"
    command = f"setsid -f {sleeper}; {sleeper} & {sleeper}; true"
    env = {**os.environ, "CODEFORGE_DATA_DIR": str(tmp_path / "data")}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), command, isolation],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert wait_for(3, mark)
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert output == ("interrupted\n" if number == signal.SIGINT else "")
    assert wait_for(0, mark)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_killing_the_supervisor_frees_nothing(tmp_path: Path) -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    sleeper = f"python3 -c 'import time; time.sleep(600)' {mark}"
    # The supervisor is the parent of the session's leader, which is the shell.
    command = f"setsid -f {sleeper}; sleep 0.3; kill -9 $PPID; sleep 600"
    with pytest.raises(EnvironmentUnavailableError, match="could not be run in its cage"):
        run_command(command, Cage(tmp_path, (tmp_path,)), Limits(wall_s=30), isolation=Isolation.LIMITS_ONLY)
    assert wait_for(0, mark)


def test_folders_of_dead_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    stale, own = tmp_path / f"codeforge-run-{gone.pid}-x", tmp_path / f"codeforge-run-{os.getpid()}-x"
    other = tmp_path / "codeforge-run-notes"
    for folder in (stale, own, other):
        (folder / "tmp").mkdir(parents=True)
    remove_stale_run_folders()
    assert sorted(tmp_path.iterdir()) == sorted([own, other])
