"""`codeforge doctor`: what works here, what is missing, what to do.

Every check really tries the thing, and none changes anything.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path

from codeforge.doctor_model import DoctorCheck, DoctorStatus
from codeforge.errors import CodeforgeError
from codeforge.paths import data_dir, database_path

OK, WARN, FAIL = DoctorStatus.OK, DoctorStatus.WARN, DoctorStatus.FAIL

_GIB = 1024**3
_DISK_NEEDED = 200 * 1024**2  # sessions and scratch trees
_DISK_WANTED = 3 * _GIB  # and a model of the default size while it is put together
_MEMORY_WANTED = 2 * _GIB
_TOOL_S = 10.0
_BACKEND_S = 60.0

_KEYS = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY"),
    *("DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "TOGETHERAI_API_KEY", "XAI_API_KEY", "AZURE_API_KEY"),
    *("COHERE_API_KEY", "FIREWORKS_AI_API_KEY", "AWS_ACCESS_KEY_ID", "HF_TOKEN"),
)


def run_checks(folder: Path) -> tuple[DoctorCheck, ...]:
    """Run every check, in the order in which a fresh machine meets them.

    Args:
        folder: where the user stands; the repository around it is checked.
    """
    checks: tuple[tuple[str, Callable[[], Iterable[DoctorCheck]]], ...] = (
        ("python", check_python),
        ("machine", check_machine),
        ("git", check_git),
        ("sandbox", check_sandbox),
        ("data", check_data_folder),
        ("database", check_database_file),
        ("llama.cpp", check_llama_cpp),
        ("models", check_models),
        ("api keys", check_api_keys),
        ("repository", lambda: check_repository(folder)),
    )
    return tuple(found for name, check in checks for found in _guarded(name, check))


def failed(checks: Iterable[DoctorCheck]) -> bool:
    """Whether something keeps codeforge from working."""
    return any(check.status is FAIL for check in checks)


def to_document(checks: Sequence[DoctorCheck]) -> dict[str, object]:
    """The JSON document of `codeforge doctor --json`."""
    rows = [{"name": c.name, "status": c.status.value, "found": c.found, "advice": c.advice} for c in checks]
    return {"schema_version": 1, "ok": not failed(checks), "checks": rows}


def to_text(checks: Iterable[DoctorCheck]) -> str:
    """The lines for people: a check a line, its advice below."""
    lines = []
    for check in checks:
        lines.append(f"{check.status.value:<5} {check.name:<11} {check.found}")
        if check.advice:
            lines.append(f"{'':<18}{check.advice}")
    return "\n".join(lines)


def _guarded(name: str, check: Callable[[], Iterable[DoctorCheck]]) -> list[DoctorCheck]:
    """A check that can't even run is a finding, not the end of the others."""
    try:
        return list(check())
    except CodeforgeError as error:
        return [DoctorCheck(name, FAIL, error.message, error.hint)]
    except (OSError, ImportError, subprocess.SubprocessError) as error:
        return [DoctorCheck(name, FAIL, f"{type(error).__name__}: {error}", "See the message.")]


def check_python() -> list[DoctorCheck]:
    """The Python that runs codeforge."""
    return [DoctorCheck("python", OK, f"{platform.python_version()} at {sys.executable}")]


def check_machine() -> list[DoctorCheck]:
    """Cores that this process may use, and memory."""
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = psutil.virtual_memory()
    found = (
        f"{cores} cores, {memory.total / _GIB:.1f} GiB of memory, {memory.available / _GIB:.1f} GiB available"
    )
    if memory.available < _MEMORY_WANTED:
        advice = "Close something, use a small model (`codeforge models list`) or a hosted one."
        return [DoctorCheck("machine", WARN, found, advice)]
    return [DoctorCheck("machine", OK, found)]


def check_git() -> list[DoctorCheck]:
    """git, and the identity that `--commit` needs."""
    if shutil.which("git") is None:
        return [DoctorCheck("git", FAIL, "git is not installed", "Install git.")]
    version = _output(["git", "--version"]).removeprefix("git version ")
    missing = [name for name in ("user.name", "user.email") if not _output(["git", "config", name])]
    if missing:
        settings = " and ".join(f"`git config --global {name} …`" for name in missing)
        found = f"{version}, but {' and '.join(missing)} not set: `--commit` would fail"
        return [DoctorCheck("git", WARN, found, f"Run {settings}.")]
    return [DoctorCheck("git", OK, version)]


def check_sandbox() -> list[DoctorCheck]:
    """How commands are caged here, tried with a real command."""
    from codeforge.sandbox.isolation import available_isolation, isolation_warning, probe_isolation
    from codeforge.sandbox.model import Isolation, Limits
    from codeforge.sandbox.runner import Cage, run_command

    isolation = available_isolation()
    with tempfile.TemporaryDirectory(prefix="codeforge-doctor-") as name:
        folder = Path(name).resolve()
        result = run_command("echo caged", Cage(folder, (folder,)), Limits(wall_s=_TOOL_S))
    if result.stdout != "caged\n":
        problem = result.stderr.strip() or f"exit status {result.exit_code}"
        return [DoctorCheck("sandbox", FAIL, f"{isolation}: a command could not be run: {problem}")]
    if isolation is Isolation.BUBBLEWRAP:
        return [DoctorCheck("sandbox", OK, "bubblewrap: no network, no writes outside the scratch tree")]
    return [
        DoctorCheck("sandbox", WARN, isolation_warning(), _sandbox_advice(probe_isolation().bubblewrap.path))
    ]


def _sandbox_advice(bwrap: str) -> str:
    if os.environ.get("CODEFORGE_SANDBOX"):
        return "Unset CODEFORGE_SANDBOX for the strongest cage."
    if not sys.platform.startswith("linux"):
        return "Run codeforge on Linux (or in a container) for repositories that you don't trust."
    if not bwrap:
        return "Install bubblewrap (Debian, Ubuntu, Fedora: the package `bubblewrap`)."
    return (
        "bwrap is installed, but the system forbids what it needs: allow user namespaces (on Ubuntu by an "
        "AppArmor profile for bwrap, in a container by a seccomp profile that allows `unshare` and `mount`)."
    )


def check_data_folder() -> list[DoctorCheck]:
    """Whether the data folder can be written, and the disk that it is on."""
    folder = data_dir()
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        found = f"{folder} can't be made: {existing} is not a folder"
        return [DoctorCheck("data", FAIL, found, "Move it, or set CODEFORGE_DATA_DIR to another folder.")]
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        advice = "Free the disk or fix its rights, or set CODEFORGE_DATA_DIR to a folder that you can write."
        return [DoctorCheck("data", FAIL, f"{folder} can't be written: {error.strerror}", advice)]
    free = shutil.disk_usage(existing).free
    found = f"{folder}, {free / _GIB:.1f} GiB free"
    if free < _DISK_WANTED:
        status = FAIL if free < _DISK_NEEDED else WARN
        return [DoctorCheck("data", status, found, "Free some disk: a model needs 1 to 2 GiB and more.")]
    return [DoctorCheck("data", OK, found)]


def check_database_file() -> list[DoctorCheck]:
    """Whether the archive opens and is whole."""
    from codeforge.archive.database import check_database

    path = database_path()
    if not path.exists():
        return [DoctorCheck("database", OK, f"none yet; {path} is made by the first session")]
    problem = check_database(path)
    if problem is None:
        return [DoctorCheck("database", OK, str(path))]
    advice = "The next session keeps a damaged database aside, under another name, and starts a new one."
    return [DoctorCheck("database", WARN, problem, advice)]


def check_llama_cpp() -> list[DoctorCheck]:
    """Whether the embedded backend loads. In a process of its own: a wrong build dies of SIGILL."""
    code = "import llama_cpp; print(llama_cpp.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_BACKEND_S,
        check=False,
    )
    if done.returncode == 0:
        return [DoctorCheck("llama.cpp", OK, f"llama-cpp-python {done.stdout.strip()}")]
    if done.returncode < 0:
        found = f"llama-cpp-python dies of signal {-done.returncode} when it is loaded"
        rebuild = "pip install --force-reinstall --no-cache-dir llama-cpp-python"
        advice = f"It was built for another processor: run `{rebuild}`."
        return [DoctorCheck("llama.cpp", FAIL, found, advice)]
    lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return [DoctorCheck("llama.cpp", FAIL, lines[-1], "Run `pip install llama-cpp-python` (it compiles).")]


def check_models() -> list[DoctorCheck]:
    """The models that are here (the model store knows)."""
    checks: list[DoctorCheck] = import_module("codeforge.models.doctor").check_models()
    return checks


def check_api_keys() -> list[DoctorCheck]:
    """Names of the keys for hosted models and the hub; never their values."""
    names = [name for name in _KEYS if os.environ.get(name)]
    if names:
        return [DoctorCheck("api keys", OK, f"set: {', '.join(names)}")]
    return [DoctorCheck("api keys", OK, "none set; local models need none")]


def check_repository(folder: Path) -> list[DoctorCheck]:
    """The repository around `folder`, and the command that would test it."""
    from codeforge.git import GitRepo
    from codeforge.sandbox.detect import detect_test_command

    try:
        repo = GitRepo.discover(folder)
        commit = repo.head_commit()
    except CodeforgeError as error:
        return [DoctorCheck("repository", WARN, error.message, error.hint)]
    place = f"{repo.root} at {commit[:10]}"
    if operation := repo.operation_in_progress():
        return [DoctorCheck("repository", WARN, f"{place}, in the middle of {operation}", "Finish it first.")]
    test = detect_test_command(repo.root, repo.list_files())
    if test is None:
        advice = 'Give one: `codeforge fix --test "command" …`; without it patches are not verified.'
        return [DoctorCheck("repository", WARN, f"{place}, no test command found", advice)]
    return [DoctorCheck("repository", OK, f"{place}, tests: `{test.command}` ({test.why})")]


def _output(argv: Sequence[str]) -> str:
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TOOL_S, check=False
    )
    return done.stdout.strip()
