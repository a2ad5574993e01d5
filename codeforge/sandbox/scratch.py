"""The folder that holds one process's scratch trees: always removed, also after a crash.

Its owner holds a lock on it for as long as it lives (the kernel lets go of it even after `kill -9`), so
whoever comes next can tell what is stale. The process id is written down for people only: ids are
reused, and differ between containers that share a folder.
"""

import atexit
import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError
from codeforge.paths import data_dir
from codeforge.sandbox.snapshot import remove

MEMORY_TREE_BYTES = 64 << 20
MEMORY_FREE_BYTES = 4 << 30

_MEMORY = Path("/dev/shm")
_PREFIX = "run-"
_LOCK = "owner"


def default_scratch_root(repo_root: Path, tree_bytes: int) -> Path:
    """Where scratch trees go: in memory when they are small beside what is free, else on the disk.

    Thousands of small files are made and removed in a session; a disk's file system takes up to twenty
    times as long for that. On the disk they go below codeforge's data folder, unless that lies in the
    repository itself.

    Args:
        repo_root: the user's repository.
        tree_bytes: the size of one tree.

    Raises:
        EnvironmentUnavailableError: the repository contains all places.
    """
    own = f"codeforge-{os.getuid()}"
    places = [data_dir() / "scratch", Path(tempfile.gettempdir()) / own]
    if _fits_in_memory(_MEMORY, tree_bytes) and _is_ours(_MEMORY / own):
        places.insert(0, _MEMORY / own)
    for root in places:
        if not root.resolve().is_relative_to(repo_root):
            return root
    raise EnvironmentUnavailableError(
        f"No place for scratch trees: both the data folder and the temporary folder lie inside {repo_root}.",
        kept="Nothing was changed.",
        hint="Set CODEFORGE_DATA_DIR or TMPDIR to a folder outside the repository.",
    )


def _fits_in_memory(folder: Path, tree_bytes: int) -> bool:
    """Whether `folder` is a roomy file system in memory from which programs may be started."""
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
        free = os.statvfs(folder)
        memory = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    if not any(line.split()[1:3] == [str(folder), "tmpfs"] for line in lines):
        return False
    available = re.search(r"^MemAvailable: +([0-9]{1,15}) kB", memory, re.MULTILINE)
    room = min(free.f_bavail * free.f_frsize, int(available[1]) * 1024 if available else 0)
    usable = not free.f_flag & (os.ST_NOEXEC | os.ST_RDONLY) and os.access(folder, os.W_OK)
    return usable and tree_bytes <= MEMORY_TREE_BYTES and room >= MEMORY_FREE_BYTES


def _is_ours(folder: Path) -> bool:
    """Nobody else may have put a folder (or a link) of that name there first."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


class ScratchFolder:
    """One process's private folder below a scratch root."""

    def __init__(self, root: Path) -> None:
        """Make it, and remove those of dead processes.

        Raises:
            EnvironmentUnavailableError: the folder can't be made (read-only, full).
        """
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(root / ".lock"):
                stale = _set_aside_stale(root)
                self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root)).resolve()
                self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(self._lock, f"{os.getpid()}\n".encode())
        except OSError as error:
            raise EnvironmentUnavailableError(
                f"No scratch folder can be made in {root}: {error.strerror or error}.",
                kept="Nothing was changed.",
                hint="Free some space there, or set CODEFORGE_DATA_DIR to another place.",
            ) from error
        self._owner = os.getpid()
        atexit.register(self.close)
        for folder in stale:
            with contextlib.suppress(OSError):  # another user's, or still busy: the next start tries again
                remove(folder)

    def close(self) -> None:
        """Remove it with everything in it. May be called twice; a forked child leaves it alone."""
        if self._lock < 0 or os.getpid() != self._owner:
            return
        atexit.unregister(self.close)
        with contextlib.suppress(OSError):
            remove(self.path)
        os.close(self._lock)
        self._lock = -1


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _set_aside_stale(root: Path) -> list[Path]:
    """Rename the folders whose owner is gone (quick, under the lock); removing them comes later."""
    stale: list[Path] = []
    for folder in root.iterdir():
        if folder.name.startswith("stale-"):
            stale.append(folder)
        elif folder.name.startswith(_PREFIX) and _is_abandoned(folder):
            target = folder.with_name(f"stale-{folder.name}")
            with contextlib.suppress(OSError):
                folder.rename(target)
                stale.append(target)
    return stale


def _is_abandoned(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
