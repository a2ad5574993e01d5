"""Opening llama.cpp, a model file and an adapter, each failure told as what to do about it."""

import ctypes
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeforge.errors import EnvironmentUnavailableError

# Small enough that Ctrl-C during a long prompt is heard within a second or two; measured no slower than 512.
_BATCH = 128
# Up to here the key-value cache is small whatever the model; beyond, the file is asked first.
_HARMLESS_CONTEXT = 8192
_BYTES_PER_VALUE = 2


@dataclass(frozen=True, slots=True)
class Adapter:
    """A loaded LoRA adapter; it lives as long as its model."""

    handle: Any
    scale: float

    def attach(self, context: Any) -> bool:
        """Use it in a llama.cpp context; False when llama.cpp refuses."""
        import llama_cpp

        handles = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(self.handle)
        scales = (ctypes.c_float * 1)(self.scale)
        return bool(llama_cpp.llama_set_adapters_lora(context, handles, 1, scales) == 0)


def import_llama_cpp() -> Any:
    """The `llama_cpp` module.

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
    return llama_cpp


def open_llama(path: Path, *, n_ctx: int, threads: int) -> Any:
    """An open `llama_cpp.Llama`.

    Raises:
        EnvironmentUnavailableError: the file is no model, or the context does not fit in memory.
    """
    llama_cpp = import_llama_cpp()
    if not path.is_file():
        raise EnvironmentUnavailableError(
            f"There is no model file {path}.", hint="run `codeforge models list`"
        )
    if n_ctx > _HARMLESS_CONTEXT:
        n_ctx = _affordable_context(llama_cpp, path, n_ctx)
    try:
        llama = llama_cpp.Llama(
            str(path),
            n_ctx=n_ctx,
            n_batch=_BATCH,
            n_ubatch=_BATCH,
            n_threads=threads,
            n_threads_batch=threads,
            use_mmap=True,
            flash_attn=True,
            verbose=False,
        )
    except ValueError as error:
        raise _load_error(path, n_ctx, str(error)) from error
    trained = _number(llama.metadata, "context_length", n_ctx)
    if n_ctx > trained:
        llama.close()
        return open_llama(path, n_ctx=trained, threads=threads)
    return llama


def open_adapter(llama: Any, path: Path, scale: float) -> Adapter:
    """Load the adapter at `path` and use it in `llama`'s own context.

    `Llama(lora_path=…)` would do this too, but then reads the whole model into memory instead of mapping it.

    Raises:
        EnvironmentUnavailableError: it is missing, broken, or made for another model.
    """
    import llama_cpp

    handle = llama_cpp.llama_adapter_lora_init(llama.model, str(path).encode()) if path.is_file() else None
    adapter = Adapter(handle, scale)
    if not handle or not adapter.attach(llama.ctx):
        raise EnvironmentUnavailableError(
            f"The adapter {path} can't be used with this model.",
            kept="nothing was generated",
            hint="give an adapter in GGUF form that was trained on this model",
        )
    return adapter


def _affordable_context(llama_cpp: Any, path: Path, n_ctx: int) -> int:
    """`n_ctx`, at most what the model was trained for.

    Raises:
        EnvironmentUnavailableError: its key-value cache would not fit in the memory that is available.
    """
    from codeforge.models.machine import available_memory

    metadata = _metadata(llama_cpp, path)
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
            hint="ask for a smaller context, or close something",
        )
    return n_ctx


def _metadata(llama_cpp: Any, path: Path) -> dict[str, str]:
    """The file's own description, read without loading the weights."""
    logging.getLogger("llama-cpp-python").setLevel(logging.ERROR)
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    if not model:
        raise _load_error(path, 0, "")
    try:
        places = range(int(llama_cpp.llama_model_meta_count(model)))
        return {
            _text(llama_cpp.llama_model_meta_key_by_index, model, place): _text(
                llama_cpp.llama_model_meta_val_str_by_index, model, place
            )
            for place in places
        }
    finally:
        llama_cpp.llama_model_free(model)


def _text(function: Any, model: Any, place: int) -> str:
    buffer = ctypes.create_string_buffer(256)
    function(model, place, ctypes.cast(buffer, ctypes.c_char_p), len(buffer))
    return buffer.value.decode("utf-8", "replace")


def _number(metadata: dict[str, str], key: str, default: int) -> int:
    text = metadata.get(f"{metadata.get('general.architecture')}.{key}", "")
    return int(text) if text.isdigit() else default


def _load_error(path: Path, n_ctx: int, text: str) -> EnvironmentUnavailableError:
    if "context" in text:
        return EnvironmentUnavailableError(
            f"A context of {n_ctx} tokens does not fit in memory.",
            hint="close something, or use a smaller model",
        )
    return EnvironmentUnavailableError(
        f"llama.cpp can't read the model file {path.name}: it is damaged or of a kind that it does not know.",
        kept=f"the file is kept at {path}",
        hint="run `codeforge models verify` and `codeforge models pull`",
    )


def _compiler() -> str:
    if sys.platform == "darwin":
        return "a compiler (`xcode-select --install`)"
    if sys.platform == "win32":
        return "the Visual Studio C++ build tools"
    return "a C++ compiler and make (`apt install build-essential`, or `dnf install gcc-c++ make`)"
