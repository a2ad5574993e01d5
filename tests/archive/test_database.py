"""Opening: new, old, damaged, newer, locked, unwritable; and what survives kill -9 and a full disk."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeforge.archive.database import check_database
from codeforge.archive.failures import DatabaseDamagedError, DatabaseLockedError
from codeforge.archive.model import SessionStatus
from codeforge.archive.store import Archive
from codeforge.errors import EnvironmentUnavailableError


def _run(code: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


_WRITES = """
import sys
from pathlib import Path
from codeforge.archive.model import CandidateRecord, SessionStatus
from codeforge.archive.store import Archive
path, number, steps = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Archive.open(path) as archive:
    writer = archive.start_session("fix", {"id": number}, model="m", versions={})
    for index in range(steps):
        writer.message("user", f"the same {index}")
        writer.message("assistant", f"{number} says {index}")
        writer.step("check", {"number": number, "index": index})
        writer.candidate(CandidateRecord(f"c{index}", None, {}, [], f"diff {number} {index}"))
    writer.finish(SessionStatus.SOLVED, {"number": number})
    print(*archive.notices)
"""


@pytest.mark.parametrize("damaged", [False, True])
def test_eight_processes_at_once_record_everything(database_path: Path, damaged: bool) -> None:
    if damaged:
        database_path.parent.mkdir()
        database_path.write_bytes(b"this was a database once" * 1000)
    processes = [_run(_WRITES, database_path, number, 15) for number in range(8)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, outputs
    with Archive.open(database_path) as archive:
        sessions = [archive.session(summary.id) for summary in archive.sessions()]
        assert sorted(session.task["id"] for session in sessions) == [str(number) for number in range(8)]
        for session in sessions:
            assert session.summary.status is SessionStatus.SOLVED
            assert len(session.messages) == 30
            assert len(session.candidates) == 15
            assert archive.verify(session.summary.id).problems == ()
    assert len(_set_aside(database_path)) == (1 if damaged else 0)
    assert sum("damaged" in out for out, _ in outputs) == (1 if damaged else 0)


_WRITES_FOR_EVER = """
import itertools, sys
from pathlib import Path
from codeforge.archive.store import Archive
writer = Archive.open(Path(sys.argv[1])).start_session("fix", {}, model="m", versions={})
print(writer.id, flush=True)
for index in itertools.count():
    writer.step("check", {"index": index, "filler": "x" * 3000})
    print(index, flush=True)
"""


def test_kill_9_loses_at_most_the_step_in_flight(database_path: Path) -> None:
    for round_number in range(3):
        process = _run(_WRITES_FOR_EVER, database_path)
        assert process.stdout is not None
        session_id = process.stdout.readline().strip()
        for _ in range(40 + 17 * round_number):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        told = process.communicate()[0].split()
        last_told = int(told[-1]) if told else 39 + 17 * round_number
        with Archive.open(database_path) as archive:
            assert archive.notices == ()
            record = archive.session(session_id)
            written = [step.payload["index"] for step in record.steps[1:]]
            assert written == list(range(len(written)))
            assert last_told <= written[-1] <= last_told + 1
            assert record.summary.status is SessionStatus.INTERRUPTED
            assert archive.verify(session_id).ok


def _fill(path: Path) -> str:
    with Archive.open(path) as archive:
        writer = archive.start_session("fix", {}, model="m", versions={})
        for index in range(50):
            writer.step("note", {"index": index, "filler": "y" * 2000})
        return writer.id


def _set_aside(path: Path) -> list[Path]:
    """The databases kept aside, without their companions."""
    return [found for found in path.parent.glob("*.corrupt-*") if not found.name.endswith(("-wal", "-shm"))]


def _overwrite_first_page(path: Path) -> None:
    path.write_bytes(b"garbage" * 2000)


def _cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _scribble_in_the_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 16384)


@pytest.mark.parametrize("damage", [_overwrite_first_page, _cut_in_half, _scribble_in_the_middle])
def test_a_damaged_database_is_kept_aside(database_path: Path, damage: object) -> None:
    _fill(database_path)
    damage(database_path)  # type: ignore[operator]
    content = database_path.read_bytes()
    problem = check_database(database_path)
    assert problem is not None
    assert "damaged" in problem
    assert database_path.read_bytes() == content
    with Archive.open(database_path) as archive:
        (notice,) = archive.notices
        assert archive.sessions() == []
        archive.start_session("fix", {}, model="m", versions={})
    aside = _set_aside(database_path)[0]
    assert str(aside) in notice
    assert aside.read_bytes() == content
    assert check_database(database_path) is None
    with Archive.open(database_path) as archive:
        assert archive.notices == ()
        assert archive.count() == 1


def test_companions_go_aside_too(database_path: Path) -> None:
    _fill(database_path)
    _overwrite_first_page(database_path)
    Path(f"{database_path}-wal").write_bytes(b"wal")
    with Archive.open(database_path) as archive:
        assert len(archive.notices) == 1
    (aside,) = _set_aside(database_path)
    assert aside.with_name(f"{aside.name}-wal").exists()
    assert not Path(f"{database_path}-wal").exists() or check_database(database_path) is None


def test_damage_met_at_work_is_found_by_the_next_opening(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large database is not checked at each opening; what a query meets is remembered."""
    monkeypatch.setattr("codeforge.archive.database._CHEAP_CHECK_BYTES", 0)
    session_id = _fill(database_path)
    with sqlite3.connect(database_path) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'payloads'").fetchone()[0]
    with database_path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    with Archive.open(database_path) as archive:
        assert archive.notices == ()
        with pytest.raises(DatabaseDamagedError, match="damaged") as caught:
            archive.session(session_id)
        assert "kept aside" in caught.value.hint
    with Archive.open(database_path) as archive:
        assert len(archive.notices) == 1
    with Archive.open(database_path) as archive:
        assert archive.notices == ()


def test_an_empty_file_is_a_new_database(database_path: Path) -> None:
    database_path.parent.mkdir()
    database_path.touch()
    with Archive.open(database_path) as archive:
        assert archive.notices == ()
        assert archive.count() == 0


def test_a_newer_database_is_refused_and_unchanged(database_path: Path) -> None:
    session_id = _fill(database_path)
    with sqlite3.connect(database_path) as connection:
        connection.execute(
            "INSERT INTO _migrations (migration_set, name, applied_at)"
            " VALUES ('codeforge', '0999_future', '')"
        )
    with pytest.raises(EnvironmentUnavailableError, match=r"newer codeforge.*0999_future"):
        Archive.open(database_path)
    with sqlite3.connect(database_path) as connection:
        assert connection.execute("SELECT id FROM sessions").fetchall() == [(session_id,)]


def test_migrations_are_recorded_by_name(archive: Archive, raw: sqlite3.Connection) -> None:
    rows = raw.execute("SELECT name, applied_at FROM _migrations").fetchall()
    assert [name for name, _ in rows] == ["0001_sessions_messages_steps_candidates_versions"]
    assert all(applied_at for _, applied_at in rows)
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_lock_that_is_never_released(archive: Archive, database_path: Path) -> None:
    blocker = sqlite3.connect(database_path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with (
        Archive.open(database_path, busy_timeout_s=0.2) as impatient,
        pytest.raises(DatabaseLockedError, match="locked"),
    ):
        impatient.start_session("fix", {}, model="m", versions={})
    blocker.execute("ROLLBACK")
    blocker.close()
    archive.start_session("fix", {}, model="m", versions={})


def test_waits_for_a_lock_that_is_released(archive: Archive, database_path: Path) -> None:
    code = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(0.5)"
    )
    process = _run(code, database_path)
    assert process.stdout is not None
    process.stdout.readline()
    archive.start_session("fix", {}, model="m", versions={})
    process.communicate()
    assert archive.count() == 1


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "codeforge.db").mkdir()
    with pytest.raises(EnvironmentUnavailableError, match="can't be opened"):
        Archive.open(tmp_path / "codeforge.db")
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentUnavailableError, match="can't be opened"):
        Archive.open(tmp_path / "file" / "data" / "codeforge.db")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one mebibyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user can't mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_keeps_what_was_written(small_disk: Path) -> None:
    path = small_disk / "codeforge.db"
    archive = Archive.open(path)
    writer = archive.start_session("fix", {}, model="m", versions={})
    written = 0
    with pytest.raises(EnvironmentUnavailableError, match="disk full") as caught:
        for index in range(1000):
            writer.step("note", {"index": index, "filler": os.urandom(10_000).hex()})
            written += 1
    assert written > 5
    assert caught.value.kept
    assert "CODEFORGE_DATA_DIR" in caught.value.hint
    assert len(archive.session(writer.id).steps) == 1 + written
    assert archive.verify(writer.id).ok
    archive.close()
    assert check_database(path) is None


def test_a_full_disk_from_the_start(small_disk: Path) -> None:
    with pytest.raises(OSError, match="No space"), (small_disk / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    with pytest.raises(EnvironmentUnavailableError):
        Archive.open(small_disk / "codeforge.db")


def test_a_file_size_limit_is_reported(database_path: Path) -> None:
    """The same for users who can't mount: the kernel refuses the write."""
    code = """
import resource, sys
from pathlib import Path
from codeforge.archive.store import Archive
from codeforge.errors import EnvironmentUnavailableError
writer = Archive.open(Path(sys.argv[1])).start_session("fix", {}, model="m", versions={})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    for index in range(1000):
        writer.step("note", {"index": index, "filler": "z" * 10_000})
except EnvironmentUnavailableError as error:
    print(index, error.message)
"""
    pytest.importorskip("resource")
    process = _run(code, database_path)
    out, err = process.communicate()
    assert "can't be written" in out, err
    with Archive.open(database_path) as archive:
        assert len(archive.session("last").steps) == 1 + int(out.split()[0])


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_read_only_database(tmp_path: Path) -> None:
    """As root everything is writable, so a read-only mount stands for it."""
    folder = tmp_path / "ro"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user can't mount")
    try:
        _fill(folder / "codeforge.db")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        for name in ("codeforge.db", "new.db"):
            with pytest.raises(EnvironmentUnavailableError) as caught:
                Archive.open(folder / name).start_session("fix", {}, model="m", versions={})
            assert "CODEFORGE_DATA_DIR" in caught.value.hint
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_check_database_of_nothing(tmp_path: Path) -> None:
    assert check_database(tmp_path / "none.db") is None
    assert list(tmp_path.iterdir()) == []
