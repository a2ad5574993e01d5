"""The store: round trips, two processes, damage, a disk that can't be written."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.localize.dense.store import VectorStore

REPOSITORY = Path(__file__).parents[3]
VECTORS = st.dictionaries(st.binary(min_size=16, max_size=16), st.binary(max_size=40), max_size=8)
WRITER = """
import sys
from pathlib import Path
from codeforge.localize.dense.store import VectorStore
root, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
sys.stdin.readline()
with VectorStore.at(root, "e") as store:
    for number in range(first, last):
        store.put({bytes([number]) * 16: bytes([number]) * 768, bytes([number, 255]) * 8: b"x"})
    assert store.on_disk, store.notices
    print(store.notices)
"""


def database(root: Path) -> Path:
    """The one file of vectors."""
    (path,) = (root / ".codeforge" / "index").glob("dense-*.db")
    return path


def filled(root: Path, count: int = 300) -> dict[bytes, bytes]:
    vectors = {number.to_bytes(16, "big"): bytes([number % 256]) * 768 for number in range(count)}
    with VectorStore.at(root, "e") as store:
        store.put(vectors)
    return vectors


@settings(max_examples=25, deadline=None)
@given(VECTORS, VECTORS)
def test_what_is_put_is_there_in_the_next_run(first: dict[bytes, bytes], second: dict[bytes, bytes]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for vectors in (first, second):
            with VectorStore.at(root, "e") as store:
                store.put(vectors)
        with VectorStore.at(root, "e") as store:
            assert store.on_disk
            assert store.get([*first, *second, b"unknown"]) == first | second


def test_encoders_have_files_of_their_own(tmp_path: Path) -> None:
    names = ["minilm", "Minilm", "a/b", "a-b", "/models/x", "x" * 300]
    for number, name in enumerate(names):
        with VectorStore.at(tmp_path, name) as store:
            store.put({b"digest": bytes([number])})
    for number, name in enumerate(names):
        with VectorStore.at(tmp_path, name) as store:
            assert store.get([b"digest"]) == {b"digest": bytes([number])}
    assert (tmp_path / ".codeforge" / ".gitignore").read_text() == "*\n"


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    ranges = (("0", "60"), ("40", "100"))
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [
        subprocess.Popen(
            [*command, *part], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
        )
        for part in ranges
    ]
    answers = [writer.communicate("go\n")[0].strip() for writer in writers]
    assert answers == ["[]", "[]"]
    with VectorStore.at(tmp_path, "e") as store:
        digests = [bytes([number]) * 16 for number in range(100)]
        assert store.get(digests) == {digest: digest[:1] * 768 for digest in digests}


@pytest.fixture(params=["not SQLite", "cut off", "overwritten", "no table", "another version"])
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, dict[bytes, bytes]]]:
    """A repository whose file is damaged, and what it held."""
    vectors = filled(tmp_path)
    path = database(tmp_path)
    if request.param == "not SQLite":
        path.write_bytes(b"no database at all" * 1000)
    elif request.param == "cut off":
        os.truncate(path, path.stat().st_size // 2)
    elif request.param == "overwritten":
        with path.open("r+b") as stream:
            stream.seek(4096)
            stream.write(b"\xff" * 40_960)
    else:
        change = "DROP TABLE vector" if request.param == "no table" else "PRAGMA user_version = 99"
        connection = sqlite3.connect(path)
        connection.execute(change)
        connection.close()
    yield tmp_path, vectors


def test_a_damaged_file_is_made_anew(damaged: tuple[Path, dict[bytes, bytes]]) -> None:
    root, vectors = damaged
    with VectorStore.at(root, "e") as store:
        found = store.get(list(vectors))
        assert all(found[digest] == vectors[digest] for digest in found)
        store.put(vectors)
        assert store.get(list(vectors)) == vectors
        assert store.on_disk
        assert any("damaged" in notice for notice in store.notices)
    with VectorStore.at(root, "e") as store:
        assert store.get(list(vectors)) == vectors
        assert store.notices == []
    assert database(root).exists()


def test_a_flipped_bit_costs_one_vector(tmp_path: Path) -> None:
    vectors = filled(tmp_path, 10)
    path = database(tmp_path)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"\x07" * 700) + 100] ^= 1
    path.write_bytes(raw)
    with VectorStore.at(tmp_path, "e") as store:
        assert sorted(set(vectors) - set(store.get(list(vectors)))) == [(7).to_bytes(16, "big")]
        store.put(vectors)
        assert store.get(list(vectors)) == vectors


def test_who_holds_a_discarded_file_does_no_harm_to_the_new_one(tmp_path: Path) -> None:
    vectors = filled(tmp_path)
    holder = VectorStore.at(tmp_path, "e")
    holder.put({b"before": b"1"})
    old = database(tmp_path)
    with sqlite3.connect(old) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with VectorStore.at(tmp_path, "e") as store:
        store.put(vectors)
        holder.put({b"after": b"2"})  # moves over to the new file
        holder.close()
        assert store.get([*vectors, b"after"]) == vectors | {b"after": b"2"}
    assert database(tmp_path) != old
    with VectorStore.at(tmp_path, "e") as store:
        assert store.get([b"after", *vectors]) == vectors | {b"after": b"2"}


def test_a_removed_folder_leaves_memory(tmp_path: Path) -> None:
    import shutil

    with VectorStore.at(tmp_path, "e") as store:
        shutil.rmtree(tmp_path / ".codeforge")
        store.put({b"a": b"1"})
        assert store.get([b"a"]) == {b"a": b"1"}
        assert not store.on_disk
        assert "each time" in store.notices[-1]


@pytest.mark.parametrize("link", [".codeforge", ".codeforge/index", ".codeforge/index/dense-e.db"])
def test_links_are_not_followed(tmp_path: Path, link: str) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(elsewhere)
    with VectorStore.at(root, "e") as store:
        assert not store.on_disk
        assert "link" in store.notices[0]
        store.put({b"a": b"1"})
        assert store.get([b"a"]) == {b"a": b"1"}
    assert list(elsewhere.iterdir()) == []


def test_unused_and_superfluous_vectors_are_pruned(tmp_path: Path) -> None:
    day = 100
    with VectorStore.at(tmp_path, "e", clock=lambda: day) as store:
        store.put({b"old": b"1", b"used": b"2"})
        day = 140
        store.get([b"used"])
        store.put({b"new": b"3"})
        assert store.prune(keep_days=30) == 1
        assert set(store.get([b"old", b"used", b"new"])) == {b"used", b"new"}
        day = 141
        store.get([b"new"])
        assert store.prune(most_vectors=1) == 1
        assert set(store.get([b"used", b"new"])) == {b"new"}


def test_a_reader_is_not_held_up_by_a_writer(tmp_path: Path) -> None:
    vectors = filled(tmp_path, 5)
    with VectorStore.at(tmp_path, "e") as store:
        writer = sqlite3.connect(database(tmp_path), isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        assert store.get(list(vectors)) == vectors
        assert store.on_disk
        writer.execute("ROLLBACK")
        writer.close()


def test_another_thread_is_no_damage(tmp_path: Path) -> None:
    vectors = filled(tmp_path, 5)
    raised: list[BaseException] = []

    def use() -> None:
        try:
            store.get(list(vectors))
        except sqlite3.ProgrammingError as error:
            raised.append(error)

    with VectorStore.at(tmp_path, "e") as store:
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert len(raised) == 1
        assert store.get(list(vectors)) == vectors
        assert store.notices == []
