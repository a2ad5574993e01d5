"""What `codeforge models` does with the models folder: list, choose, adopt, remove, verify."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from codeforge import paths
from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, UsageError
from codeforge.models import machine, store
from codeforge.models.catalog import CatalogEntry, entries, find, get, unknown_model
from codeforge.models.locking import model_lock
from codeforge.models.pull import put_in_place
from codeforge.models.sources.base import Fetched, disk_error, size_of

# What a pull may leave beside the file itself (codeforge.models.sources).
_LEFT_BY_PULLS = (".partial", ".partial.json", ".parts", ".hub-partial", ".hub-partial.json", ".bad", ".copy")
_PULLED_SO_FAR = (".partial", ".parts", ".hub-partial")


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A line of `models list`.

    Attributes:
        installed: its file, or None.
        pulled: bytes that an unfinished pull has left here.
        fits: whether it fits in the memory that is available now.
        active: whether commands without `--model` use it because the user chose it.
    """

    entry: CatalogEntry
    installed: store.InstalledModel | None
    pulled: int
    fits: bool
    active: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of reading a model's whole file: `problem` is "" when it is what it should be."""

    name: str
    path: Path
    problem: str


def list_models() -> list[ListedModel]:
    """Every model of the catalog, smallest first. Reads no model file to its end."""
    here = {model.name: model for model in store.installed()}
    memory, active = machine.available_memory(), store.active_name()
    return [
        ListedModel(
            entry,
            here.get(entry.name),
            sum(size_of(path) for path in _beside(entry, _PULLED_SO_FAR)),
            entry.memory <= memory,
            entry.name == active,
        )
        for entry in entries()
    ]


def use(name: str) -> str:
    """Make `name` the model of commands without `--model`; return what was stored.

    Args:
        name: a catalog model that is here, a .gguf file, `provider/model`, or "auto" (codeforge chooses).

    Raises:
        UsageError: it is nothing of these.
        EnvironmentUnavailableError: the model is not here, or is damaged.
    """
    if name == "auto":
        store.set_active("")
        return "auto"
    chosen = _choice(name)
    store.set_active(chosen)
    return chosen


def _choice(name: str) -> str:
    entry = find(name)
    if entry is not None:
        store.verify(entry)
        return entry.name
    path = Path(name).expanduser()
    if path.is_file():
        if not store.is_gguf(path):
            raise UsageError(f"{name} is not a GGUF file.", kept="the model in use stays")
        return str(path.absolute())
    provider, _, model = name.partition("/")
    if provider in ("", ".", "..", "~") or not model or name.endswith(".gguf"):
        raise unknown_model(name)
    return name


def adopt(path: Path, name: str | None) -> CatalogEntry:
    """Take a model file that the user has into the models folder (copied; the original stays).

    Args:
        name: which model it is; None: told by its hash, or by its name where the catalog knows no hash.

    Raises:
        UsageError: there is no such file, or it is no model of the catalog.
        EnvironmentUnavailableError: it is not the file that it should be, or can't be copied.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    entry = get(name) if name is not None else None
    if not store.is_gguf(path):
        raise UsageError(f"{path} is not a GGUF file.", kept="nothing was copied")
    taken = store.hash_file(path)
    entry = entry if entry is not None else _entry_with(taken, path)
    if entry.sha256 and taken != entry.sha256:
        raise EnvironmentUnavailableError(
            f"{path} is not {entry.name}: its SHA-256 is {taken}, not {entry.sha256}.",
            kept="nothing was copied",
            hint="get the file again, or use it as it is: `codeforge models use PATH`",
        )
    folder = paths.models_dir()
    with model_lock(entry, None):
        copy = folder / f"{entry.file}.copy"
        try:
            shutil.copyfile(path, copy)
            put_in_place(entry, Fetched(copy, taken, "catalog" if entry.sha256 else "local", f"file:{path}"))
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise disk_error(entry.name, folder, error, f"{path} is as it was") from error
    return entry


def _entry_with(sha256: str, path: Path) -> CatalogEntry:
    for entry in entries():
        if entry.sha256 == sha256 or (not entry.sha256 and entry.file == path.name):
            return entry
    raise UsageError(
        f"{path} is no model of the catalog (its SHA-256 is {sha256}).",
        kept="nothing was copied",
        hint="use it as it is: `codeforge models use PATH`",
    )


def remove(name: str) -> int:
    """Delete the model's file and what unfinished pulls of it left; return the bytes freed.

    Raises:
        UsageError: there is no such model.
        EnvironmentUnavailableError: nothing of it is here, or another process is fetching it.
    """
    entry = get(name)
    if not removable(entry):
        raise EnvironmentUnavailableError(f"Nothing of {entry.name} is here.", kept="nothing was removed")
    freed = 0
    with model_lock(entry, None):
        for path in removable(entry):
            freed += size_of(path)
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        store.forget(store.model_path(entry))
    if store.active_name() == entry.name:
        store.set_active("")
    return freed


def removable(entry: CatalogEntry) -> list[Path]:
    """What `remove` deletes: the model's file, and what pulls left beside it."""
    return [path for path in _beside(entry, ("", *_LEFT_BY_PULLS)) if path.exists()]


def verify_models(name: str | None) -> list[Verification]:
    """Read the whole file of the model `name` (None: of every model that is here) and compare its hash.

    Raises:
        UsageError: there is no such model.
        EnvironmentUnavailableError: the named model is not here.
    """
    chosen = [model.entry for model in store.installed()] if name is None else [get(name)]
    if name is not None and not store.model_path(chosen[0]).is_file():
        store.verify(chosen[0])
    return [_verification(entry) for entry in chosen]


def _verification(entry: CatalogEntry) -> Verification:
    try:
        return Verification(entry.name, store.verify(entry, rehash=True), "")
    except CodeforgeError as error:
        return Verification(entry.name, store.model_path(entry), error.message)


def _beside(entry: CatalogEntry, endings: tuple[str, ...]) -> list[Path]:
    return [paths.models_dir() / f"{entry.file}{ending}" for ending in endings]
