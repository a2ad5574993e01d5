"""Build one small git repository per HumanEvalFix (Python) problem, from a checkout of OctoPack.

    python benchmarks/humanevalfix_repos.py --octopack DIR --out DIR --hidden DIR [--sample 40] [--seed 7]

HumanEvalFix (Muennighoff et al. 2023) is HumanEval with one defect put into each solution by hand. Nothing in
codeforge was made with it in view, so it tells how far the mechanism carries. Each repository holds `NAME.py`
and `test_NAME.py` with every second assertion of the problem's test, one test each; all assertions go to
`HIDDEN/test_NAME.py`, so that a patch that only fits what it saw is found out:

    python benchmarks/quixbugs.py --repos OUT --only fix --out results.jsonl
    python benchmarks/humanevalfix_repos.py --judge results.jsonl --out OUT --hidden DIR
"""

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = "evaluation/create/humaneval-x/data/python/data/humanevalpack.jsonl"


def assertions(test: str) -> tuple[list[str], list[str]]:
    """The statements of the problem's test before its check function, and the check's assertions."""
    tree = ast.parse(test)
    before = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    found = [ast.unparse(node) for check in checks for node in check.body if isinstance(node, ast.Assert)]
    whole = all(isinstance(node, ast.Assert | ast.Expr) for check in checks for node in check.body)
    return before, [text for text in found if text != "assert True"] if whole else []


def test_source(name: str, imports: list[str], checks: list[str]) -> str:
    """A pytest file with one test an assertion."""
    lines = [*imports, f"from {name} import {name}", "", "candidate = " + name]
    for number, text in enumerate(checks):
        lines += ["", "", f"def test_{number}():", f"    {text}"]
    return "\n".join(lines) + "\n"


def build(row: dict[str, str], out: Path, hidden: Path) -> bool:
    """Write one problem; False when its test has another shape than a list of assertions."""
    name = row["entry_point"]
    imports, checks = assertions(row["test"])
    if len(checks) < 4:
        return False
    folder = out / name
    folder.mkdir(parents=True)
    source = row["prompt"] + row["buggy_solution"]
    (folder / f"{name}.py").write_text(source.lstrip())
    (folder / f"test_{name}.py").write_text(test_source(name, imports, checks[::2]))
    (folder / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    (hidden / f"test_{name}.py").write_text(test_source(name, imports, checks))
    identity = ["-c", "user.name=HumanEvalFix", "-c", "user.email=bench@example.invalid"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)
    return True


def judge(results: Path, out: Path, hidden: Path, python: str) -> None:
    """Run the hidden tests on every patch that passed the visible ones."""
    solved, right, wrong = 0, 0, []
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    for row in rows:
        diff = row.get("fix", {}).get("diff")
        if not diff or not row["fix"]["solved"]:
            continue
        solved += 1
        with tempfile.TemporaryDirectory() as place:
            shutil.copy(out / row["program"] / f"{row['program']}.py", place)
            subprocess.run(["git", "apply", "-"], cwd=place, input=diff, text=True, check=True)
            shutil.copy(hidden / f"test_{row['program']}.py", place)
            done = subprocess.run(
                [python, "-m", "pytest", "-q", "-x"], cwd=place, capture_output=True, check=False
            )
        right += done.returncode == 0
        if done.returncode:
            wrong.append(f"{row['program']} ({row['fix']['origin']}: {row['fix']['operator']})")
    print(f"visible tests pass: {solved} of {len(rows)}; hidden tests pass too: {right}")
    print("pass only what they saw: " + (", ".join(wrong) or "none"))


def main() -> None:
    """Build, or judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--octopack", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hidden", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--judge", type=Path, help="a results file of quixbugs.py")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has pytest")
    arguments = parser.parse_args()
    if arguments.judge:
        judge(arguments.judge, arguments.out, arguments.hidden, arguments.python)
        return
    if arguments.octopack is None:
        parser.error("--octopack is needed to build")
    rows = [json.loads(line) for line in (arguments.octopack / DATA).read_text().splitlines()]
    random.Random(arguments.seed).shuffle(rows)
    arguments.hidden.mkdir(parents=True)
    built = 0
    for row in rows:
        built += build(row, arguments.out, arguments.hidden)
        if built == arguments.sample:
            break
    print(f"{built} repositories in {arguments.out}")


if __name__ == "__main__":
    main()
