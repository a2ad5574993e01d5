"""Graph and index of whole repositories, cold, loaded and updated, beside LocAgent's published graph builder.

    python -m benchmarks.localization.speed CHECKOUT... [--locagent LOCAGENT --python PYTHON]

CPU seconds of one process each, on copies. "cold" is everything: listing, hashing, parsing, graph, inverted
index, written to disk; "load" reads graph and edges of a built index; "warm" opens it, with a look at every
file; "update" opens it after a file was edited, less "warm"; "locate" answers an issue on a warm index,
history included where the checkout has one. `--locagent` is a checkout of LocAgent, and `--python` an
interpreter with networkx and matplotlib; its builder makes the graph only, in memory (BM25 comes on top).
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_OURS = """
import json, resource, sqlite3, sys, time
from pathlib import Path
from codeforge.localize.base import read_base
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex
from codeforge.localize.ranker import Localizer, LocateQuery

root, mode = Path(sys.argv[1]), sys.argv[2]
if mode == "locate":
    Localizer(root).locate(LocateQuery("warm up the imports", limit=1))
started = time.process_time()
if mode == "locate":
    Localizer(root).locate(LocateQuery(sys.argv[3]))
    found = {}
elif mode == "load":
    import numpy
    started = time.process_time()
    read_base(sqlite3.connect(root / ".codeforge/index/code.db"))
    found = {}
else:
    with CodeIndex.open(root, list_files(root)) as index:
        nodes = len(index.graph.nodes()) if mode == "cold" else 0
        found = {"nodes": nodes, "edges": len(index.graph.edges.source)}
found["seconds"] = time.process_time() - started
found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""
_LOCAGENT = """
import json, sys, time
sys.path.insert(0, sys.argv[2])
from dependency_graph.build_graph import build_graph
started = time.process_time()
graph = build_graph(sys.argv[1], global_import=True)
found = {"nodes": len(graph), "edges": graph.number_of_edges(), "seconds": time.process_time() - started}
print()
print(json.dumps(found))
"""
ISSUE = (
    "Wrong result when a value is None\n\nThe parser should raise an error for an empty value, not ignore it."
)


def measured(python: str, code: str, *arguments: str) -> Mapping[str, float]:
    """Run code in a process of its own; the JSON object in its last line."""
    command = [python, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.strip().split("\\n")[-1])
    return found


def ours(checkout: Path, runs: int) -> Mapping[str, float]:
    """The best of some runs of each kind."""

    def best(root: Path, *arguments: str) -> float:
        return min(measured(sys.executable, _OURS, str(root), *arguments)["seconds"] for _ in range(runs))

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / checkout.name
        ignored = shutil.ignore_patterns(".codeforge")
        shutil.copytree(checkout, root, ignore=ignored, symlinks=True)
        cold = measured(sys.executable, _OURS, str(root), "cold")
        row = {name: cold[name] for name in ("nodes", "edges", "peak_mb")}
        row["cold"] = cold["seconds"]
        for _ in range(runs - 1):
            shutil.rmtree(root / ".codeforge")
            row["cold"] = min(row["cold"], measured(sys.executable, _OURS, str(root), "cold")["seconds"])
        row["load"] = best(root, "load")
        row["warm"] = best(root, "warm")
        row["locate"] = best(root, "locate", ISSUE)
        row["update"] = min(_update(root, number) for number in range(runs)) - row["warm"]
        return row


def _update(root: Path, number: int) -> float:
    """Edit a file in the middle of the list and open the index."""
    files = sorted(root.rglob("*.py"), key=lambda path: path.stat().st_size)
    edited = files[len(files) * 3 // 4]
    with edited.open("a", encoding="utf-8") as stream:
        stream.write(f"\\n\\ndef added_by_the_benchmark_{number}():\\n    return {number}\\n")
    return measured(sys.executable, _OURS, str(root), "update")["seconds"]


def printed(rows: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
    """The table."""
    columns = ("cold", "nodes", "edges", "load", "warm", "update", "locate", "peak_mb", "locagent", "ratio")
    lines = [f"{'repository':16}" + "".join(f"{name:>10}" for name in columns)]
    for name, row in rows.items():
        cells = (_cell(row.get(column)) for column in columns)
        lines.append(f"{name:16}" + "".join(f"{cell:>10}" for cell in cells))
    return lines


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3f}"


def main() -> None:
    """Parse the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--locagent", type=Path)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for checkout in arguments.checkouts:
        row = dict(ours(checkout.resolve(), arguments.runs))
        if arguments.locagent:
            found = measured(arguments.python, _LOCAGENT, str(checkout.resolve()), str(arguments.locagent))
            row["locagent"], row["ratio"] = found["seconds"], found["seconds"] / row["cold"]
        rows[checkout.name] = row
    for line in printed(rows):
        print(line)


if __name__ == "__main__":
    main()
