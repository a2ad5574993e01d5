"""Names become models."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.models import store
from codeforge.models.litellm_model import LiteLLMModel
from codeforge.models.protocol import ChatRequest, Message, complete
from codeforge.models.registry import check_name, open_model
from tests.models.tiny_gguf import write_tiny_model

ASK = ChatRequest((Message("user", "?"),))


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))


def test_no_model_says_what_to_do() -> None:
    for spec in (None, "auto"):
        with pytest.raises(EnvironmentUnavailableError) as caught:
            open_model(spec)
        assert "codeforge models pull" in caught.value.hint


def test_the_active_name_is_what_auto_means() -> None:
    store.set_active("replay:empty")
    assert open_model(None).name == "replay:empty"


def test_a_catalog_model_that_is_not_here() -> None:
    with pytest.raises(EnvironmentUnavailableError) as caught:
        open_model("qwen2.5-coder-1.5b")
    assert "models pull qwen2.5-coder-1.5b" in caught.value.hint


def test_an_unknown_name_lists_near_ones() -> None:
    for check in (open_model, check_name):
        with pytest.raises(UsageError) as caught:
            check("qwen2.5-coder-1.5")
        assert "qwen2.5-coder-1.5b" in caught.value.hint


def test_providers_are_hosted_models() -> None:
    model = open_model("openai/x", api_base="http://127.0.0.1:9/v1", n_ctx=1000)
    assert isinstance(model, LiteLLMModel)
    assert model.context_window == 1000


def test_a_missing_or_broken_file(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnavailableError, match="There is no model file"):
        open_model(str(tmp_path / "no.gguf"))
    pytest.importorskip("llama_cpp")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(EnvironmentUnavailableError, match="can't read the model file") as caught:
        open_model(str(bad), threads=1)
    assert str(bad) in caught.value.kept
    with pytest.raises(EnvironmentUnavailableError, match="no adapter"):
        open_model(str(bad), threads=1, lora=tmp_path / "no.gguf")


def test_a_file_of_ones_own_answers_and_its_speed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_tiny_model(tmp_path / "Tiny.GGUF")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    model = open_model(str(path), n_ctx=300)
    assert (model.name, model.version, model.context_window) == (str(path), f"sha256:{digest}", 300)
    complete(model, replace(ASK, max_tokens=60, grammar="root ::= [a-z]{40}"))
    model.close()
    speed = store.measured_speed(digest)
    assert speed is not None
    assert speed > 0


def test_a_speed_on_a_busy_machine_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_tiny_model(tmp_path / "tiny.gguf")
    monkeypatch.setattr("os.getloadavg", lambda: (500.0, 0.0, 0.0))
    model = open_model(str(path), threads=1, n_ctx=300)
    complete(model, replace(ASK, max_tokens=60, grammar="root ::= [a-z]{40}"))
    model.close()
    assert store.measured_speed(hashlib.sha256(path.read_bytes()).hexdigest()) is None


def test_an_ensemble_takes_turns(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(f'["{name}1", "{name}2", "{name}3", "{name}4"]')
    model = open_model(f"ensemble:replay:{tmp_path}/a.json,replay:{tmp_path}/b.json*2")
    assert [complete(model, ASK).text for _ in range(6)] == ["a1", "b1", "b2", "a2", "b3", "b4"]
    model.close()


@pytest.mark.parametrize(
    "spec", ["ensemble:replay:empty*0", "ensemble:replay:empty*x", "ensemble:", "ensemble:no"]
)
def test_bad_ensembles(spec: str) -> None:
    with pytest.raises(UsageError):
        open_model(spec)


def test_a_name_is_checked_without_opening() -> None:
    for spec in ("qwen2.5-coder-14b", "replay:x", "ollama/llama3", "x.gguf"):
        check_name(spec)
