"""Copies of a tree, and putting a copy back exactly and cheaply.

After a copy every path's stamp is recorded. `restore` compares stamps and touches only what differs.
The change time is part of the stamp: no program can set it, so a forged modification time is seen.
"""

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

_CHUNK = 1 << 20
_OWNER_RWX = 0o700
_COARSE_CLOCK = 5  # Linux's CLOCK_REALTIME_COARSE: the clock that file systems stamp changes with
_SETTLE_CAP_S = 0.05


class Stamp(NamedTuple):
    """What tells that a path was touched. Of a folder only the mode: the rest changes with its entries."""

    mode: int
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0


Stamps = dict[str, Stamp]


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of one path, from its `lstat`."""
    if stat.S_ISDIR(status.st_mode):
        return Stamp(status.st_mode)
    return Stamp(status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def copy_entry(source: Path, target: Path) -> bool:
    """Copy one regular file, symbolic link or (empty) folder with its mode and modification time.

    Returns False, having made nothing, for sockets, pipes and devices. `target` must not exist, its
    folder must. Folders always get all owner permissions, so that what lies in them can be replaced.
    """
    return _copy(os.fspath(source), os.fspath(target), stamp_of(source.lstat()))


def copy_tree(source: Path, target: Path) -> Stamps:
    """Copy the tree below `source` (made by us: nothing unreadable in it) to the new folder `target`."""
    target.mkdir()
    for path, stamp in scan(source).items():
        _copy(f"{source}/{path}", f"{target}/{path}", stamp)
    return scan(target)


def scan(root: Path) -> Stamps:
    """Stamps of everything below `root`, a folder before its entries."""
    stamps: Stamps = {}

    def visit(path: str, have: Stamp) -> bool:
        stamps[path] = have
        return True

    _walk(root, visit)
    return stamps


def differences(root: Path, recorded: Mapping[str, Stamp]) -> list[str]:
    """Paths below `root` that are new, changed or missing; nothing below a new folder is listed."""
    found = _Comparison(root, recorded)
    return sorted({*found.new, *found.changed, *found.missing})


def restore(source: Path, root: Path, recorded: Stamps, suspects: Iterable[str] = ()) -> int:
    """Make `root` equal to `source` again, and `recorded` match it.

    Args:
        source: the tree that `root` was copied from, unchanged since.
        root: the copy.
        recorded: its stamps; updated in place.
        suspects: paths to copy again whatever their stamps say.

    Returns:
        How many paths were removed or copied again.
    """
    root.chmod(stat.S_IMODE(source.stat().st_mode))
    found = _Comparison(root, recorded)
    # Folders first: one that was made read-only would not let go of what is in it.
    folders = [
        path for path in found.changed if stat.S_ISDIR(recorded[path].mode) and _is_folder(root / path)
    ]
    for path in folders:
        (root / path).chmod(stat.S_IMODE(recorded[path].mode))
    stale = dict.fromkeys([*found.changed, *(path for path in suspects if path in recorded)])
    # Outermost first: what lies behind a folder that became a link is not ours to remove.
    for path in sorted({*found.new, *stale} - set(folders)):
        remove(root / path)
    wanted = {*stale, *found.missing} - set(folders)
    # In recorded order a folder comes before its entries.
    for path in [path for path in recorded if path in wanted] if wanted else []:
        copy_entry(source / path, root / path)
        recorded[path] = stamp_of((root / path).lstat())
    return len(found.new) + len(folders) + len(wanted)


def remove(path: Path) -> None:
    """Remove a file, link or whole folder, whatever permissions it was left with; missing is fine."""
    if not _is_folder(path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        _open_up(path)
        shutil.rmtree(path)
    except FileNotFoundError:
        shutil.rmtree(path, ignore_errors=True)


def settle(stamps: Iterable[Stamp]) -> None:
    """Wait until the file system's clock is past the newest of `stamps` (at most one tick, usually none).

    A change within the same tick as the copy could leave the stamp as it was.
    """
    newest = max((entry.ctime_ns for entry in stamps), default=0)
    deadline = time.monotonic() + _SETTLE_CAP_S
    while _file_clock_ns() <= newest and time.monotonic() < deadline:
        time.sleep(0.0005)


def _file_clock_ns() -> int:
    try:
        return time.clock_gettime_ns(_COARSE_CLOCK)
    except (OSError, AttributeError):  # not Linux: allow for a tick of 10 ms
        return time.time_ns() - 10_000_000


class _Comparison:
    """One pass over `root` against the recorded stamps. Folders are opened up (chmod) on the way."""

    def __init__(self, root: Path, recorded: Mapping[str, Stamp]) -> None:
        self._recorded = recorded
        self.new: list[str] = []
        self.changed: list[str] = []
        self._seen: set[str] = set()
        _walk(root, self._visit)
        whole = len(self._seen) == len(recorded)
        self.missing: list[str] = [] if whole else [path for path in recorded if path not in self._seen]

    def _visit(self, path: str, have: Stamp) -> bool:
        want = self._recorded.get(path)
        if want is None:
            self.new.append(path)
            return False
        self._seen.add(path)
        if have != want:
            self.changed.append(path)
        return stat.S_ISDIR(want.mode)


def _walk(root: Path, visit: Callable[[str, Stamp], bool]) -> None:
    """Call `visit` on everything below `root`; it answers whether to go into a folder."""
    pending = [("", os.fspath(root))]
    while pending:
        prefix, folder = pending.pop()
        try:
            entries = os.scandir(folder)
        except PermissionError:
            Path(folder).chmod(_OWNER_RWX)
            entries = os.scandir(folder)
        with entries:
            for entry in entries:
                have = stamp_of(entry.stat(follow_symlinks=False))
                path = prefix + entry.name
                if visit(path, have) and stat.S_ISDIR(have.mode):
                    pending.append((path + "/", entry.path))


def _copy(source: str, target: str, stamp: Stamp) -> bool:
    # Strings and descriptors instead of Path objects: this runs thousands of times in a session.
    if stat.S_ISREG(stamp.mode):
        _copy_file(source, target)
    elif stat.S_ISLNK(stamp.mode):
        os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211
        os.utime(target, ns=(stamp.mtime_ns, stamp.mtime_ns), follow_symlinks=False)
    elif stat.S_ISDIR(stamp.mode):
        os.mkdir(target)  # noqa: PTH102
        os.chmod(target, stat.S_IMODE(stamp.mode) & 0o777 | _OWNER_RWX)  # noqa: PTH101
    else:
        return False
    return True


def _copy_file(source: str, target: str) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(reading)
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            while chunk := os.read(reading, _CHUNK):
                _write_all(writing, chunk)
            os.fchmod(writing, stat.S_IMODE(status.st_mode) & 0o777)
            os.utime(writing, ns=(status.st_mtime_ns, status.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _open_up(folder: Path) -> None:
    """Give the owner all permissions on every folder below, so that rmtree can work."""
    folder.chmod(_OWNER_RWX)
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            _open_up(Path(entry.path))
