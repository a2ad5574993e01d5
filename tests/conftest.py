"""Nothing a test does reads or writes the user's own data, settings or hub caches."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Repository = Callable[..., Path]

# A runner that was itself started in the background ignores SIGINT, and so would every process that the tests
# start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
    return folder


@pytest.fixture
def git_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody to commit as, for processes that the test starts."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.invalid")


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
