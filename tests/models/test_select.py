"""Which model and how many threads: decided from the memory, the cores and what was measured."""

from pathlib import Path

import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models import machine, select, store
from codeforge.models.catalog import get

SMALL, MIDDLE, LARGE = "qwen2.5-coder-3b", "qwen2.5-coder-7b", "qwen2.5-coder-14b"


@pytest.fixture(autouse=True)
def big_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_machine(monkeypatch, memory=10**12, cores=64, busy=0)


def set_machine(
    monkeypatch: pytest.MonkeyPatch,
    *,
    memory: int | None = None,
    cores: int | None = None,
    busy: float | None = None,
) -> None:
    for name, value in (("available_memory", memory), ("usable_cores", cores), ("busy_cores", busy)):
        if value is not None:
            monkeypatch.setattr(machine, name, lambda value=value: value)


@pytest.fixture
def three_here(models_folder: Path) -> None:
    for name in (SMALL, MIDDLE, LARGE):
        (models_folder / get(name).file).write_bytes(b"GGUF" + name.encode())


@pytest.mark.usefixtures("three_here")
def test_the_largest_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert select.default_model().name == LARGE
    set_machine(monkeypatch, memory=get(LARGE).memory - 1)
    assert select.default_model().name == MIDDLE
    set_machine(monkeypatch, memory=get(SMALL).memory)
    assert select.default_model().name == SMALL
    set_machine(monkeypatch, memory=get(SMALL).memory - 1)
    with pytest.raises(EnvironmentUnavailableError, match="GB of memory"):
        select.default_model()


@pytest.mark.usefixtures("three_here")
def test_a_measured_speed_counts_more_than_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    large, middle = (store.fingerprint(store.model_path(get(name))).sha256 for name in (LARGE, MIDDLE))
    store.note_speed(large, 1.0)
    assert select.default_model().name == MIDDLE
    set_machine(monkeypatch, cores=1)
    assert select.default_model().name == SMALL  # by estimate
    store.note_speed(middle, 5.0)
    assert select.default_model().name == MIDDLE
    store.note_speed(large, 9.0)
    store.note_speed(large, 2.0)  # the machine was busy; the best counts
    assert select.default_model().name == LARGE


@pytest.mark.usefixtures("three_here")
def test_when_all_are_slow_the_smallest_is_taken() -> None:
    for name in (SMALL, MIDDLE, LARGE):
        store.note_speed(store.fingerprint(store.model_path(get(name))).sha256, 0.5)
    assert select.default_model().name == SMALL


@pytest.mark.usefixtures("three_here")
def test_a_damaged_file_is_passed_over(models_folder: Path) -> None:
    (models_folder / get(LARGE).file).write_bytes(b"nothing like a model")
    assert select.default_model().name == MIDDLE


def test_only_a_damaged_file_is_told_as_such(models_folder: Path) -> None:
    (models_folder / get(SMALL).file).write_bytes(b"nothing like a model")
    with pytest.raises(EnvironmentUnavailableError, match="damaged"):
        select.default_model()


def test_nothing_here() -> None:
    with pytest.raises(EnvironmentUnavailableError) as caught:
        select.default_model()
    assert "codeforge models pull" in caught.value.hint


@pytest.mark.parametrize(
    ("cores", "busy", "expected"),
    [(2, 0.1, (2, 2)), (2, 0.9, (1, 1)), (2, 2.0, (1, 1)), (1, 0.0, (1, 1)), (24, 4.2, (8, 20))],
)
def test_threads_are_the_cores_that_are_free(
    monkeypatch: pytest.MonkeyPatch, cores: int, busy: float, expected: tuple[int, int]
) -> None:
    set_machine(monkeypatch, cores=cores, busy=busy)
    assert select.threads() == expected


def test_this_machine_has_threads_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    one, many = select.threads()
    assert 1 <= one <= many
    assert machine.available_memory() > 0
    assert machine.usable_cores() >= 1


def test_what_to_pull_suits_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert select.recommend_pull().free_to_use
    set_machine(monkeypatch, cores=2, memory=8 * 10**9)
    assert [entry.name for entry in select.pull_candidates()] == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]
    set_machine(monkeypatch, memory=10**6)
    assert select.recommend_pull().name == "qwen2.5-coder-0.5b"
