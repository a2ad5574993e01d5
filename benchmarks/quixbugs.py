"""QuixBugs: `codeforge fix` against two baselines with the same model, in one run.

    python benchmarks/quixbugs_repos.py --quixbugs CHECKOUT --out REPOS
    python benchmarks/quixbugs.py --repos REPOS --model qwen2.5-coder-1.5b --out results.jsonl

Per program, in this order: the model asked once (temperature 0), nine plain independent samples checked by
the tests (the first of them is the greedy one), and `codeforge fix` as a process of its own with at most
eight model answers. The baselines' prompt holds the issue text and the whole file; sampling ends at the
first sample that passes, which changes neither baseline's result. Rows are appended as they come, and a
program that already has its row is skipped, so that an interrupted run goes on.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from codeforge.errors import CodeforgeError
from codeforge.git import GitRepo
from codeforge.localize.entity_source import RepoEntitySource
from codeforge.models.protocol import ChatModel, ChatRequest, Message
from codeforge.models.registry import open_model
from codeforge.models.sampling import SampleSpec, sample_many
from codeforge.patch.apply import resolve_patch
from codeforge.patch.parse import parse_answer
from codeforge.sandbox.check import run_check
from codeforge.sandbox.model import Limits
from codeforge.sandbox.workspace import WorkspacePool

SAMPLES = 9
CALLS = 8
TEST = "python -m pytest -q"
PLAIN = (
    "Issue: {issue}\n\nFile `{path}`:\n```python\n{source}\n```\n\n"
    "Fix the bug. Answer with the corrected code."
)


def issue_of(name: str) -> str:
    """The issue text, the same for every program."""
    return f"{name} returns wrong results: see failing tests"


def plain_samples(repo: Path, model: ChatModel, test: str) -> dict[str, object]:
    """Both baselines: which sample passes first (0 is the greedy one), and what it cost."""
    name = repo.name
    source = (repo / f"{name}.py").read_text(encoding="utf-8")
    prompt = PLAIN.format(issue=issue_of(name), path=f"{name}.py", source=source.strip())
    request = ChatRequest((Message("user", prompt),), max_tokens=400)
    started = time.monotonic()
    tokens = 0
    passed: list[int] = []
    git = GitRepo.discover(repo)
    files = git.list_files()
    with WorkspacePool.open(git) as pool:
        entities = RepoEntitySource(pool.template.tree, files)
        # The greedy answer first and alone: it is the first baseline.
        for specs in ([SampleSpec(0, 0.0)], [SampleSpec(i, 0.8) for i in range(1, SAMPLES)]):
            for index, text, count in answers(model, request, specs):
                tokens += count
                if not passed and passes(pool, entities, files, text, test):
                    passed.append(index)
                if passed:
                    break
            if passed:
                break
    return {
        "once": passed == [0],
        "samples": bool(passed),
        "first_passing": passed[0] if passed else None,
        "tokens": tokens,
        "seconds": round(time.monotonic() - started, 1),
    }


def answers(
    model: ChatModel, request: ChatRequest, specs: list[SampleSpec]
) -> Iterator[tuple[int, str, int]]:
    """(seed, text, tokens) of each answer."""
    for sample in sample_many(model, request, specs):
        yield specs[sample.index].seed, sample.result.text, sample.result.usage.completion_tokens


def passes(pool: WorkspacePool, entities: RepoEntitySource, files: list[str], text: str, test: str) -> bool:
    """Whether the answer's edits apply and the tests then pass."""
    edits = parse_answer(text, entities=entities, known_paths=files).edits
    try:
        patch = resolve_patch(edits, pool.template.tree)
    except CodeforgeError:
        return False
    if any(path.startswith("test_") for path in patch.paths):
        return False
    with pool.acquire() as workspace:
        workspace.write(patch)
        return run_check(workspace, test, Limits(wall_s=60), stage="full").passed


def codeforge_fix(repo: Path, model: str, test: str) -> dict[str, object]:
    """One real `codeforge fix` process."""
    command = [sys.executable, "-m", "codeforge", "fix", issue_of(repo.name), "--json", "--dry-run"]
    command += ["--test", test, "--model", model, "-n", str(CALLS), "--timeout", "60"]
    started = time.monotonic()
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    seconds = round(time.monotonic() - started, 1)
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"solved": False, "seconds": seconds, "error": done.stderr[-500:]}
    if "error" in document:
        return {"solved": False, "seconds": seconds, "error": document["error"]["message"]}
    return {
        "solved": done.returncode == 0,
        "calls": document["model_calls"],
        "mutants": document["mutants_tried"],
        "origin": document["best"]["origin"]["proposer"] if document["best"] else None,
        "operator": document["best"]["origin"]["operator"] if document["best"] else None,
        "diff": document["best"]["diff"] if document["best"] else None,
        "usage": document["usage"],
        "parts": document["seconds"],
        "seconds": seconds,
    }


def report(rows: list[dict[str, object]]) -> str:
    """The table."""
    lines = [f"{'program':<30}{'once':>6}{'9 samples':>11}{'codeforge':>11}{'calls':>7}{'by':>10}{'s':>7}"]
    totals = {"once": 0, "samples": 0, "fix": 0}
    for row in rows:
        plain, fix = row.get("plain") or {}, row.get("fix") or {}
        totals["once"] += bool(plain.get("once"))
        totals["samples"] += bool(plain.get("samples"))
        totals["fix"] += bool(fix.get("solved"))
        lines.append(
            f"{row['program']:<30}{_mark(plain.get('once')):>6}{_mark(plain.get('samples')):>11}"
            f"{_mark(fix.get('solved')):>11}{fix.get('calls', ''):>7}{fix.get('origin') or '':>10}"
            f"{fix.get('seconds', ''):>7}"
        )
    count = len(rows)
    lines.append(
        f"solved of {count}: once {totals['once']}, 9 samples {totals['samples']}, fix {totals['fix']}"
    )
    return "\n".join(lines)


def _mark(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, "-")  # type: ignore[call-overload]


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=["plain", "fix"], help="run only one side")
    parser.add_argument("--test", default=f"{sys.executable} -m pytest -q")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    rows: dict[str, dict[str, object]] = {}
    if arguments.out.exists():
        for line in arguments.out.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["program"]] = {**rows.get(row["program"], {}), **row}
    repos = [path for path in sorted(arguments.repos.iterdir()) if (path / ".git").exists()]
    wanted = [path for path in repos if not arguments.programs or path.name in arguments.programs]
    for side in ("fix", "plain"):
        if arguments.only in (None, side):
            run_side(side, wanted, rows, arguments)
    print(report([rows[path.name] for path in wanted if path.name in rows]))


def run_side(
    side: str, repos: list[Path], rows: dict[str, dict[str, object]], arguments: argparse.Namespace
) -> None:
    """One side of the comparison over all programs; never two models in memory at once."""
    missing = [repo for repo in repos if side not in rows.get(repo.name, {})]
    if side == "fix":
        for repo in missing:
            record(arguments.out, rows, repo.name, side, codeforge_fix(repo, arguments.model, arguments.test))
        return
    if missing:
        with closing(open_model(arguments.model)) as model:
            for repo in missing:
                record(arguments.out, rows, repo.name, side, plain_samples(repo, model, arguments.test))


def record(
    out: Path, rows: dict[str, dict[str, object]], program: str, side: str, result: dict[str, object]
) -> None:
    """Append one result and keep it."""
    row = {"program": program, side: result}
    rows[program] = {**rows.get(program, {}), **row}
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps({k: v for k, v in result.items() if k not in ("diff", "usage")}), program, flush=True)


if __name__ == "__main__":
    main()
