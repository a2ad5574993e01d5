import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, PatchRefusedError
from codeforge.patch import journal, journal_store
from codeforge.patch.apply import resolve_patch
from codeforge.patch.model import EditBlock, EditKind
from codeforge.patch.textfile import TEMPORARY_PREFIX

EDITS = (
    EditBlock("a.py", search="1", replace="one\ntwo"),
    EditBlock("run.sh", EditKind.RENAME, new_path="bin/deep/run.sh"),
    EditBlock("gone.txt", EditKind.DELETE),
    EditBlock("new/made.txt", EditKind.CREATE, replace="made"),
)


def snapshot(root: Path) -> dict[str, tuple[bytes, int] | str]:
    found: dict[str, tuple[bytes, int] | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] != ".codeforge":
            found[name] = (path.read_bytes(), path.stat().st_mode) if path.is_file() else "folder"
    return found


@pytest.fixture
def tree(put, tmp_path: Path) -> Path:
    put("a.py", b"1\r\n2")
    put("run.sh", "echo\n", 0o755)
    put("gone.txt", b"caf\xe9", 0o640)
    return tmp_path


def apply(root: Path, *edits: EditBlock) -> journal.JournalEntry:
    return journal.apply_journaled(resolve_patch(edits or EDITS, root), root, label="try\nit")


def test_apply_undo_redo_undo(tree: Path) -> None:
    before = snapshot(tree)
    entry = apply(tree)
    after = snapshot(tree)
    assert entry.state == "applied" and entry.label == "try it" and after != before
    report = journal.undo(tree)
    assert snapshot(tree) == before and report.about.id == entry.id
    assert sorted(report.removed) == ["bin/deep/run.sh", "new/made.txt"]
    assert journal.redo(tree).about.id == entry.id and snapshot(tree) == after
    journal.undo(tree, "1")
    assert snapshot(tree) == before
    with pytest.raises(PatchRefusedError, match="nothing to undo"):
        journal.undo(tree)
    assert [item.active for item in journal.list_entries(tree)] == [False]
    assert (tree / ".codeforge/.gitignore").read_text() == "*\n"


def test_undo_goes_back_through_the_entries(tree: Path) -> None:
    versions = [snapshot(tree)]
    for number in range(3):
        apply(tree, EditBlock("a.py", search="2" if number == 0 else f"v{number}", replace=f"v{number + 1}"))
        versions.append(snapshot(tree))
    for version in reversed(versions[:-1]):
        journal.undo(tree)
        assert snapshot(tree) == version
    for version in versions[1:]:
        journal.redo(tree)
        assert snapshot(tree) == version


def test_undo_refuses_when_a_file_was_changed_since_and_changes_nothing(tree: Path) -> None:
    apply(tree)
    (tree / "a.py").write_bytes(b"mine")
    (tree / "gone.txt").write_bytes(b"came back")
    before = snapshot(tree)
    with pytest.raises(PatchRefusedError) as caught:
        journal.undo(tree)
    assert "a.py" in caught.value.message and "gone.txt" in caught.value.message
    assert "made.txt" not in caught.value.message and snapshot(tree) == before


def test_undo_of_an_older_entry_below_a_newer_one_is_refused(tree: Path) -> None:
    first = apply(tree, EditBlock("a.py", search="1", replace="x"))
    apply(tree, EditBlock("a.py", search="x", replace="y"))
    with pytest.raises(PatchRefusedError, match="changed since"):
        journal.undo(tree, first.id)
    with pytest.raises(PatchRefusedError, match="no entry 77"):
        journal.undo(tree, "77")


def test_undo_keeps_what_others_put_into_new_folders(tree: Path) -> None:
    apply(tree)
    (tree / "new/theirs.txt").write_text("keep")
    journal.undo(tree)
    assert (tree / "new/theirs.txt").read_text() == "keep" and not (tree / "bin").exists()


def test_nothing_journaled(tmp_path: Path) -> None:
    assert journal.list_entries(tmp_path) == [] and journal.recover(tmp_path) == []
    with pytest.raises(PatchRefusedError):
        journal.undo(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_journal_restores_nothing_wrong(tree: Path) -> None:
    apply(tree)
    after = snapshot(tree)
    for blob in (tree / ".codeforge/journal/blobs").iterdir():
        blob.write_bytes(b"altered")
    with pytest.raises(EnvironmentUnavailableError, match="damaged"):
        journal.undo(tree)
    assert snapshot(tree) == after
    (tree / ".codeforge/journal/000001.json").write_text("{")
    assert journal.list_entries(tree) == []
    assert apply(tree, EditBlock("a.py", search="2", replace="3")).id == "000002"


def test_a_journal_that_leads_elsewhere_is_refused(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (tree / ".codeforge").symlink_to(elsewhere)
    before = snapshot(tree)
    with pytest.raises(EnvironmentUnavailableError, match="symbolic link"):
        apply(tree)
    assert snapshot(tree) == before and list(elsewhere.iterdir()) == []


def interrupted(tree: Path, done: int, *, folders: bool, leftovers: bool) -> None:
    """The disk as a process leaves it that is killed after `done` of the entry's files."""
    copy = tree.parent / (tree.name + "-after")
    shutil.copytree(tree, copy)
    entry = apply(copy)
    shutil.copytree(copy / ".codeforge", tree / ".codeforge")
    shutil.rmtree(tree / ".codeforge" / "nothing", ignore_errors=True)
    path = tree / f".codeforge/journal/{entry.id}.json"
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "state": "prepared"}))
    for folder in entry.created_folders if folders or done else ():
        (tree / folder).mkdir(exist_ok=True)
    for file in entry.files[:done]:
        if file.after_sha256 is None:
            (tree / file.path).unlink()
        else:
            shutil.copy2(copy / file.path, tree / file.path)
    if leftovers:
        for file in entry.files:
            if (tree / file.path).parent.is_dir():
                (tree / file.path).with_name(f"{TEMPORARY_PREFIX}{done}").write_bytes(b"partial")
    shutil.rmtree(copy)


@pytest.mark.parametrize("done", range(6))
@pytest.mark.parametrize("leftovers", [False, True])
def test_recovery_from_every_state_on_disk(tree: Path, done: int, leftovers: bool) -> None:
    before = snapshot(tree)
    interrupted(tree, done, folders=leftovers, leftovers=leftovers)
    (report,) = journal.recover(tree)
    assert snapshot(tree) == before and report.left == ()
    assert "rolled back" in report.message and len(report.restored) == min(done, 5)
    assert journal.recover(tree) == [] and journal.list_entries(tree) == []
    assert apply(tree).id == "000002"


def test_recovery_leaves_alone_what_somebody_changed_since(tree: Path) -> None:
    interrupted(tree, 5, folders=True, leftovers=False)
    (tree / "a.py").write_bytes(b"mine")
    (report,) = journal.recover(tree)
    assert report.left == ("a.py",) and (tree / "a.py").read_bytes() == b"mine"
    assert (tree / "gone.txt").exists() and not (tree / "bin").exists()


def test_the_next_write_recovers_first_and_says_so(tree: Path) -> None:
    interrupted(tree, 2, folders=True, leftovers=True)
    patch = resolve_patch([EditBlock("gone.txt", search="café", replace="thé")], tree)
    entry = journal.apply_journaled(patch, tree, label="next")
    assert "rolled back" in entry.notes[0] and (tree / "a.py").read_bytes() == b"1\r\n2"


WRITER = """
import sys
from pathlib import Path
from codeforge.patch.apply import resolve_patch
from codeforge.patch.journal import apply_journaled, undo
from codeforge.patch.model import EditBlock
root = Path(sys.argv[1])
print("ready", flush=True)
while True:
    edits = [EditBlock(f"d{i}/f.txt", search="old", replace="new") for i in range(12)]
    apply_journaled(resolve_patch(edits, root), root, label="loop")
    undo(root)
"""


def test_kill_9_at_any_moment(put, tmp_path: Path) -> None:
    """After the kill, recovery leaves all files old or all new, and nothing lying about."""
    for number in range(12):
        put(f"d{number}/f.txt", "old\n")
    for seed in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            time.sleep(random.Random(seed).uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
        journal.recover(tmp_path)
        contents = {(tmp_path / f"d{number}/f.txt").read_text() for number in range(12)}
        assert len(contents) == 1
        assert not list(tmp_path.rglob(TEMPORARY_PREFIX + "*"))
        if contents == {"new\n"}:
            journal.undo(tmp_path)


ONCE = """
import sys
from pathlib import Path
from codeforge.errors import PatchRefusedError
from codeforge.patch.apply import resolve_patch
from codeforge.patch.journal import apply_journaled
from codeforge.patch.model import EditBlock
root, name = Path(sys.argv[1]), sys.argv[2]
for number in range(5):
    edit = EditBlock(f"{name}.txt", search=str(number), replace=str(number + 1))
    apply_journaled(resolve_patch([edit], root), root, label=name)
"""


def test_processes_write_one_after_the_other(put, tmp_path: Path) -> None:
    names = ["p", "q", "r"]
    for name in names:
        put(f"{name}.txt", "0\n")
    running = [subprocess.Popen([sys.executable, "-c", ONCE, str(tmp_path), name]) for name in names]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert all((tmp_path / f"{name}.txt").read_text() == "5\n" for name in names)
    assert [item.entry.id for item in journal.list_entries(tmp_path)] == [f"{i:06d}" for i in range(1, 16)]


def test_a_held_lock_is_an_error_not_a_wait_for_ever(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_store, "LOCK_WAIT_S", 0.1)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with journal_store.JournalStore(tree).locked():
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    try:
        with pytest.raises(EnvironmentUnavailableError, match="another codeforge"):
            apply(tree)
    finally:
        release.set()
        thread.join()


def test_a_full_disk_leaves_no_entry_and_no_change(tmp_path: Path) -> None:
    root = tmp_path / "small"
    root.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", root], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        (root / "a.txt").write_text("a\n")
        for size in (20_000, 60_000, 90_000, 130_000, 300_000):
            patch = resolve_patch([EditBlock("a.txt", search="a", replace="b" * size)], root)
            before = snapshot(root)
            try:
                journal.apply_journaled(patch, root, label=str(size))
            except EnvironmentUnavailableError:
                assert snapshot(root) == before
                assert journal.list_entries(root) == []
            else:
                journal.undo(root)
                assert snapshot(root) == before
                shutil.rmtree(root / ".codeforge")
    finally:
        subprocess.run(["umount", root], check=True)


NAMES = ["f", "g", "d/e", "d/h", "k"]
EDIT = st.builds(
    EditBlock,
    path=st.sampled_from(NAMES),
    kind=st.sampled_from(list(EditKind)),
    search=st.sampled_from(["", "a", "b", "é"]),
    replace=st.sampled_from(["", "x", "a\nb", "é\n\n", "b"]),
    new_path=st.sampled_from(NAMES),
)
CONTENT = st.sampled_from(
    [b"a\n", b"a\r\nb", b"\xef\xbb\xbfb\n", b"caf\xe9\na\n", b"", "a\n".encode("utf-16")]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.tuples(CONTENT, st.sampled_from([0o644, 0o755, 0o600])), max_size=4
    ),
    st.lists(EDIT, min_size=1, max_size=4),
)
def test_apply_then_undo_is_the_identity(tmp_path: Path, files, edits: list[EditBlock]) -> None:
    """Bytes, modes and existence, folders included."""
    root = tmp_path / "repo"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for name, (raw, mode) in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(raw)
        (root / name).chmod(mode)
    before = snapshot(root)
    try:
        patch = resolve_patch(edits, root)
        journal.apply_journaled(patch, root, label="law")
    except CodeforgeError:
        assert snapshot(root) == before
        return
    after = snapshot(root)
    journal.undo(root)
    assert snapshot(root) == before
    journal.redo(root)
    assert snapshot(root) == after
