"""Where codeforge keeps things: user data (one directory) and project data (`.codeforge/`).

`CODEFORGE_DATA_DIR` moves all user data, so that nothing else on the machine is read or written.
"""

import os
from pathlib import Path

DATA_DIR_VARIABLE = "CODEFORGE_DATA_DIR"


def data_dir() -> Path:
    """The user's data directory (settings, database, models). Not created here."""
    override = os.environ.get(DATA_DIR_VARIABLE)
    if override:
        return Path(override).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("codeforge", appauthor=False)


def models_dir() -> Path:
    """Where model files lie."""
    return data_dir() / "models"


def database_path() -> Path:
    """The archive."""
    return data_dir() / "codeforge.db"


def user_config_path() -> Path:
    """The user's settings file."""
    return data_dir() / "config.toml"


def project_config_path(root: Path) -> Path:
    """The project's settings file."""
    return root / ".codeforge" / "config.toml"


def real_folder(folder: Path) -> Path:
    """Create `folder` and return it; a link in its place is refused, for it may lead out of the repository.

    Raises:
        NotADirectoryError: a link or a file stands there.
    """
    if folder.is_symlink():
        raise NotADirectoryError(f"{folder} is a link; make it a real folder")
    folder.mkdir(exist_ok=True)
    return folder


def ensure_project_dir(root: Path) -> Path:
    """Create `root/.codeforge` with an ignore file of its own, and return it.

    The user's `.gitignore` is never touched: a `.gitignore` holding `*` inside the folder hides it.
    """
    folder = root / ".codeforge"
    real_folder(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists() and not ignore.is_symlink():
        ignore.write_text("*\n", encoding="utf-8")
    return folder
