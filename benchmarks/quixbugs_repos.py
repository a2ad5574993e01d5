"""Build one small git repository per QuixBugs Python program, from a checkout of QuixBugs.

    python benchmarks/quixbugs_repos.py --quixbugs DIR --out DIR [--correct] [NAME ...]

Each repository holds `NAME.py` (the buggy program, byte for byte; the right one with `--correct`) and
`test_NAME.py`: the upstream test with the JSON cases written into it, so that nothing outside the
repository is needed. The few cases that upstream marks as too slow are left out. Nothing of QuixBugs
is kept in this project.
"""

import argparse
import ast
import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path


def program_names(quixbugs: Path) -> list[str]:
    """The programs that have both a buggy and a right version and a test."""
    tests = sorted((quixbugs / "python_testcases").glob("test_*.py"))
    return [path.stem.removeprefix("test_") for path in tests]


def build_repository(quixbugs: Path, name: str, out: Path, *, correct: bool = False) -> Path:
    """Write and commit the repository of one program at `out/name`, and return it."""
    folder = out / name
    folder.mkdir(parents=True)
    programs = "correct_python_programs" if correct else "python_programs"
    (folder / f"{name}.py").write_bytes((quixbugs / programs / f"{name}.py").read_bytes())
    (folder / f"test_{name}.py").write_text(self_contained_test(quixbugs, name), encoding="utf-8")
    (folder / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n", encoding="utf-8")
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", f"Add {name}"]):
        _git(folder, arguments)
    return folder


def _git(folder: Path, arguments: Sequence[str]) -> None:
    identity = ["-c", "user.name=QuixBugs", "-c", "user.email=quixbugs@example.invalid"]
    subprocess.run(["git", *identity, "-c", "commit.gpgsign=false", *arguments], cwd=folder, check=True)


def self_contained_test(quixbugs: Path, name: str) -> str:
    """The upstream test of `name`, with its imports, helper class and JSON cases written out."""
    source = (quixbugs / "python_testcases" / f"test_{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines: list[str | None] = list(source.splitlines())
    slow = [node for node in ast.walk(tree) if _is_skip(node)]
    skipped = [_skipped_input(node) for node in slow]
    for node in [*slow, *tree.body]:
        replacement = _replacement(node, quixbugs, name, skipped)
        if replacement is not None:
            _splice(lines, node, replacement)
    kept = "\n".join(line for line in lines if line is not None) + "\n"
    return kept if "pytest." in kept else kept.replace("import pytest\n", "", 1).lstrip("\n")


def _replacement(node: ast.AST, quixbugs: Path, name: str, skipped: Sequence[object]) -> str | None:
    if isinstance(node, ast.If):
        return "" if _is_skip(node) else f"from {name} import {name}"
    if isinstance(node, ast.ImportFrom) and node.module == "load_testdata":
        return ""
    if isinstance(node, ast.ImportFrom) and node.module == "node":
        return (quixbugs / "python_testcases" / "node.py").read_text(encoding="utf-8").rstrip()
    if isinstance(node, ast.Assign) and "load_json_testcases" in ast.unparse(node.value):
        return _cases(quixbugs / "json_testcases" / f"{name}.json", skipped)
    return None


def _cases(path: Path, skipped: Sequence[object]) -> str:
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [
        f"    ({arguments!r}, {expected!r})," for arguments, expected in cases if arguments not in skipped
    ]
    return "\n".join(["testdata = [", *rows, "]"])


def _is_skip(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "pytest.skip" in ast.unparse(node.body[0])


def _skipped_input(node: ast.AST) -> object:
    """The literal that the condition of a skip compares the input with."""
    compares = [found for found in ast.walk(node) if isinstance(found, ast.Compare)]
    return ast.literal_eval(compares[0].comparators[0])


def _splice(lines: list[str | None], node: ast.AST, text: str) -> None:
    """Put `text` in place of the whole lines of `node`; removed lines become `None`."""
    first, last = node.lineno - 1, node.end_lineno  # type: ignore[attr-defined]
    lines[first:last] = [text or None] + [None] * (last - first - 1)


def main(argv: Iterable[str] | None = None) -> None:
    """Build the repositories named on the command line (all of them by default)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quixbugs", type=Path, required=True, help="a checkout of QuixBugs")
    parser.add_argument("--out", type=Path, required=True, help="an empty or new folder")
    parser.add_argument("--correct", action="store_true", help="the right programs (tests must pass)")
    parser.add_argument("names", nargs="*", help="programs (default: all)")
    options = parser.parse_args(None if argv is None else list(argv))
    names = options.names or program_names(options.quixbugs)
    for name in names:
        build_repository(options.quixbugs, name, options.out, correct=options.correct)
    print(f"{len(names)} repositories in {options.out}")


if __name__ == "__main__":
    main()
