"""codeforge's own time in one `fix`: everything but model tokens and test commands.

    python benchmarks/overhead.py [--files 200] [--runs 5]

A synthetic repository of that many Python files, one defect, a test command that takes no time worth
mentioning, and a replayed answer. Three figures a run, of a real process: what the run itself reports, and
the whole process's wall-clock time less its model and test seconds (start of Python and imports included);
and in the same run, as a yardstick, `python -c "import typer, pydantic"`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANSWER = """\
pkg/module_0.py
<<<<<<< SEARCH
    return total / (len(values) + 1)
=======
    return total / len(values)
>>>>>>> REPLACE
"""

MODULE = '''\
"""Module {number}."""


class Worker{number}:
    """Does work number {number}."""

    def run(self, items):
        """Handle every item."""
        return [self.step(item) for item in items]

    def step(self, item):
        """Handle one item."""
        return (item, {number})


def helper_{number}(values, factor={number}):
    """Scale the values."""
    return [value * factor for value in values]
'''

DEFECT = """

def mean(values):
    total = 0
    for value in values:
        total += value
    return total / (len(values) + 1)
"""

CHECK = "from pkg.module_0 import mean\n\nassert mean([2, 4]) == 3\n"


def build(root: Path, files: int) -> None:
    """Write and commit the repository."""
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").write_text("")
    for number in range(files - 2):
        body = MODULE.format(number=number) + (DEFECT if number == 0 else "")
        (root / "pkg" / f"module_{number}.py").write_text(body)
    (root / "check.py").write_text(CHECK)
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True)


def run_once(root: Path, replay: Path) -> tuple[float, float, float]:
    """(seconds codeforge reports as its own, process seconds less model and tests, seconds in all)."""
    command = [
        sys.executable,
        "-m",
        "codeforge",
        "fix",
        "mean is too small",
        "--json",
        "--dry-run",
        "-n",
        "1",
    ]
    command += ["--test", f"{sys.executable} check.py", "--model", f"replay:{replay}"]
    started = time.monotonic()
    environment = {**os.environ, "CODEFORGE_MUTATIONS": "0"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    elapsed = time.monotonic() - started
    seconds = json.loads(done.stdout)["seconds"]
    return seconds["codeforge"], elapsed - seconds["model"] - seconds["tests"], elapsed


def yardstick() -> float:
    """Seconds of importing two libraries that every command needs."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "import typer, pydantic"], check=True)
    return time.monotonic() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CODEFORGE_DATA_DIR"] = str(Path(folder) / "data")
        root, replay = Path(folder) / "repo", Path(folder) / "answers.jsonl"
        build(root, arguments.files)
        replay.write_text(json.dumps({"text": ANSWER}) + "\n")
        cold = run_once(root, replay)
        warm = [run_once(root, replay) for _ in range(arguments.runs)]
        base = statistics.median(yardstick() for _ in range(arguments.runs))
    own, process, total = (statistics.median(column) for column in zip(*warm, strict=True))
    print(f"{arguments.files} files, median of {arguments.runs} warm runs (cold in brackets), seconds")
    print(f"in the run:       {own:.3f} ({cold[0]:.3f})")
    print(f"whole process:    {process:.3f} ({cold[1]:.3f})")
    print(f"with tests:       {total:.3f} ({cold[2]:.3f})")
    print(
        f"yardstick:        {base:.3f}  (import typer, pydantic); process / yardstick = {process / base:.1f}"
    )


if __name__ == "__main__":
    main()
