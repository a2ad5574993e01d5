"""The real embedded models, fetched once through the product's own `pull` and kept between runs."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def embedded_model_path() -> Callable[[str], Path]:
    """Gives the file of a catalog model, fetching it when it is missing.

    The files are kept in `CODEFORGE_TEST_MODELS`, by default in the user's cache folder: they are too large
    to fetch for every run.
    """
    import platformdirs

    default = platformdirs.user_cache_path("codeforge-tests", appauthor=False)
    folder = Path(os.environ.get("CODEFORGE_TEST_MODELS") or default)
    folder.mkdir(parents=True, exist_ok=True)

    def path(name: str) -> Path:
        from codeforge.models.progress import terminal_progress
        from codeforge.models.pull import pull

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CODEFORGE_DATA_DIR", str(folder))
            patch.setenv("HF_HUB_OFFLINE", "1")
            return pull(name, terminal_progress())

    return path


@pytest.fixture
def with_model(embedded_model_path: Callable[[str], Path], private_data: Path) -> Iterator[str]:
    """The 1.5B model in the test's own data directory; gives its name."""
    name = "qwen2.5-coder-1.5b"
    models = embedded_model_path(name).parent
    (private_data / "models").symlink_to(models, target_is_directory=True)
    yield name
