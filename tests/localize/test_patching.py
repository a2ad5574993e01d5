"""The law of updates: after any edits the index answers what an index made anew would answer."""

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from codeforge.localize import index as index_module
from codeforge.localize.database import IndexDamagedError
from codeforge.localize.graph.edges import RELATIONS, WEAK
from codeforge.localize.index import CodeIndex
from codeforge.localize.tools.results import SearchResult
from codeforge.localize.tools.workspace import open_workspace

from .conftest import write_files

NAMES = ("alpha", "beta", "gamma", "Delta", "Epsilon")
PATHS = ("a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "pkg/d.py", "pkg/deep/e.py", "web/f.js", "notes.md")

Tree = dict[str, str]
Edges = list[tuple[str, str, bool, str]]


def source(rng: random.Random, path: str) -> str:
    """Some code of definitions, imports and uses of the same few names."""
    if path.endswith(".md"):
        return " ".join(rng.choices(NAMES, k=5))
    if path.endswith(".js"):
        one, other = rng.sample(NAMES, 2)
        return f"function {one}() {{ return {other}(); }}\n"
    modules = rng.sample(("a", "b", "pkg", "pkg.c", "pkg.d", "pkg.deep.e"), rng.randrange(3))
    lines = [f"from {module} import {rng.choice([*NAMES, '*'])}" for module in modules]
    if rng.random() < 0.3:
        lines.append("from . import c")
    for name in rng.sample(NAMES, rng.randrange(4)):
        if name[0].isupper():
            lines.append(f"class {name}({rng.choice(['object', *NAMES[3:]])}):")
            lines.append(
                f"    def {rng.choice(NAMES[:3])}(self):\n        return self.{rng.choice(NAMES[:3])}()"
            )
        else:
            lines.append(f"def {name}(x):\n    return {rng.choice(NAMES)}(x).{rng.choice(NAMES[:3])}()")
    lines.append(rng.choice(["", "alpha()", "beta(gamma)"]))
    return "\n".join(lines) + "\n"


def random_tree(rng: random.Random) -> Tree:
    return {path: source(rng, path) for path in rng.sample(PATHS, rng.randrange(3, len(PATHS) + 1))}


def edited(rng: random.Random, tree: Tree) -> Tree:
    """The tree with a file changed, added or removed."""
    tree = dict(tree)
    path = rng.choice(PATHS)
    if path in tree and len(tree) > 1 and rng.random() < 0.3:
        del tree[path]
    else:
        tree[path] = source(rng, path)
    return tree


def edges_of(index: CodeIndex) -> Edges:
    graph, edges = index.graph, index.graph.edges
    return sorted(
        (graph.entity(first).id, RELATIONS[number % WEAK].value, number >= WEAK, graph.entity(last).id)
        for first, last, number in zip(
            edges.source.tolist(), edges.target.tolist(), edges.relation.tolist(), strict=True
        )
    )


def answers(index: CodeIndex) -> tuple[list[str], Edges, Mapping[str, list[tuple[str, float]]]]:
    """The nodes, the edges, and what every word finds."""
    graph = index.graph
    found = {
        word: sorted(
            (graph.entity(node).id, float(times))
            for postings in index.postings.find(word)
            for node, times in zip(postings.nodes.tolist(), postings.times.tolist(), strict=True)
        )
        for word in map(str.lower, NAMES)
    }
    return [graph.entity(node).id for node in graph.nodes()], edges_of(index), found


def put(root: Path, before: Tree, after: Tree) -> None:
    for path in before.keys() - after.keys():
        (root / path).unlink()
    write_files(root, {path: text for path, text in after.items() if before.get(path) != text})


def check(root: Path, tree: Tree) -> None:
    with CodeIndex.open(root, sorted(tree)) as kept, CodeIndex.in_memory(root, sorted(tree)) as anew:
        assert kept.notices == ()
        assert answers(kept) == answers(anew)


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False), st.sampled_from([0, 40]))
def test_an_updated_index_answers_like_a_new_one(rng: random.Random, changes: int) -> None:
    """With 40 allowed changes everything is patched; with none every edit is a new base."""
    kept, index_module.MOST_CHANGES = index_module.MOST_CHANGES, changes
    try:
        with TemporaryDirectory() as folder:
            root, tree = Path(folder), random_tree(rng)
            put(root, {}, tree)
            check(root, tree)
            for _ in range(4):
                after = edited(rng, tree)
                put(root, tree, after)
                tree = after
                check(root, tree)
    finally:
        index_module.MOST_CHANGES = kept


def test_the_graph_does_not_change_with_the_hash_seed(shop: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from codeforge.localize.index import CodeIndex;"
        "from codeforge.localize.files import list_files; root = Path(sys.argv[1]);"
        "graph = CodeIndex.in_memory(root, list_files(root)).graph;"
        "print([graph.entity(n).id for n in graph.nodes()]);"
        "print(graph.edges.source.tolist(), graph.edges.target.tolist(), graph.edges.relation.tolist())"
    )

    def run(seed: str) -> str:
        command = [sys.executable, "-c", code, str(shop)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert len({run(seed) for seed in ("0", "1", "77")}) == 1


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False))
def test_damage_never_changes_an_answer(rng: random.Random) -> None:
    """Flipped bytes are found by checksums: the index is made anew, or says that it is damaged."""
    with TemporaryDirectory() as folder:
        root, tree = Path(folder), random_tree(random.Random(5))
        put(root, {}, tree)
        with CodeIndex.open(root, sorted(tree)) as index:
            expected = answers(index)
        path = root / ".codeforge/index/code.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw = bytearray(path.read_bytes())
        for _ in range(rng.choice([1, 5, 40])):
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(raw))
        with CodeIndex.open(root, sorted(tree)) as index:
            assert ([index.graph.entity(node).id for node in index.graph.nodes()], edges_of(index)) == (
                expected[:2]
            )
            # Callers make it anew when a damaged row is read later (`Localizer`, `GraphWorkspace`).
            with suppress(IndexDamagedError, sqlite3.DatabaseError):
                assert answers(index) == expected


def test_a_workspace_heals_what_it_finds_late(shop: Path) -> None:
    async def search() -> SearchResult:
        async with open_workspace(shop) as workspace:
            return await workspace.search_entity(["lower a price"])

    expected = asyncio.run(search())
    assert expected.hits
    with closing(sqlite3.connect(shop / ".codeforge/index/code.db")) as connection:
        connection.execute("UPDATE posting SET data = zeroblob(length(data))")
        connection.commit()
    assert asyncio.run(search()) == expected
