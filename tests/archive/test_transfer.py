"""Export and import: a round trip is the identity, and a broken file is refused as a whole."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeforge.archive.store import Archive
from codeforge.errors import UsageError


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Archive]:
    with Archive.open(tmp_path / "other" / "codeforge.db") as opened:
        yield opened


def test_round_trip(archive: Archive, other: Archive, finished: str) -> None:
    lines = list(archive.export(finished))
    assert all("\n" not in line for line in lines)
    documents = [json.loads(line) for line in lines]
    assert documents[0]["schema_version"] == 1
    assert {document["type"] for document in documents} == {"session", "message", "step", "end"}
    assert other.import_jsonl(lines) == finished
    assert other.session(finished) == archive.session(finished)
    assert other.verify(finished).problems == ()
    assert list(other.export(finished)) == lines


def test_forks_and_unfinished_sessions_travel(archive: Archive, other: Archive, finished: str) -> None:
    fork = archive.fork(finished, 4)
    assert other.import_jsonl(archive.export(fork.id)) == fork.id
    assert other.verify(fork.id).problems == ()
    assert other.session(fork.id).summary.parent_session == finished
    assert other.session(fork.id).summary.status.value == "interrupted"


def test_importing_twice_changes_nothing(archive: Archive, other: Archive, finished: str) -> None:
    lines = list(archive.export(finished))
    other.import_jsonl(lines)
    other.import_jsonl(lines)
    assert other.count() == 1


def _edited(lines: list[str], number: int, **members: object) -> list[str]:
    return [
        json.dumps({**json.loads(line), **members}) if index == number else line
        for index, line in enumerate(lines)
    ]


def test_broken_files_are_refused(archive: Archive, other: Archive, finished: str) -> None:
    lines = list(archive.export(finished))
    step = next(i for i, line in enumerate(lines) if '"kind": "check"' in line)
    message = next(i for i, line in enumerate(lines) if '"type": "message"' in line)
    secret = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    broken = {
        "empty": [],
        "not JSON": [*lines[:2], "{", *lines[2:]],
        "a list": ["[]", *lines],
        "cut off": lines[:-1],
        "head and end only": [lines[0], lines[-1]],
        "empty chain": [lines[0], json.dumps({"type": "end", "steps": 0, "hash": ""})],
        "no head": lines[1:],
        "newer": _edited(lines, 0, schema_version=2),
        "bad id": _edited(lines, 0, id="../../x"),
        "a step changed": _edited(lines, step, payload={"exit_code": 1}),
        "a step gone": [*lines[:step], *lines[step + 1 :]],
        "time changed": _edited(lines, step, elapsed_s=7),
        "wrong type": _edited(lines, step, elapsed_s="soon"),
        "a message changed": _edited(lines, message, content="other"),
        "a message gone": [*lines[:message], *lines[message + 1 :]],
        "a secret": _edited(lines, message, content=secret),
    }
    for name, content in broken.items():
        with pytest.raises(UsageError, match="can't be imported"):
            other.import_jsonl(content)
        assert other.count() == 0, name


def test_another_session_with_the_same_id_is_kept(archive: Archive, other: Archive, finished: str) -> None:
    fork = archive.fork(finished, 3)
    early = list(archive.export(fork.id))
    fork.step("note", {})
    other.import_jsonl(archive.export(fork.id))
    with pytest.raises(UsageError, match="already"):
        other.import_jsonl(early)
    assert len(other.session(fork.id).steps) == 6
