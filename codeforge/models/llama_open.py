"""Opening llama.cpp, a model file and an adapter, each failure told as what to do about it."""

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeforge.errors import EnvironmentUnavailableError

# Small enough that Ctrl-C during a long prompt is heard within a second or two; measured no slower than 512.
_BATCH = 128


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
    trained = int(llama.metadata.get(f"{llama.metadata.get('general.architecture')}.context_length", n_ctx))
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
