"""The index: incremental, shared by processes, and able to repair itself."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeforge.localize import refresh as refresh_module
from codeforge.localize.content import Content
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex

from .conftest import SHOP, MakeRepo, git


def settle(root: Path) -> None:
    """Let the files be old enough for their time stamps to be trusted."""
    time.sleep(0.03)
    for path in root.rglob("*.py"):
        os.utime(path, ns=(1_000_000_000, 1_000_000_000))
    time.sleep(0.03)


def database(root: Path) -> Path:
    return root / ".codeforge/index/code.db"


def functions(root: Path) -> list[str]:
    with CodeIndex.open(root, list_files(root)) as index:
        entities = (index.graph.entity(node) for node in index.graph.nodes())
        return sorted(entity.qualname for entity in entities if entity.qualname)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were really parsed."""
    seen: list[str] = []
    real = refresh_module.analyse

    def watched(raw: bytes, path: str) -> Content | None:
        seen.append(path)
        return real(raw, path)

    monkeypatch.setattr(refresh_module, "analyse", watched)
    return seen


def test_only_what_changed_is_parsed_again(shop: Path, parsed: list[str]) -> None:
    functions(shop)
    assert "src/shop/cart.py" in parsed
    parsed.clear()
    assert "Cart.total" in functions(shop)
    assert parsed == []
    (shop / "src/shop/pricing.py").write_text("def renamed():\n    pass\n", encoding="utf-8")
    assert "renamed" in functions(shop)
    assert parsed == ["src/shop/pricing.py"]


def test_a_warm_run_reads_no_file(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(shop)
    before = functions(shop)

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(refresh_module, "read_source", refuse)
    assert functions(shop) == before


def test_a_change_with_the_same_size_and_time_is_seen(shop: Path) -> None:
    settle(shop)
    path = shop / "src/shop/pricing.py"
    functions(shop)
    status = path.stat()
    path.write_text(path.read_text("utf-8").replace("format_price", "fxrmat_price"), encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "fxrmat_price" in functions(shop)


def test_switching_branches_reuses_contents(shop: Path, parsed: list[str]) -> None:
    functions(shop)
    git(shop, "checkout", "--quiet", "-b", "other")
    (shop / "src/shop/pricing.py").write_text("def elsewhere():\n    pass\n", encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "other")
    assert "elsewhere" in functions(shop)
    git(shop, "checkout", "--quiet", "main")
    parsed.clear()
    found = functions(shop)
    assert "apply_discount" in found and "elsewhere" not in found
    assert parsed == []


def test_deleted_files_are_gone(shop: Path) -> None:
    functions(shop)
    (shop / "src/shop/pricing.py").unlink()
    assert "apply_discount" not in functions(shop)


def test_equal_contents_are_found_at_every_path(make_repo: MakeRepo) -> None:
    root = make_repo({"a/x.py": "def same(): pass\n", "b/x.py": "def same(): pass\n"})
    with CodeIndex.open(root, list_files(root)) as index:
        found = [index.graph.entity(node).id for node in index.graph.names()["same"]]
        assert found == ["a/x.py:same", "b/x.py:same"]
        assert len(set(index.snapshot.content_of.values())) == 1


def test_what_is_skipped_is_said(make_repo: MakeRepo) -> None:
    root = make_repo({"big.py": "x = 1\n" * 300_000, "binary.py": b"\0\1\2", "fine.py": "def f(): pass\n"})
    with CodeIndex.open(root, list_files(root)) as index:
        assert index.notices == (
            "1 file(s) not indexed: binary",
            "1 file(s) not indexed: larger than 1024 KiB",
        )


def test_the_users_tree_stays_clean(shop: Path) -> None:
    functions(shop)
    assert git(shop, "status", "--porcelain") == ""


@pytest.mark.parametrize("damage", ["garbage", "truncated", "empty", "version", "table"])
def test_a_damaged_index_is_made_anew(shop: Path, damage: str) -> None:
    before = functions(shop)
    path = database(shop)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if damage == "version":
            connection.execute("PRAGMA user_version = 999")
        if damage == "table":
            connection.execute("DROP TABLE posting")
    connection.close()
    if damage == "garbage":
        path.write_bytes(b"not a database at all" * 1000)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:5000])
    if damage == "empty":
        path.write_bytes(b"")
    with CodeIndex.open(shop, list_files(shop)) as index:
        assert any("made anew" in notice for notice in index.notices) or damage == "empty"
    assert functions(shop) == before
    assert database(shop).stat().st_size > 0


def test_without_a_place_on_disk_it_works_in_memory(shop: Path) -> None:
    (shop / ".codeforge").write_text("in the way", encoding="utf-8")
    with CodeIndex.open(shop, list_files(shop)) as index:
        assert "apply_discount" in index.graph.names()
        assert any("in memory" in notice for notice in index.notices)


def test_two_processes_index_at_once(make_repo: MakeRepo) -> None:
    rng = random.Random(1)
    sources = {f"m{n}.py": f"def f{n}():\n    return {rng.random()}\n" for n in range(120)}
    root = make_repo({**SHOP, **sources})
    code = (
        "import sys; from pathlib import Path; from codeforge.localize.index import CodeIndex;"
        "from codeforge.localize.files import list_files; root = Path(sys.argv[1]);"
        "index = CodeIndex.open(root, list_files(root));"
        "print(len(index.snapshot.content_of), list(index.notices))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = {process.communicate(timeout=60)[0].strip() for process in running}
    assert outputs == {f"{len(SHOP) + 120} []"}
    with sqlite3.connect(database(root)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        keys = connection.execute("SELECT count(*), count(DISTINCT key) FROM content").fetchone()
    connection.close()
    assert keys[0] == keys[1]


def test_links_are_not_followed(shop: Path) -> None:
    (shop / "link.py").symlink_to("src/shop/cart.py")
    (shop / "loop").symlink_to(".")
    with CodeIndex.open(shop, list_files(shop)) as index:
        assert "link.py" not in index.snapshot.content_of


def test_surplus_contents_are_pruned(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh_module, "SPARE_CONTENTS", 0)
    path = shop / "src/shop/pricing.py"
    for number in range(6):
        path.write_text(f"def version_{number}(): pass\n", encoding="utf-8")
        functions(shop)
    with sqlite3.connect(database(shop)) as connection:
        contents = connection.execute("SELECT count(*) FROM content").fetchone()[0]
    connection.close()
    assert contents <= len(list_files(shop))
    assert "version_5" in functions(shop)
