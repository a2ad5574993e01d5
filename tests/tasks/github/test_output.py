"""Files that grow."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.errors import EnvironmentUnavailableError, UsageError
from codeforge.tasks.github.output import GrowingFile, read_tasks
from codeforge.tasks.spec import TaskSpec

SETTINGS = {"a": 1}


def opened(path: Path, settings: dict[str, object] | None = None) -> GrowingFile:
    return GrowingFile(path, settings or {"a": 1}, "tasks", "x")


def test_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.jsonl"
    with opened(path) as out:
        out.add({"id": "1", "x": "é"})
        out.look_at(["k1", "k2"])
    with opened(path) as out:
        assert (out.ids, out.seen) == ({"1"}, {"k1", "k2"})
        out.add({"id": "2", "x": 0})
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"id": "1", "x": "é"},
        {"id": "2", "x": 0},
    ]


def test_under_other_settings_everything_is_looked_at_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with opened(path) as out:
        out.add({"id": "1", "x": 0})
        out.look_at(["k1"])
    with opened(path, {"a": 2}) as out:
        assert (out.ids, out.seen) == ({"1"}, set())


def test_a_deleted_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with opened(path) as out:
        out.look_at(["k1"])
    path.unlink()
    with opened(path) as out:
        assert out.seen == set()


@settings(max_examples=40)
@given(st.data())
def test_a_file_that_was_cut_off_anywhere_goes_on(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "t.jsonl"
    rows = [{"id": str(n), "x": "é" * n} for n in range(4)]
    with opened(path) as out:
        for row in rows:
            out.add(row)
            out.look_at([row["id"]])
    for file in (path, path.with_name("t.jsonl.seen")):
        raw = file.read_bytes()
        file.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    with opened(path) as out:
        whole = path.read_bytes().count(b"\n")
        assert out.ids == {str(n) for n in range(whole)}
        assert all(key in {"0", "1", "2", "3"} for key in out.seen)
        for row in rows:
            if row["id"] not in out.ids:
                out.add(row)
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows


@pytest.mark.parametrize(
    "content", ["hello\n", "hello", '[{"id": 1}]\n', '{"id": "1"}\n', '{"x": 1}\n', '{"id": "1", "x": 1}\n\n']
)
def test_other_files_are_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError, match="something else than tasks"):
        opened(path)
    assert path.read_text() == content
    path.unlink()
    opened(path).__exit__(None, None, None)  # and no lock is left


def test_only_one_may_write(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with opened(path), pytest.raises(UsageError, match="Another codeforge is writing"):
        opened(path)
    with opened(path):
        pass


def test_a_place_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentUnavailableError, match="can't be written"):
        opened(tmp_path / "file" / "t.jsonl")
    with pytest.raises(EnvironmentUnavailableError, match="can't be written"):
        opened(tmp_path)


def test_tasks_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    tasks = [
        TaskSpec("1", "ann/shop", "abc", "é\nx", source="github", meta={"k": "[]"}, hidden_tests=("a", "b")),
        TaskSpec("2", "ann/shop", "abc", "y", test_command="pytest"),
    ]
    path.write_text("\n\n".join(json.dumps(task.to_json()) for task in tasks))
    assert list(read_tasks(path)) == tasks


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"{}\n", r"line 1, is no task: id"), (b"\n\nno\n", "line 3, is no task"), (b"\xff\n", "line 1")],
)
def test_what_is_no_task_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=says):
        list(read_tasks(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        list(read_tasks(tmp_path / "none"))
