"""The packages of the extra `codeforge[dense]`: imported on demand, missed with one clear error."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from codeforge.errors import EnvironmentUnavailableError

INSTALL = 'pip install "codeforge[dense]"'
_NEEDED = ("torch", "sentence_transformers")


def is_installed() -> bool:
    """Whether the packages that encoders need are there; nothing is imported."""
    return not _absent()


def check_installed() -> None:
    """Fail at once, before anything slow is imported.

    Raises:
        EnvironmentUnavailableError: a package that encoders need isn't installed.
    """
    if absent := _absent():
        raise missing(absent[0], "it isn't installed")


def _absent() -> list[str]:
    return [module for module in _NEEDED if find_spec(module) is None]


def require(module: str) -> ModuleType:
    """Import `module` of the extra.

    Raises:
        EnvironmentUnavailableError: it isn't installed, or can't be imported here.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing(module, str(error)) from error


def missing(package: str, reason: str) -> EnvironmentUnavailableError:
    """The error for a package of the extra that can't be used."""
    return EnvironmentUnavailableError(
        f"Dense search needs the package {package}, which can't be used here: {reason}.",
        kept="search without vectors works as before",
        hint=INSTALL,
    )


def optional(module: str) -> ModuleType | None:
    """Import `module`; `None` when it isn't installed."""
    try:
        return import_module(module)
    except ImportError:
        return None
