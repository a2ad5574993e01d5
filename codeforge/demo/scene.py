"""The demonstration's repository: written to a temporary folder, with one defect and a failing test."""

import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree, ignore_patterns

from codeforge.errors import EnvironmentUnavailableError

ISSUE = "Receipts show 12.5 where they should show 12.05: the cents lose their leading zero."

TEST_COMMAND = f"{sys.executable} -m unittest discover -v"


def write_scene() -> Path:
    """Write the broken repository, commit it, and return its folder. The user may keep or delete it.

    Raises:
        EnvironmentUnavailableError: git is missing, or the folder can't be written.
    """
    folder = Path(tempfile.mkdtemp(prefix="codeforge-demo-"))
    try:
        with as_file(files("codeforge.demo") / "repository") as template:
            copytree(template, folder, dirs_exist_ok=True, ignore=ignore_patterns("__pycache__"))
        _git(folder, "init", "-q")
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "-m", "A small shop")
    except FileNotFoundError as error:
        raise EnvironmentUnavailableError(
            "git is not installed.", kept=f"the files are in {folder}", hint="install git, then try again"
        ) from error
    except OSError as error:
        raise EnvironmentUnavailableError(
            f"The demonstration's folder {folder} can't be written: {error.strerror}."
        ) from error
    return folder


def _git(folder: Path, *arguments: str) -> None:
    """Run git without the user's hooks, signing or identity: this is not their repository."""
    neutral = ("-c", "user.name=codeforge demo", "-c", "user.email=demo@localhost")
    quiet = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(
        ["git", *neutral, *quiet, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise EnvironmentUnavailableError(
            f"git {arguments[0]} failed in {folder}: {done.stderr.strip()}", hint="codeforge doctor"
        )
