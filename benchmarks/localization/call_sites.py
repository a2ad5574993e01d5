"""Sample strong `invokes` edges by a fixed seed, to be judged by reading; `call_sites.csv` has the verdicts.

    python -m benchmarks.localization.call_sites CHECKOUT... [--count 50] [--seed 3] [--csv call_sites.csv]

Each row is an edge: where the call stands, its line, and what the graph says is called. The same checkouts
give the same rows. With `--csv`, the verdicts of that file are counted; rows that are not judged are told.
"""

import argparse
import csv
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codeforge.localize.files import list_files
from codeforge.localize.graph.code_graph import CodeGraph
from codeforge.localize.graph.edges import INVOKES
from codeforge.localize.graph.nodes import last_part
from codeforge.localize.index import CodeIndex

FIELDS = ("repository", "caller", "line", "call", "callee")


class Site(NamedTuple):
    """An edge with the line that made it."""

    repository: str
    caller: str
    line: int
    call: str
    callee: str


def sites(root: Path, count: int, rng: random.Random) -> Iterator[Site]:
    """`count` strong edges of a checkout whose caller is no test."""
    with CodeIndex.in_memory(root, list_files(root)) as index:
        graph, edges = index.graph, index.graph.edges
        places = [place for place, relation in enumerate(edges.relation.tolist()) if relation == INVOKES]
        rng.shuffle(places)
        for place in places:
            if count == 0:
                return
            caller, callee = int(edges.source[place]), int(edges.target[place])
            found = None if graph.role(caller).value != "source" else _call(root, graph, caller, callee)
            if found is not None:
                yield Site(root.name, graph.entity(caller).id, *found, graph.entity(callee).id)
                count -= 1
            elif graph.role(caller).value == "source":
                print(f"passed over, no line has the name: {graph.entity(callee).id}", file=sys.stderr)


def _call(root: Path, graph: CodeGraph, caller: int, callee: int) -> tuple[int, str] | None:
    """The first line of the caller that calls the name, else that has it; of a constructor, its class's."""
    qualname = graph.rows.names[callee]
    name = re.escape(last_part(qualname))
    if name in ("__init__", "constructor"):
        name = f"(?:{re.escape(qualname.split('.')[-2])}|{name})"
    entity = graph.entity(caller)
    lines = (root / entity.path).read_text(encoding="utf-8", errors="replace").split("\n")
    for pattern in (rf"\b{name}\(", rf"\b{name}\b"):
        for number in range(entity.start_line, entity.end_line + 1):
            text = lines[number - 1].strip()
            if re.search(pattern, text) and not re.match(r"(def|class|from|import)\b", text):
                return number, text[:160]
    return None


def _judge(rows: Sequence[Site], path: Path) -> None:
    """Count the verdicts for these rows."""
    with path.open(encoding="utf-8", newline="") as stream:
        verdicts = {(row["caller"], row["callee"]): row["verdict"] for row in csv.DictReader(stream)}
    found = [verdicts.get((row.caller, row.callee), "") for row in rows]
    right, wrong = found.count("right"), found.count("wrong")
    judged = right + wrong
    print(f"{right} right, {wrong} wrong, {len(found) - judged} not judged", end="")
    print(f": {100 * right / judged:.1f} %" if judged else "")


def main() -> None:
    """Parse the arguments, sample, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=50, help="of all checkouts together")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    each, more = divmod(arguments.count, len(arguments.checkouts))
    rows = [
        site
        for number, root in enumerate(arguments.checkouts)
        for site in sites(root.resolve(), each + (number < more), rng)
    ]
    if arguments.csv:
        _judge(rows, arguments.csv)
        return
    writer = csv.writer(sys.stdout)
    writer.writerow((*FIELDS, "verdict", "why"))
    writer.writerows((*row, "", "") for row in rows)


if __name__ == "__main__":
    main()
