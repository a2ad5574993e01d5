"""Kept answers."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError
from codeforge.tasks.github.cache import AnswerCache
from tests.tasks.github.conftest import Time
from tests.tasks.github.server import TOKEN

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("abc é\x00\ud800", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=25)
@given(body=JSON)
def test_what_is_kept_is_found_again(tmp_path_factory: pytest.TempPathFactory, body: object) -> None:
    path = tmp_path_factory.getbasetemp() / "law.db"
    with AnswerCache(path) as cache:
        cache.put("k", body, etag="e", following="f")
    with AnswerCache(path) as cache:
        kept = cache.get("k")
    assert kept is not None
    assert (kept.body, kept.etag, kept.following) == (body, "e", "f")


def test_age(tmp_path: Path, time: Time) -> None:
    with AnswerCache(tmp_path / "new" / "a.db", clock=time.clock) as cache:
        cache.put("k", 1)
        time.now += 10
        assert cache.get_fresh("k", 10) is not None
        assert cache.get_fresh("k", 9) is None and cache.get("k") is not None
        time.now -= 20  # written in the future: the clock was set back
        assert cache.get_fresh("k", 100) is None
        assert cache.get("other") is None


def test_prefixes(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "a.db") as cache:
        cache.put("pulls ann/shop 1", 1)
        assert cache.holds("pulls ann/shop ")
        assert not cache.holds("pulls ann/sho ") and not cache.holds("item ann/shop ")


def test_secrets_are_not_kept(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "a.db") as cache:
        cache.put("k", {"body": f"my token is {TOKEN}"})
    assert all(TOKEN.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with AnswerCache(path) as cache:
        assert cache.get("k") is None
        cache.put("k", 1)
        assert cache.get("k") is not None


def test_a_file_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
        other.execute("CREATE TABLE answers (something)")
    other.close()
    with AnswerCache(path) as cache:
        cache.put("k", 1)
        assert cache.get("k") is not None


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EnvironmentUnavailableError, match="can't be used"):
        AnswerCache(tmp_path / "file" / "a.db")
