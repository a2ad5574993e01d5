"""The private temporary folder of one run."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "codeforge-run-"


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A new folder for temporary files, removed with all it holds afterwards.

    Its name carries this process's id, so that `remove_stale_run_folders` can tell those that a killed
    codeforge left behind.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")).resolve()
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_stale_run_folders() -> None:
    """Remove the folders of codeforge processes that no longer live."""
    import psutil

    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)) and not folder.is_symlink():
            remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a tree that a command may have filled with read-only folders. What can't go stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    for path, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            Path(path).chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
