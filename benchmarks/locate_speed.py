"""Wall-clock of `codeforge locate` on a repository of 2,000 files, cold and warm, against plain `git grep`.

    python benchmarks/locate_speed.py

The repository is made the same way every time. Times include the interpreter's start and all imports.
"""

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

_NOUNS = """
account address archive balance batch budget buffer cache channel client cluster command config context
counter cursor customer database decoder delivery device discount document encoder engine event export
factory field filter formatter gateway handler header history import index invoice item journal key
ledger limit listener loader locale lock manager message metric migration model monitor network node
option order packet page parser patch payment permission plugin policy pool price process profile
project protocol provider queue query quota record region registry report request resolver resource
response route rule schedule schema scope session shard signal snapshot socket source stream table task
template tenant ticket token tracker transaction transport user validator value version window worker
"""
_VERBS = "add apply build check clear close count create decode drop emit fetch find flush get join load"
WORDS = _NOUNS.split()
VERBS = _VERBS.split()
ISSUE = (
    "Discounted invoices get a wrong total\n\nWhen a customer has a quota, `apply_discount_invoice` loads "
    "the price twice, so the balance in the ledger report is wrong after the session is closed."
)


def module_source(rng: random.Random, number: int) -> str:
    """A module of two classes with five methods each and four functions: about 150 lines."""
    lines = [f'"""Module {number}: {rng.choice(WORDS)} and {rng.choice(WORDS)}."""', "", "import json", ""]
    for _ in range(2):
        lines += [f"class {rng.choice(WORDS).title()}{rng.choice(WORDS).title()}{number}:", ""]
        for method in range(5):
            lines += function_source(rng, f"{rng.choice(VERBS)}_{rng.choice(WORDS)}_{method}", "    ")
    for _ in range(4):
        lines += function_source(rng, f"{rng.choice(VERBS)}_{rng.choice(WORDS)}_{rng.choice(WORDS)}", "")
    return "\n".join(lines) + "\n"


def function_source(rng: random.Random, name: str, indent: str) -> list[str]:
    """One function of about ten lines."""
    first, second, third = rng.sample(WORDS, 3)
    receiver = "self, " if indent else ""
    body = [
        f"def {name}({receiver}{first}, {second}=None):",
        f'    """Will {rng.choice(VERBS)} the {first} of a {third}, and {rng.choice(VERBS)} its {second}."""',
        f"    if {second} is None:",
        f"        {second} = {rng.choice(VERBS)}_{third}({first})",
        f"    {third}_total = sum(item.{third} for item in {first})",
        f"    for {third} in {first}.{second}s:",
        f"        {third}_total += {third}.{rng.choice(WORDS)} * {rng.randrange(100)}",
        f"    # keep the {rng.choice(WORDS)} in step with the {rng.choice(WORDS)}",
        f"    return json.dumps({{'{third}': {third}_total}})",
        "",
    ]
    return [f"{indent}{line}" if line else line for line in body]


def make_repository(root: Path, files: int) -> int:
    """Write and commit the repository; the bytes written."""
    rng = random.Random(2000)
    written = 0
    for number in range(files):
        path = root / f"pkg_{number % 40:02}" / f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{number}.py"
        path.parent.mkdir(exist_ok=True)
        written += path.write_text(module_source(rng, number), encoding="utf-8")
    git = ["git", "-C", str(root), "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "all"], check=True)
    return written


def timed(command: Sequence[str], root: Path) -> float:
    """Seconds that `command` takes in `root`."""
    started = time.perf_counter()
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Make the repository, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    locate = [sys.executable, "-m", "codeforge", "locate", ISSUE]
    grep = ["git", "grep", "-n", "-E", "discount|invoice"]
    with tempfile.TemporaryDirectory(prefix="codeforge-bench-") as folder:
        root = Path(folder)
        size = make_repository(root, arguments.files)
        print(f"{arguments.files} files, {size / 1e6:.1f} MB")
        cold = timed(locate, root)
        warm = [timed(locate, root) for _ in range(arguments.runs)]
        start = [timed([sys.executable, "-c", "pass"], root) for _ in range(arguments.runs)]
        plain = [timed(grep, root) for _ in range(arguments.runs)]
        index = root / ".codeforge"
        on_disk = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
        shutil.rmtree(index)
    median = statistics.median(warm)
    print(f"locate, cold (no index)  {cold:7.2f} s")
    print(f"locate, warm             {median:7.3f} s median of {len(warm)}, {min(warm):.3f} best")
    print(f"python -c pass           {statistics.median(start):7.3f} s")
    print(f"git grep                 {statistics.median(plain):7.3f} s")
    print(f"warm locate / git grep   {median / statistics.median(plain):7.1f}")
    print(f"index on disk            {on_disk / 1e6:7.1f} MB")


if __name__ == "__main__":
    main()
