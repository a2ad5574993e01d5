"""From what the user writes after `--model` to an open model.

auto, or nothing            what `models use` chose, else the best model that is here
qwen2.5-coder-1.5b          a model of the catalog
path/to/file.gguf           any GGUF file
replay:FILE, replay:empty   recorded replies
ensemble:A,B*2              several of these in turn
provider/model              a hosted model, through litellm
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.models import catalog, store
from codeforge.models.protocol import ChatModel


@dataclass(frozen=True, slots=True)
class _Settings:
    threads: int | None
    n_ctx: int | None
    lora: Path | None
    api_base: str | None


def open_model(
    spec: str | None = None,
    *,
    threads: int | None = None,
    n_ctx: int | None = None,
    lora: Path | None = None,
    api_base: str | None = None,
) -> ChatModel:
    """Open the model that `spec` names.

    Args:
        spec: see the module; None and "auto" mean automatic.
        threads: for a local model; None: the cores that are free now.
        n_ctx: tokens of prompt plus answer for a local model; None: 8192 or what the model has.
        lora: an adapter for a local model, in GGUF form.
        api_base: the address of an OpenAI-compatible server for a hosted model.

    Raises:
        UsageError: nothing is called that.
        EnvironmentUnavailableError: the model is not here, is damaged, or can't be loaded.
    """
    settings = _Settings(threads, n_ctx, lora, api_base)
    wanted = (spec or "auto").strip()
    if wanted == "auto":
        wanted = automatic_name()
    return _open(wanted, settings)


def automatic_name() -> str:
    """What "auto" means now.

    Raises:
        EnvironmentUnavailableError: there is no local model.
    """
    from codeforge.models.select import default_model

    return store.active_name() or default_model().name


def check_name(spec: str) -> None:
    """Refuse a name that can't mean a model, without opening anything.

    Raises:
        UsageError: nothing is called that.
    """
    if catalog.find(spec) is None and not _opener(spec):
        raise catalog.unknown_model(spec)


def _open(spec: str, settings: _Settings) -> ChatModel:
    entry = catalog.find(spec)
    if entry is not None:
        return _open_file(store.verify(entry), entry.name, settings)
    opener = _opener(spec)
    if opener is None:
        raise catalog.unknown_model(spec)
    return opener(spec, settings)


def _opener(spec: str) -> Callable[[str, _Settings], ChatModel] | None:
    if spec.startswith("replay:"):
        return _open_replay
    if spec.startswith("ensemble:"):
        return _open_ensemble
    if spec.lower().endswith(".gguf"):
        return _open_path
    provider, slash, model = spec.partition("/")
    return _open_hosted if slash and provider and model and not spec.startswith((".", "~")) else None


def _open_replay(spec: str, _: _Settings) -> ChatModel:
    from codeforge.models.replay import open_replay

    return open_replay(spec.removeprefix("replay:"))


def _open_ensemble(spec: str, settings: _Settings) -> ChatModel:
    from codeforge.models.ensemble import EnsembleModel

    members: list[tuple[ChatModel, int]] = []
    try:
        for item in spec.removeprefix("ensemble:").split(","):
            name, _, weight = item.strip().partition("*")
            if weight and not (weight.isdecimal() and int(weight) >= 1):
                raise UsageError(
                    f"The weight {weight!r} of {name!r} in {spec!r} is not a whole number from 1."
                )
            if name.startswith("ensemble:"):
                raise UsageError(f"{spec!r}: an ensemble can't hold another.")
            members.append((_open(name, settings), int(weight or 1)))
    except BaseException:
        for model, _weight in members:
            model.close()
        raise
    return EnsembleModel(spec, members)


def _open_path(spec: str, settings: _Settings) -> ChatModel:
    path = Path(spec).expanduser().absolute()
    if not path.is_file():
        raise EnvironmentUnavailableError(
            f"There is no model file {path}.", hint="check the path, or see `codeforge models list`"
        )
    return _open_file(path, spec, settings)


def _open_hosted(spec: str, settings: _Settings) -> ChatModel:
    from codeforge.models.litellm_model import LiteLLMModel

    return LiteLLMModel(spec, api_base=settings.api_base, context_window=settings.n_ctx)


def _open_file(path: Path, name: str, settings: _Settings) -> ChatModel:
    from codeforge.models.llama_cpp import DEFAULT_CONTEXT, LlamaCppModel, LlamaOptions
    from codeforge.models.select import threads as free_threads

    taken = store.fingerprint(path).sha256
    one, many = (settings.threads, settings.threads) if settings.threads else free_threads()
    options = LlamaOptions(
        n_ctx=settings.n_ctx or DEFAULT_CONTEXT,
        threads=one,
        threads_batch=many,
        lora=settings.lora.expanduser().absolute() if settings.lora is not None else None,
    )
    return LlamaCppModel(
        path,
        name=name,
        version=_version(taken, options.lora),
        options=options,
        on_speed=None if options.lora else lambda speed: _note_speed(taken, speed),
    )


def _version(sha256: str, lora: Path | None) -> str:
    if lora is None:
        return f"sha256:{sha256}"
    if not lora.is_file():
        raise EnvironmentUnavailableError(f"There is no adapter file {lora}.", kept="nothing was loaded")
    return f"sha256:{sha256}+lora:{hashlib.sha256(lora.read_bytes()).hexdigest()}"


def _note_speed(sha256: str, tokens_per_s: float) -> None:
    """Keep a measured speed, unless the machine was busy with other things: that is not what it can do."""
    from codeforge.models.machine import usable_cores

    if not hasattr(os, "getloadavg") or os.getloadavg()[0] <= usable_cores():
        store.note_speed(sha256, tokens_per_s)
