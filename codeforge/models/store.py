"""Model files in the models folder: where they lie, whether they are what they claim, which one is active.

Hashing a gigabyte at every start would cost seconds, so a file's hash is kept beside it with the size and the
modification time that it was taken at, and is taken again only when these differ.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codeforge import paths
from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.catalog import CatalogEntry, entries, get

_CHUNK = 4 << 20
_GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file's hash and the state of the file when it was taken.

    Attributes:
        trust: whose hash it agreed with: "catalog", "hub" (as the hub reported it at the first download) or
            "local" (nobody's: the file was simply there).
        source: where the file came from ("" when it was simply there).
        verified_at: when the hash was taken, ISO 8601.
    """

    size: int
    mtime_ns: int
    sha256: str
    trust: str
    source: str = ""
    verified_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model whose file is there.

    Attributes:
        size: bytes on the disk.
        sha256: as recorded, or "" when the file was never hashed, or changed since.
        verified: whether it is known to be the file that it should be.
        problem: what is wrong with it, or "" when nothing is known to be wrong.
    """

    name: str
    entry: CatalogEntry
    path: Path
    size: int
    sha256: str
    verified: bool
    problem: str


def model_path(entry: CatalogEntry) -> Path:
    """Where the file of `entry` lies, or would lie."""
    return paths.models_dir() / entry.file


def installed() -> list[InstalledModel]:
    """The models whose file is there, smallest first. Cheap: nothing is hashed, recorded hashes are used."""
    return [look(entry) for entry in entries() if model_path(entry).is_file()]


def look(entry: CatalogEntry) -> InstalledModel:
    """What is known about the entry's file, which is there, without reading it."""
    path = model_path(entry)
    known = recorded(path)
    problem = quick_problem(entry, path)
    expected = entry.sha256 or (known.sha256 if known is not None else "")
    if known is not None and not problem and known.sha256 != expected:
        problem = _wrong_hash(known.sha256, expected)
    verified = known is not None and not problem
    return InstalledModel(
        entry.name,
        entry,
        path,
        path.stat().st_size,
        known.sha256 if known is not None else "",
        verified,
        problem,
    )


def hash_file(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file; `on_bytes` gets the count of bytes read so far."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            digest.update(block)
            done += len(block)
            if on_bytes is not None:
                on_bytes(done)
    return digest.hexdigest()


def fingerprint(path: Path, *, rehash: bool = False, expected: str = "", trust: str = "local") -> Fingerprint:
    """The file's fingerprint: the recorded one when the file is unchanged since, else a new one.

    A new one is recorded unless it differs from `expected`: a damaged file never becomes what is expected.
    `trust` is what a new record says when the hash is not the one recorded before.
    """
    current = recorded(path)
    if current is not None and not rehash:
        return current
    status = path.stat()
    taken = hash_file(path)
    known = _read_record(path)
    if known is not None and known.sha256 == taken:
        fresh = Fingerprint(status.st_size, status.st_mtime_ns, taken, known.trust, known.source)
    else:
        fresh = Fingerprint(status.st_size, status.st_mtime_ns, taken, trust)
    if not expected or taken == expected:
        record(path, fresh)
    elif known is not None:
        # The record keeps what is expected, but vouches for this file no more.
        record(path, replace(known, mtime_ns=-1))
    return fresh


def recorded(path: Path) -> Fingerprint | None:
    """What is recorded about the file, if the file is unchanged since."""
    known = _read_record(path)
    status = path.stat()
    unchanged = known is not None and (known.size, known.mtime_ns) == (status.st_size, status.st_mtime_ns)
    return known if unchanged else None


def record(path: Path, taken: Fingerprint) -> None:
    """Keep `taken` for `path`. A folder that can't be written costs time at the next start, no more."""
    try:
        write_json(_record_path(path), asdict(taken))
    except OSError:
        return


def forget(path: Path) -> None:
    """Drop what is recorded about `path`."""
    _record_path(path).unlink(missing_ok=True)


def verified_path(name: str) -> Path:
    """The path of the model's file, known to be whole; hashed only when it changed since the last time.

    Raises:
        UsageError: there is no model of this name.
        EnvironmentUnavailableError: it is not here, or it is damaged.
    """
    return verify(get(name))


def verify(entry: CatalogEntry, *, rehash: bool = False) -> Path:
    """The path of the entry's file, known to be whole.

    Raises:
        EnvironmentUnavailableError: it is not there, or it is not the file that it should be.
    """
    path = model_path(entry)
    if not path.is_file():
        raise EnvironmentUnavailableError(
            f"The model {entry.name} is not here.", hint=f"run `codeforge models pull {entry.name}`"
        )
    problem = _problem(entry, path, rehash=rehash)
    if problem:
        raise EnvironmentUnavailableError(
            f"The model file of {entry.name} is damaged: {problem}.",
            kept=f"the file is kept at {path}",
            hint=f"run `codeforge models pull {entry.name}`; it puts the damaged file aside",
        )
    return path


def is_verified(entry: CatalogEntry) -> bool:
    """Whether the entry's file is there and whole."""
    path = model_path(entry)
    return path.is_file() and not _problem(entry, path, rehash=False)


def quick_problem(entry: CatalogEntry, path: Path) -> str:
    """What size and first bytes say is wrong with the file, or ""."""
    size = path.stat().st_size
    if not entry.approximate_size and size != entry.size:
        return f"it has {size} bytes, not {entry.size}"
    return "" if is_gguf(path) else "it is not a GGUF file"


def is_gguf(path: Path) -> bool:
    """Whether the file begins as a GGUF file does."""
    with path.open("rb") as file:
        return file.read(4) == _GGUF_MAGIC


def _problem(entry: CatalogEntry, path: Path, *, rehash: bool) -> str:
    try:
        problem = quick_problem(entry, path)
        if problem:
            return problem
        known = _read_record(path)
        expected = entry.sha256 or (known.sha256 if known is not None else "")
        trust = "catalog" if entry.sha256 else "local"
        taken = fingerprint(path, rehash=rehash, expected=expected, trust=trust)
    except OSError as error:
        return f"it can't be read ({error.strerror})"
    return _wrong_hash(taken.sha256, expected) if expected and taken.sha256 != expected else ""


def _wrong_hash(taken: str, expected: str) -> str:
    return f"its SHA-256 is {taken}, not {expected}"


def active_name() -> str:
    """What `codeforge models use` chose, or ""."""
    value = read_json(_active_path()).get("model", "")
    return value if isinstance(value, str) else ""


def set_active(name: str) -> None:
    """Choose `name` for commands without `--model`; "" means automatic again.

    Raises:
        EnvironmentUnavailableError: it can't be written.
    """
    try:
        write_json(_active_path(), {"model": name})
    except OSError as error:
        raise EnvironmentUnavailableError(
            f"The choice can't be written to {_active_path()}: {error.strerror}.",
            kept="the choice made before stays",
            hint="check the disk and the folder's rights, or set CODEFORGE_DATA_DIR",
        ) from error


def measured_speed(sha256: str) -> float | None:
    """The best tokens/s that the model with this hash has reached on this machine, or None."""
    value = read_json(_speed_path()).get(sha256)
    return float(value) if isinstance(value, int | float) else None


def note_speed(sha256: str, tokens_per_s: float) -> None:
    """Keep the speed if it is the best so far: a slow run says that the machine was busy, no more."""
    speeds = read_json(_speed_path())
    if tokens_per_s > speeds.get(sha256, 0):
        try:
            write_json(_speed_path(), {**speeds, sha256: round(tokens_per_s, 2)})
        except OSError:
            return


def read_json(path: Path) -> dict[str, Any]:
    """A small JSON object; empty when the file is missing or broken (it only speeds things up)."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a small JSON object so that a reader sees the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _record_path(path: Path) -> Path:
    folder = paths.models_dir()
    if path.absolute().parent == folder.absolute():
        return folder / f"{path.name}.verified.json"
    key = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]
    return folder / "elsewhere" / f"{key}.verified.json"


def _read_record(path: Path) -> Fingerprint | None:
    table = read_json(_record_path(path))
    try:
        return Fingerprint(
            int(table["size"]),
            int(table["mtime_ns"]),
            str(table["sha256"]),
            str(table["trust"]),
            str(table["source"]),
            str(table["verified_at"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _active_path() -> Path:
    return paths.models_dir() / "active.json"


def _speed_path() -> Path:
    return paths.models_dir() / "speed.json"
