"""Following files through renames, in git and by themselves."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.history.history import History
from codeforge.localize.history.renames import GONE, resolve
from tests.localize.history.conftest import Past, edited

Changes = list[tuple[int, int]]


class TestInGit:
    def test_changes_before_a_rename_are_the_new_file_s(self, past: Past) -> None:
        past.commit("start", {"old.py": "a", "other.py": "b"})
        past.commit("move", moved={"old.py": "mid.py"})
        past.commit("move on", moved={"mid.py": "pkg/new.py"})
        history = History.open(past.root)
        assert history.change_count("pkg/new.py") == 3
        assert history.change_count("old.py") == history.change_count("mid.py") == 0
        assert history.cochanged("other.py") == [("pkg/new.py", pytest.approx(1 / (3**0.5 + 1)))]

    def test_also_when_it_was_edited_on_the_way(self, past: Past) -> None:
        past.commit("start", {"old.py": "a"})
        past.commit("move", {"new.py": edited("a")}, gone=["old.py"])
        assert History.open(past.root).change_count("new.py") == 2

    def test_without_contents_only_exact_renames_are_seen(self, past: Past) -> None:
        past.commit("start", {"old.py": "a", "same.py": "s"})
        past.commit("move", {"new.py": edited("a")}, gone=["old.py"], moved={"same.py": "still.py"})
        past.lose("main~1:old.py")
        history = History.open(past.root)
        assert history.notices == ()
        assert history.change_count("still.py") == 2
        assert history.change_count("new.py") == 1

    def test_an_old_name_taken_again(self, past: Past) -> None:
        past.commit("start", {"a.py": "a"})
        past.commit("edit", {"a.py": edited("a")})
        past.commit("move", moved={"a.py": "b.py"})
        past.commit("another file", {"a.py": "other"})
        history = History.open(past.root)
        assert history.change_count("b.py") == 3
        assert history.change_count("a.py") == 1

    def test_a_side_branch_that_did_not_know_of_the_rename(self, past: Past) -> None:
        start = past.commit("start", {"a.py": "a", "z.py": "z"})
        past.commit("move", moved={"a.py": "b.py"})
        side = past.commit("edit a", {"a.py": edited("a")}, branch="side", start=start)
        past.commit("Merge side", {"b.py": edited("a")}, merges=side)
        assert History.open(past.root).change_count("b.py") == 3

    def test_deleted_files_are_left_out(self, past: Past) -> None:
        past.commit("start fox", {"a.py": "a", "b.py": "b"})
        past.commit("fox goes", gone=["a.py"])
        history = History.open(past.root)
        assert list(history.recency()) == ["b.py"]
        assert history.cochanged("b.py") == []
        assert list(history.files_of_similar("fox")) == ["b.py"]


class TestResolve:
    def test_two_files_that_change_places_in_one_commit(self) -> None:
        assert resolve([[(1, 2), (2, 1)], [(1, 0)], [(2, 0), (2, 0)]], {1, 2}) == [1, 2, 2, 1, GONE]

    def test_renames_in_a_circle_without_end(self) -> None:
        assert resolve([[(1, 2)], [(2, 1)]], set()) == [GONE, GONE]

    def test_no_commits(self) -> None:
        assert resolve([], {1}) == []

    @given(st.lists(st.tuples(st.sampled_from("aemd"), st.integers(1, 6), st.integers(1, 6)), max_size=40))
    def test_a_straight_history_is_followed_exactly(self, steps: Sequence[tuple[str, int, int]]) -> None:
        """Files with an identity are added, edited, moved and deleted; a path is one file's at a time."""
        at: dict[int, int] = {}
        history: list[Changes] = []
        touched: list[int] = []
        for serial, (action, path, other) in enumerate(steps):
            if action == "a" and path not in at:
                at[path] = serial
                history.append([(path, 0)])
            elif action == "e" and path in at:
                history.append([(path, 0)])
            elif action == "m" and path in at and other not in at:
                at[other] = at.pop(path)
                history.append([(other, path)])
                path = other
            elif action == "d" and path in at:
                at.pop(path)
                continue
            else:
                continue
            touched.append(at[path])
        final = {serial: path for path, serial in at.items()}
        resolved = resolve(reversed(history), set(at))
        for serial, found in zip(reversed(touched), resolved, strict=True):
            if serial in final:
                assert found == final[serial]
