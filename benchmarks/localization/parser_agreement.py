"""Whether the Python parser finds what Python's own `ast` finds.

    python benchmarks/localization/parser_agreement.py CHECKOUT... [--show 20]

For each `.py` and `.pyi` file of the checkouts that `ast` parses: the classes and functions by kind,
qualified name and first line (of their decorators, when there are any); then whether they end on the same
line (but for comments, which belong to the body here and to nothing in `ast`). Files that `ast` refuses are
counted, and what is found in them. Exits with 1 when anything differs.
"""

import argparse
import ast
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import Parser, parser_for
from codeforge.localize.read import decode_source, read_source

Place = tuple[str, str, int]
"""Kind, qualified name, first line."""
_KINDS = {EntityKind.CLASS: "class", EntityKind.FUNCTION: "def"}


@dataclass
class Row:
    """The figures of one checkout."""

    files: int = 0
    refused: int = 0
    from_refused: int = 0
    entities: int = 0
    missing: int = 0
    extra: int = 0
    other_end: int = 0
    cpu: float = 0.0
    differences: list[str] = field(default_factory=list)


def expected(tree: ast.AST, qualname: str = "") -> Iterator[tuple[Place, int]]:
    """What `ast` finds, with last lines."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from expected(node, qualname)
            continue
        name = f"{qualname}.{node.name}" if qualname else node.name
        kind = "class" if isinstance(node, ast.ClassDef) else "def"
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield (kind, name, first), node.end_lineno or first
        yield from expected(node, name)


def only_comments(text: str, after: int, last: int) -> bool:
    """Whether the lines behind `after`, up to `last`, have no code: `ast` has no comments in its nodes."""
    lines = (line.strip() for line in text.split("\n")[after:last])
    return after <= last and not any(line and not line.startswith("#") for line in lines)


def compare(root: Path, parser: Parser) -> Row:
    """Compare on every Python file below `root`."""
    row = Row()
    for path in sorted(p for ending in ("*.py", "*.pyi") for p in root.rglob(ending)):
        name = path.relative_to(root).as_posix()
        raw = read_source(root, name, max_bytes=10**9)
        text = decode_source(raw, name) if raw is not None else None
        if text is None:
            continue
        row.files += 1
        begin = time.process_time()
        parsed = parser.parse(text.encode())
        row.cpu += time.process_time() - begin
        ours = [((_KINDS[e.kind], e.qualname, e.start_line), e.end_line) for e in parsed.entities]
        try:
            theirs = list(expected(ast.parse(text)))
        except (SyntaxError, ValueError):
            row.refused += 1
            row.from_refused += len(ours)
            continue
        row.entities += len(theirs)
        mine, wanted = Counter(place for place, _ in ours), Counter(place for place, _ in theirs)
        missing, extra = wanted - mine, mine - wanted
        row.missing += missing.total()
        row.extra += extra.total()
        row.differences += [f"missing {name}:{first} {kind} {q}" for kind, q, first in missing]
        row.differences += [f"extra {name}:{first} {kind} {q}" for kind, q, first in extra]
        if not missing and not extra:
            ends = [
                f"end {name}:{place[2]} {place[1]} ends at {last}, not at {end}"
                for (place, last), (_, end) in zip(sorted(ours), sorted(theirs), strict=True)
                if not only_comments(text, end, last)
            ]
            row.other_end += len(ends)
            row.differences += ends
    return row


def main() -> int:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("checkouts", nargs="+", type=Path)
    arguments.add_argument("--show", type=int, default=10, help="differences to print for each checkout")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")  # invalid escapes in what is read
    parser = parser_for("a.py")
    assert parser is not None
    print(
        f"{'checkout':12} {'files':>6} {'refused':>7} {'(found)':>7} {'by ast':>7} {'missing':>7}"
        f" {'extra':>5} {'end':>4} {'agree %':>8} {'CPU s':>6}"
    )
    differs = False
    for root in options.checkouts:
        row = compare(root, parser)
        agreed = 100 * (1 - (row.missing + row.extra) / max(1, row.entities))
        print(
            f"{root.name[:12]:12} {row.files:6} {row.refused:7} {row.from_refused:7} {row.entities:7}"
            f" {row.missing:7} {row.extra:5} {row.other_end:4} {agreed:8.3f} {row.cpu:6.2f}"
        )
        for line in row.differences[: options.show]:
            print(f"    {line}")
        differs |= bool(row.differences)
    return differs


if __name__ == "__main__":
    sys.exit(main())
