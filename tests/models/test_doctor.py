from pathlib import Path

import pytest

from codeforge.doctor_model import DoctorStatus
from codeforge.models import machine, store
from codeforge.models.doctor import check_models

THREE = "qwen2.5-coder-3b"


@pytest.fixture(autouse=True)
def much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: 10**12)


def test_no_model_is_a_warning_with_advice() -> None:
    (check,) = check_models()
    assert check.status is DoctorStatus.WARN
    assert "codeforge models pull" in check.advice


def test_whole_and_damaged_models_and_unfinished_pulls(models_folder: Path) -> None:
    (models_folder / f"{THREE}-instruct-q4_k_m.gguf").write_bytes(b"GGUF three")
    (models_folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf").write_bytes(b"GGUF cut")
    (models_folder / "qwen2.5-coder-7b-instruct-q4_k_m.gguf.hub-partial").write_bytes(bytes(10**6))
    store.set_active(THREE)
    statuses = {check.found.split(" is ")[0].split(" (")[0]: check.status for check in check_models()}
    assert statuses == {
        "qwen2.5-coder-0.5b": DoctorStatus.FAIL,
        THREE: DoctorStatus.OK,
        "an unfinished pull of qwen2.5-coder-7b keeps 1 MB": DoctorStatus.WARN,
    }


def test_a_model_that_does_not_fit(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (models_folder / f"{THREE}-instruct-q4_k_m.gguf").write_bytes(b"GGUF three")
    monkeypatch.setattr(machine, "available_memory", lambda: 10**9)
    (check,) = check_models()
    assert check.status is DoctorStatus.WARN
    assert "memory" in check.found


def test_a_chosen_model_that_is_gone() -> None:
    store.set_active(THREE)
    assert DoctorStatus.FAIL in {check.status for check in check_models()}
    store.set_active("openai/some-model")
    assert DoctorStatus.FAIL not in {check.status for check in check_models()}
