"""Running a test command under the probe: which commands can, and with what environment."""

import itertools
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

PLUGIN = "_codeforge_probe"
# They start Python in an environment of their own, into which our variables reach only in part.
_OPAQUE_RUNNERS = frozenset({"tox", "nox", "make", "docker", "podman"})


def is_pytest_command(command: str) -> bool:
    """Whether this shell command line runs pytest itself, in an environment that we can set."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    names = [PurePosixPath(word).name for word in words]
    if any(name in _OPAQUE_RUNNERS for name in names):
        return False
    if any(name.startswith("python") and _isolated(words[place + 1 :]) for place, name in enumerate(names)):
        return False
    direct = any(
        name in ("pytest", "py.test") and words[place - 1] != "-m" for place, name in enumerate(names)
    )
    return direct or any(pair == ("-m", "pytest") for pair in itertools.pairwise(words))


def _isolated(arguments: Sequence[str]) -> bool:
    """Whether Python's own options make it ignore `PYTHONPATH`."""
    for word in arguments:
        if not word.startswith("-") or word == "-m":
            return False
        if word in ("-I", "-E") or (not word.startswith("--") and set("IE") & set(word[1:])):
            return True
    return False


def plugin_folder() -> Path:
    """The folder that holds the plugin and nothing else."""
    return Path(__file__).parent / "plugin"


def probe_env(
    out: Path,
    *,
    root: Path | None = None,
    only: Sequence[str] = (),
    first: Sequence[str] = (),
    fail_fast: bool = False,
    coverage: bool = True,
    test_limit_s: float = 5.0,
    max_events: int = 200_000,
    base: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The variables that put a pytest command under the probe.

    The plugin's folder must be readable and `out`'s folder writable from inside the cage, under the same
    paths. Lists of tests are written beside `out`.

    Args:
        out: where the records go (JSON Lines, appended: use a new file each run).
        root: the repository as the command sees it (inside bubblewrap: the user's path); the working
            directory of the command when `None`.
        only: node ids; every other test is deselected.
        first: node ids to run before the others.
        fail_fast: stop after the first failure.
        coverage: record the lines that run.
        test_limit_s: seconds for each phase of a test before it counts as hanging (raised to 20 times
            the longest test that passed so far, lowered once tests hang); 0 turns it off.
        max_events: before Python 3.12, line events of one test after which its tracing stops.
        base: variables already set; `PYTHONPATH` and `PYTEST_ADDOPTS` are joined with theirs.

    Returns:
        only the variables that change.
    """
    added = {
        "PYTHONPATH": str(plugin_folder()),
        "PYTEST_ADDOPTS": f"-p {PLUGIN}",
        "CODEFORGE_PROBE_OUT": str(out),
        "CODEFORGE_PROBE_COVERAGE": "1" if coverage else "0",
        "CODEFORGE_PROBE_FAIL_FAST": "1" if fail_fast else "0",
        "CODEFORGE_PROBE_TEST_LIMIT": repr(float(test_limit_s)),
        "CODEFORGE_PROBE_EVENTS": str(max_events),
    }
    if root is not None:
        added["CODEFORGE_PROBE_ROOT"] = str(root)
    for variable, suffix, tests in (
        ("CODEFORGE_PROBE_ONLY", ".only", only),
        ("CODEFORGE_PROBE_FIRST", ".first", first),
    ):
        if tests:
            listing = out.with_name(out.name + suffix)
            listing.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
            added[variable] = str(listing)
    return join_env(base or {}, added)


def join_env(base: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """`added`, with `PYTHONPATH` put before, and `PYTEST_ADDOPTS` after, what `base` already has."""
    joined = dict(added)
    if base.get("PYTHONPATH") and "PYTHONPATH" in added:
        joined["PYTHONPATH"] = added["PYTHONPATH"] + os.pathsep + base["PYTHONPATH"]
    if base.get("PYTEST_ADDOPTS") and "PYTEST_ADDOPTS" in added:
        joined["PYTEST_ADDOPTS"] = f"{base['PYTEST_ADDOPTS']} {added['PYTEST_ADDOPTS']}"
    return joined
