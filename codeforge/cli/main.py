"""The entry point: builds the application, and turns every failure into a message and an exit status."""

import os
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

import typer

from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, ExitCode, UsageError

# Typer names only this subclass of its usage errors; their base is the third class up.
_UsageFailure = typer.BadParameter.__mro__[2]
GRAPH_THREAD = "codeforge-graph"
"""The name of the thread in which `GraphWorkspace` works; a cold index can take it seconds."""
_INTERRUPTED = "What was recorded so far is kept; nothing more was changed."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    _forgive_streams()
    status = run(argv)
    if status == ExitCode.INTERRUPTED and _graph_is_busy():
        # What it would still write is a transaction of the index: cut off, it was never begun.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _forgive_streams() -> None:
    """Let nothing that is printed raise: what an encoding lacks is escaped, a closed stream swallows."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 to the end
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _graph_is_busy() -> bool:
    return any(thread.name.startswith(GRAPH_THREAD) for thread in threading.enumerate())


def run(argv: list[str]) -> int:
    """Run the command line `argv` (without the program's name) and return the exit status."""
    from codeforge.cli.app import build_app
    from codeforge.cli.failure import report_failure

    as_json = "--json" in argv
    try:
        status = build_app()(args=argv, prog_name="codeforge", standalone_mode=False)
    except typer.Exit as stop:
        # Typer makes an exit of its own out of Ctrl-C.
        return _interrupted(as_json=as_json) if stop.exit_code == ExitCode.INTERRUPTED else stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted(as_json=as_json)
    except CodeforgeError as error:
        report_failure(error, as_json=as_json)
        return int(error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (`codeforge … | head`): not a failure of ours.
        sys.stderr.close()
        return int(ExitCode.SOLVED)
    except OSError as error:
        report_failure(_environment(error), as_json=as_json)
        return int(ExitCode.ENVIRONMENT)
    except Exception as error:
        if not isinstance(error, _UsageFailure):
            raise
        return _usage(error, as_json=as_json)
    if status == ExitCode.INTERRUPTED:
        return _interrupted(as_json=as_json)
    return status if isinstance(status, int) else int(ExitCode.SOLVED)


def _environment(error: OSError) -> EnvironmentUnavailableError:
    """What to tell of an error of the system."""
    try:
        Path.cwd()
    except OSError:
        return EnvironmentUnavailableError("The current folder is gone.", hint="change to one that is there")
    return EnvironmentUnavailableError(f"{error}.", hint="codeforge doctor")


def _usage(error: Exception, *, as_json: bool) -> int:
    from codeforge.cli.failure import error_document, print_error_document

    error.show()  # type: ignore[attr-defined]
    if as_json:
        told = UsageError(error.format_message(), kept="nothing was run")  # type: ignore[attr-defined]
        print_error_document(error_document(told))
    return int(ExitCode.USAGE)


def _interrupted(*, as_json: bool) -> int:
    from codeforge.cli.failure import print_error_document

    sys.stderr.write(f"\nInterrupted. {_INTERRUPTED}\n")
    if as_json:
        document: dict[str, object] = {"kind": "Interrupted", "message": "Interrupted.", "kept": _INTERRUPTED}
        print_error_document(document | {"hint": "", "exit_code": int(ExitCode.INTERRUPTED)})
    return int(ExitCode.INTERRUPTED)
