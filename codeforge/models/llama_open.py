"""Opening llama.cpp, a model file and an adapter, each failure told as what to do about it."""

import ctypes
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from codeforge.errors import EnvironmentUnavailableError

# `Llama` insists on a context of its own; generation happens in the decoder's, so this one stays tiny.
_UNUSED_CONTEXT = 8
_BYTES_PER_VALUE = 2


@dataclass(frozen=True, slots=True)
class Adapter:
    """A loaded LoRA adapter; it lives as long as its model."""

    path: Path
    handle: Any
    scale: float

    def attach(self, context: Any) -> bool:
        """Use it in a llama.cpp context; False when llama.cpp refuses."""
        import llama_cpp

        handles = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(self.handle)
        scales = (ctypes.c_float * 1)(self.scale)
        return bool(llama_cpp.llama_set_adapters_lora(context, handles, 1, scales) == 0)


def import_llama_cpp() -> Any:
    """The `llama_cpp` module, made to write nothing to the terminal.

    Raises:
        EnvironmentUnavailableError: it is missing or does not load; the hint says what to install.
    """
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise EnvironmentUnavailableError(
            f"The embedded backend can't be loaded: {error}.",
            hint=f"`pip install llama-cpp-python` compiles it and needs {_compiler()}; "
            "or use a hosted model: `--model provider/model`",
        ) from error
    _silence()
    return llama_cpp


def open_llama(path: Path) -> Any:
    """An open `llama_cpp.Llama` for its weights, vocabulary and metadata; its own context is of no use.

    Raises:
        EnvironmentUnavailableError: the file is missing, or no model.
    """
    llama_cpp = import_llama_cpp()
    if not path.is_file():
        raise EnvironmentUnavailableError(
            f"There is no model file {path}.", hint="run `codeforge models list`"
        )
    try:
        return llama_cpp.Llama(
            str(path),
            n_ctx=_UNUSED_CONTEXT,
            n_batch=_UNUSED_CONTEXT,
            n_threads=1,
            n_threads_batch=1,
            use_mmap=True,
            verbose=False,
        )
    except ValueError as error:
        raise EnvironmentUnavailableError(
            f"llama.cpp can't read the model file {path.name}: it is damaged or of an unknown kind.",
            kept=f"the file is kept at {path}",
            hint="run `codeforge models verify` and `codeforge models pull`",
        ) from error


def open_adapter(llama: Any, path: Path, scale: float) -> Adapter:
    """Load the adapter at `path`, to be used in a decoder's context.

    `Llama(lora_path=…)` would do this too, but then reads the whole model into memory instead of mapping it.

    Raises:
        EnvironmentUnavailableError: it is missing, broken, or made for another model.
    """
    import llama_cpp

    handle = llama_cpp.llama_adapter_lora_init(llama.model, str(path).encode()) if path.is_file() else None
    if not handle:
        raise EnvironmentUnavailableError(
            f"The adapter {path} can't be used with this model.",
            kept="nothing was generated",
            hint="give an adapter in GGUF form that was trained on this model",
        )
    return Adapter(path, handle, scale)


def affordable_context(metadata: dict[str, str], n_ctx: int) -> int:
    """`n_ctx`, at most what the model with this metadata was trained for.

    Raises:
        EnvironmentUnavailableError: its key-value cache would not fit in the memory that is available.
    """
    from codeforge.models.machine import available_memory

    n_ctx = min(n_ctx, _number(metadata, "context_length", n_ctx))
    heads = max(1, _number(metadata, "attention.head_count", 1))
    head_size = _number(metadata, "attention.key_length", _number(metadata, "embedding_length", 0) // heads)
    cached_heads = _number(metadata, "block_count", 0) * _number(metadata, "attention.head_count_kv", heads)
    needed = 2 * _BYTES_PER_VALUE * cached_heads * head_size * n_ctx
    available = available_memory()
    if needed > available:
        raise EnvironmentUnavailableError(
            f"A context of {n_ctx} tokens takes {needed / 1e9:.1f} GB beside the model, "
            f"but {available / 1e9:.1f} GB are available.",
            kept="nothing was generated",
            hint="ask for a smaller context, or close something",
        )
    return n_ctx


@cache
def _silence() -> Any:
    """Drop llama.cpp's own messages; the callback is kept, for llama.cpp calls it as long as it lives."""
    import llama_cpp

    callback = llama_cpp.llama_log_callback(lambda _level, _text, _data: None)
    llama_cpp.llama_log_set(callback, ctypes.c_void_p(0))
    return callback


def _number(metadata: dict[str, str], key: str, default: int) -> int:
    text = metadata.get(f"{metadata.get('general.architecture')}.{key}", "")
    return int(text) if text.isdigit() else default


def _compiler() -> str:
    if sys.platform == "darwin":
        return "a compiler (`xcode-select --install`)"
    if sys.platform == "win32":
        return "the Visual Studio C++ build tools"
    return "a C++ compiler and make (`apt install build-essential`, or `dnf install gcc-c++ make`)"
