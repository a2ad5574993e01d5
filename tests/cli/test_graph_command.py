"""`codeforge graph` on a real repository with its real index."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner, Result

from codeforge.cli import graph, graph_export
from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.model import Entity, EntityKind
from tests.conftest import Repository
from tests.localize.tools.memory_graph import MemoryGraph

FILES: dict[str, str | bytes] = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "from shop.pricing import discount\n\n\n"
        "class Cart:\n    def total(self):\n        return discount(1)\n"
    ),
    "shop/pricing.py": "def discount(price):\n    return price / 2\n",
    "tests/test_cart.py": (
        "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0.5\n"
    ),
}


@pytest.fixture
def repo(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repository(FILES)
    monkeypatch.chdir(root)
    return root


def run(*arguments: str) -> Result:
    app = typer.Typer()
    graph.register(app)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["graph", *arguments], standalone_mode=False)


def document(result: Result) -> dict[str, object]:
    found = json.loads(result.stdout)
    assert found["schema_version"] == 1
    return found


def test_search(repo: Path) -> None:
    result = run("search", "Cart.total")
    assert result.return_value == 0
    assert result.stdout.startswith("1. function shop/cart.py:Cart.total (lines 5-6)")
    (hit,) = document(run("search", "Cart.total", "--json"))["hits"]
    assert (hit["id"], hit["kind"], hit["start_line"]) == ("shop/cart.py:Cart.total", "function", 5)
    assert hit["matches"] == [{"kind": "name", "keyword": "Cart.total", "score": 100.0}]


def test_search_filters(repo: Path) -> None:
    found = document(run("search", "price", "--kind", "function", "--path", "shop/", "--json"))["hits"]
    assert found and all(hit["kind"] == "function" and hit["path"].startswith("shop/") for hit in found)


def test_search_for_nothing(repo: Path) -> None:
    result = run("search", "zzzqqq")
    assert result.return_value == 1 and not result.stdout and "zzzqqq" in result.stderr
    assert document(run("search", "zzzqqq", "--json"))["hits"] == []


def test_traverse(repo: Path) -> None:
    result = run("traverse", "shop/pricing.py:discount", "-d", "backward", "-r", "invokes", "--hops", "-1")
    assert result.return_value == 0
    assert result.stdout.splitlines()[:2] == [
        "shop/pricing.py:discount (function, lines 1-2)",
        "└─ invoked by: shop/cart.py:Cart.total (function, lines 5-6)",
    ]
    found = document(run("traverse", "/", "-r", "contains", "--hops", "1", "--json"))
    assert [item["id"] for item in found["entities"]] == ["/", "shop/", "tests/"]
    assert found["edges"][0] == {"source": "/", "relation": "contains", "target": "shop/", "weak": False}


def test_unknown_ids(repo: Path) -> None:
    for command in ("traverse", "show"):
        result = run(command, "shop/crt.py")
        assert result.return_value == 1 and "`shop/cart.py`" in result.stderr
        assert document(run(command, "shop/crt.py", "--json"))["errors"]


def test_show(repo: Path) -> None:
    result = run("show", "shop/cart.py:Cart.total")
    assert result.return_value == 0 and "6|         return discount(1)" in result.stdout
    short = run("show", "shop/cart.py", "--max-tokens", "60")
    assert len(short.stdout.encode()) <= 60 * 3
    (entity,) = document(run("show", "shop/pricing.py", "--json"))["entities"]
    assert entity["view"] == "full" and "2|     return price / 2" in entity["text"]


def test_show_from_a_subfolder(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo / "shop")
    assert run("show", "shop/pricing.py").return_value == 0


def test_stats(repo: Path) -> None:
    found = document(run("stats", "--json"))
    assert found["nodes"] == {"directory": 3, "file": 4, "class": 1, "function": 3}
    assert found["edges"]["contains"] == 10
    assert re.search(r"function +3$", run("stats").stdout, re.MULTILINE)


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(run("stats").exception, EnvironmentUnavailableError)


def test_exports_agree(repo: Path) -> None:
    head, *lines = [json.loads(line) for line in run("export").stdout.splitlines()]
    nodes = [line for line in lines if "node" in line]
    edges = [line for line in lines if "edge" in line]
    assert (head["schema_version"], head["nodes"], head["edges"]) == (1, len(nodes), len(edges))
    named = {(nodes[a]["id"], edge["relation"], nodes[b]["id"]) for edge in edges for a, b in [edge["edge"]]}
    assert ("shop/cart.py:Cart.total", "invokes", "shop/pricing.py:discount") in named

    tree = ElementTree.fromstring(run("export", "-f", "graphml").stdout)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    ids = {
        node.get("id"): {data.get("key"): data.text for data in node}["id"]
        for node in tree.iter(f"{space}node")
    }
    assert {
        (ids[edge.get("source")], edge[0].text, ids[edge.get("target")]) for edge in tree.iter(f"{space}edge")
    } == named

    text = run("export", "-f", "dot").stdout
    labels = dict(re.findall(r'^  (n\d+) \[label="((?:[^"\\]|\\.)*)"', text, re.MULTILINE))
    arrows = re.findall(r'^  (n\d+) -> (n\d+) \[label="(\w+)"', text, re.MULTILINE)
    assert {(labels[a], relation, labels[b]) for a, b, relation in arrows} == named


_PROGRAM = """
import typer
from codeforge.cli import graph
app = typer.Typer()
graph.register(app)
app.callback()(lambda: None)
app()
"""


@pytest.mark.parametrize(
    "arguments", [("traverse", "/", "--hops", "-1", "--weak"), ("search", "cart", "price")]
)
def test_the_order_does_not_depend_on_the_hash_seed(repo: Path, arguments: tuple[str, ...]) -> None:
    texts = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", _PROGRAM, "graph", *arguments]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        # Not every terminal has the characters of the tree.
        environment |= {"PYTHONIOENCODING": "ascii"}
        texts.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
        shutil.rmtree(repo / ".codeforge")
    assert len(texts) == 1 and b"shop/cart.py" in texts.pop()


def test_export_to_a_file_is_the_same_each_time(repo: Path, tmp_path: Path) -> None:
    target = tmp_path / "graph.json"
    assert run("export", "-o", str(target)).return_value == 0
    assert target.read_text(encoding="utf-8") == run("export").stdout
    broken = run("export", "-o", str(tmp_path / "missing" / "graph.json"))
    assert isinstance(broken.exception, EnvironmentUnavailableError)


def test_names_that_formats_must_escape() -> None:
    path = 'a"b\\<&>é\udcff\x01.py'
    odd = [
        Entity("/", EntityKind.DIRECTORY, "", "", 0, 0),
        Entity(path, EntityKind.FILE, path, "", 1, 1),
        Entity(f"{path}:f", EntityKind.FUNCTION, path, "f", 1, 1, "def f(a: '<\"&>')"),
    ]
    memory = MemoryGraph(odd, [])
    lines = [json.loads(line) for line in graph_export.json_lines(memory)]
    assert lines[2]["path"] == path
    written = "\n".join(graph_export.graphml(memory)).encode("utf-8")
    values = [data.text for data in ElementTree.fromstring(written).iter() if data.get("key") == "path"]
    assert values[1] == 'a"b\\<&>é\\udcff\\u0001.py'
    written_dot = "\n".join(graph_export.dot(memory)).encode("utf-8").decode("utf-8")
    assert '[label="a\\"b\\\\<&>é\\\\udcff' in written_dot
