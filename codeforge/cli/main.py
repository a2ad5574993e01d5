"""The entry point: builds the application, and turns every failure into a message and an exit status."""

import sys
from collections.abc import Sequence

import typer

from codeforge.errors import CodeforgeError, ExitCode

# Typer carries its own click and names only this subclass of its usage errors; the base is the third.
_UsageFailure = typer.BadParameter.__mro__[2]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(argv))


def run(argv: list[str]) -> int:
    """Run the command line `argv` (without the program's name) and return the exit status."""
    from codeforge.cli.app import build_app
    from codeforge.cli.failure import report_failure

    try:
        status = build_app()(args=argv, prog_name="codeforge", standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except CodeforgeError as error:
        report_failure(error, as_json="--json" in argv)
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        sys.stderr.write("\nInterrupted. What was recorded so far is kept; nothing more was changed.\n")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`codeforge … | head`): not a failure of ours.
        sys.stderr.close()
        return int(ExitCode.SOLVED)
    except Exception as error:
        if not isinstance(error, _UsageFailure):
            raise
        error.show()  # type: ignore[attr-defined]
        return int(ExitCode.USAGE)
    return status if isinstance(status, int) else int(ExitCode.SOLVED)
