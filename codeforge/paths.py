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


def ensure_project_dir(root: Path) -> Path:
    """Create `root/.codeforge` with an ignore file of its own, and return it.

    The user's `.gitignore` is never touched: a `.gitignore` holding `*` inside the folder hides it.
    """
    folder = root / ".codeforge"
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return folder
