"""Finding a pip to download with; the user's own configuration (index, proxy, certificates) applies."""

import importlib.util
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from codeforge.models.sources.base import SourceUnavailableError


def find_pip(scratch: Path) -> list[str]:
    """The command line of a working pip: this environment's, uv's, the one on PATH, or one in a throw-away
    environment under `scratch` (the user's environment is never changed).

    Raises:
        SourceUnavailableError: there is none.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for command in _other_commands():
        if _works(command):
            return list(command)
    folder = scratch / "pip-environment"
    try:
        venv.create(folder, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SourceUnavailableError(
            "pip is missing here, and so is ensurepip: install pip (or uv) and run the command again"
        ) from error
    return [str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"), "-m", "pip"]


def _other_commands() -> list[Sequence[str]]:
    commands: list[Sequence[str]] = []
    if uv := shutil.which("uv"):
        commands.append((uv, "tool", "run", "pip"))
    commands.extend((found,) for name in ("pip3", "pip") if (found := shutil.which(name)))
    return commands


def _works(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            [*command, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
