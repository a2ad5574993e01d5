"""The packages of the extra `codeforge[dense]`: imported on demand, missed with a clear error."""

from importlib import import_module
from types import ModuleType

from codeforge.errors import EnvironmentUnavailableError

INSTALL = "pip install 'codeforge[dense]'"


def require(module: str) -> ModuleType:
    """Import `module` of the extra.

    Raises:
        EnvironmentUnavailableError: it isn't installed, or can't be imported here.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise EnvironmentUnavailableError(
            f"The Python package {module} is needed for dense search and can't be imported: {error}.",
            hint=INSTALL,
        ) from error


def optional(module: str) -> ModuleType | None:
    """Import `module`; `None` when it isn't installed."""
    try:
        return import_module(module)
    except ImportError:
        return None
