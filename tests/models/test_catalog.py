import re

import pytest

from codeforge.errors import UsageError
from codeforge.models import catalog
from codeforge.models.catalog import HubSource, WheelSource


def test_holds_the_promised_models_smallest_first() -> None:
    names = [entry.name for entry in catalog.entries()]
    sizes = ["0.5b", "1.5b", "3b", "7b", "14b"]
    assert names == [*(f"qwen2.5-coder-{size}" for size in sizes), "qwen3-coder-30b-a3b"]
    assert [entry.size for entry in catalog.entries()] == sorted(entry.size for entry in catalog.entries())


def test_every_model_has_the_hub_first_and_wheels_only_where_the_hash_is_known() -> None:
    for entry in catalog.entries():
        assert isinstance(entry.sources[0], HubSource)
        wheels = [source for source in entry.sources if isinstance(source, WheelSource)]
        assert bool(wheels) == bool(entry.sha256)
        for source in wheels:
            assert source.part_size * (source.parts - 1) < entry.size <= source.part_size * source.parts


def test_hashes_sizes_and_memory_make_sense() -> None:
    for entry in catalog.entries():
        assert entry.approximate_size == (not entry.sha256)
        assert not entry.sha256 or re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.memory > entry.size
        assert entry.file.endswith(".gguf")


def test_a_restricting_licence_is_never_chosen_unasked() -> None:
    assert [entry.name for entry in catalog.entries() if not entry.free_to_use] == ["qwen2.5-coder-3b"]
    assert {entry.licence for entry in catalog.entries() if entry.free_to_use} == {"Apache-2.0"}


def test_names_are_found_in_any_case() -> None:
    entry = catalog.find("Qwen2.5-Coder-1.5B")
    assert entry is not None
    assert entry.name == "qwen2.5-coder-1.5b"
    assert catalog.find("qwen") is None


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    with pytest.raises(UsageError) as caught:
        catalog.get("qwen2.5-coder-1.6b")
    assert "qwen2.5-coder-1.5b" in caught.value.hint


def test_requirements_count_parts_from_one() -> None:
    source = WheelSource("thing-part{part}", "0.2.0", 2, 10)
    assert [source.requirement(part) for part in (1, 2)] == ["thing-part1==0.2.0", "thing-part2==0.2.0"]
