"""Nothing a test does reads or writes the user's own data, settings or hub caches."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Repository = Callable[..., Path]

GIT = ("git", "-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false")


@pytest.fixture(autouse=True)
def private_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of the test's own, and no settings from the environment."""
    for name in list(os.environ):
        if name.startswith("CODEFORGE_") and name not in ("CODEFORGE_SANDBOX", "CODEFORGE_TEST_MODELS"):
            monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    for variable in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(variable, "Test")
    for variable in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(variable, "test@example.invalid")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Makes a committed git repository from keyword `files` (path → text or bytes)."""

    def make(files: dict[str, str | bytes], name: str = "repo") -> Path:
        root = tmp_path / name
        root.mkdir()
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "start")):
            subprocess.run([*GIT, *arguments], cwd=root, check=True)
        return root

    return make
