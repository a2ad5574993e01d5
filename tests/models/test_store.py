import hashlib
import json
import os
from pathlib import Path

import pytest

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.models import store
from codeforge.models.catalog import CatalogEntry, parse_entry

DATA = b"GGUF and a model"
TABLE = {
    "name": "fake",
    "title": "A fake",
    "parameters": 0.1,
    "active_parameters": 0.1,
    "file": "fake.gguf",
    "size": len(DATA),
    "sha256": hashlib.sha256(DATA).hexdigest(),
    "licence": "MIT",
    "context_window": 1024,
    "memory": 1,
}


@pytest.fixture
def placed(models_folder: Path) -> CatalogEntry:
    """An entry whose file is there."""
    (models_folder / "fake.gguf").write_bytes(DATA)
    return parse_entry(TABLE)


def change_unseen(path: Path, data: bytes) -> None:
    """Change a file's bytes but neither its size nor its time."""
    status = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def flipped(path: Path) -> bytes:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    return bytes(data)


def test_a_whole_file_is_verified_and_recorded(placed: CatalogEntry) -> None:
    assert not store.look(placed).verified
    path = store.verify(placed)
    seen = store.look(placed)
    assert seen.verified
    assert (seen.sha256, seen.size, seen.problem) == (placed.sha256, placed.size, "")
    assert path == store.model_path(placed)


def test_an_unchanged_file_is_not_hashed_again_unless_asked(placed: CatalogEntry) -> None:
    path = store.verify(placed)
    change_unseen(path, flipped(path))
    store.verify(placed)
    with pytest.raises(EnvironmentUnavailableError, match="SHA-256"):
        store.verify(placed, rehash=True)
    assert not store.is_verified(placed)  # once found out, it is never trusted again


def test_a_changed_file_is_hashed_again_and_refused(placed: CatalogEntry) -> None:
    path = store.verify(placed)
    path.write_bytes(flipped(path))
    os.utime(path, ns=(1, 1))
    with pytest.raises(EnvironmentUnavailableError, match="damaged") as caught:
        store.verify(placed)
    assert str(path) in caught.value.kept
    assert "codeforge models pull fake" in caught.value.hint
    assert path.exists()


def test_a_touched_file_keeps_what_is_known_about_it(placed: CatalogEntry) -> None:
    path = store.verify(placed)
    status = path.stat()
    store.record(
        path, store.Fingerprint(status.st_size, status.st_mtime_ns, placed.sha256, "catalog", "hub:x/y")
    )
    os.utime(path, ns=(5, 5))
    store.verify(placed)
    known = store.recorded(path)
    assert known is not None
    assert (known.source, known.trust, known.mtime_ns) == ("hub:x/y", "catalog", 5)


@pytest.mark.parametrize(("data", "problem"), [(b"GGUF short", "10 bytes"), (b"", "0 bytes")])
def test_a_wrong_size_is_seen_at_once(placed: CatalogEntry, data: bytes, problem: str) -> None:
    store.model_path(placed).write_bytes(data)
    assert problem in store.look(placed).problem
    with pytest.raises(EnvironmentUnavailableError, match=problem):
        store.verify(placed)


def test_a_file_of_another_kind_is_seen_at_once(placed: CatalogEntry) -> None:
    store.model_path(placed).write_bytes(b"x" * placed.size)
    assert store.look(placed).problem == "it is not a GGUF file"


def test_a_broken_record_costs_a_hash_and_nothing_else(placed: CatalogEntry, models_folder: Path) -> None:
    store.verify(placed)
    (models_folder / "fake.gguf.verified.json").write_text("{ not json")
    assert not store.look(placed).verified
    store.verify(placed)
    assert store.look(placed).verified


def test_a_damaged_file_that_is_replaced_by_a_whole_one_is_whole(placed: CatalogEntry) -> None:
    path = store.model_path(placed)
    whole = path.read_bytes()
    path.write_bytes(flipped(path))
    assert not store.is_verified(placed)
    path.write_bytes(whole)
    assert store.is_verified(placed)
    assert store.look(placed).verified


def test_without_a_known_hash_the_first_one_counts(models_folder: Path) -> None:
    entry = parse_entry({**TABLE, "sha256": "", "approximate_size": True})
    path = models_folder / "fake.gguf"
    path.write_bytes(DATA)
    store.verify(entry)
    known = store.recorded(path)
    assert known is not None
    assert known.trust == "local"
    path.write_bytes(flipped(path))
    os.utime(path, ns=(1, 1))
    with pytest.raises(EnvironmentUnavailableError, match="SHA-256"):
        store.verify(entry)


def test_installed_lists_files_of_the_catalog_only(models_folder: Path) -> None:
    assert store.installed() == []
    (models_folder / "qwen2.5-coder-7b-instruct-q4_k_m.gguf").write_bytes(b"GGUF seven")
    (models_folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf").write_bytes(b"GGUF cut off")
    (models_folder / "other.gguf").write_bytes(b"GGUF")
    small, large = store.installed()
    assert (small.name, large.name) == ("qwen2.5-coder-0.5b", "qwen2.5-coder-7b")
    assert "not 491400064" in small.problem
    assert large.problem == ""


def test_verified_path_by_name(models_folder: Path) -> None:
    with pytest.raises(UsageError):
        store.verified_path("nope")
    with pytest.raises(EnvironmentUnavailableError) as caught:
        store.verified_path("qwen2.5-coder-3b")
    assert "codeforge models pull qwen2.5-coder-3b" in caught.value.hint
    path = models_folder / "qwen2.5-coder-3b-instruct-q4_k_m.gguf"
    path.write_bytes(b"GGUF three")
    assert store.verified_path("qwen2.5-coder-3b") == path


def test_a_file_outside_the_folder_has_its_record_inside(tmp_path: Path, models_folder: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF mine")
    taken = store.fingerprint(path)
    assert store.recorded(path) == taken
    assert list(tmp_path.glob("mine*")) == [path]


def test_the_choice_is_kept_and_a_broken_one_is_none() -> None:
    assert store.active_name() == ""
    store.set_active("provider/model")
    assert store.active_name() == "provider/model"
    (Path(os.environ["CODEFORGE_DATA_DIR"]) / "models" / "active.json").write_text(json.dumps([1]))
    assert store.active_name() == ""


def test_only_the_best_speed_is_kept() -> None:
    store.note_speed("a", 5.0)
    store.note_speed("a", 3.0)
    assert store.measured_speed("a") == 5.0
    assert store.measured_speed("b") is None
