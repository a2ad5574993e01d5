"""The entry point: builds the application, and turns every failure into a message and an exit status."""

import sys
from collections.abc import Sequence

from codeforge.errors import CodeforgeError, ExitCode


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(argv))


def run(argv: list[str]) -> int:
    """Run the command line `argv` (without the program's name) and return the exit status."""
    from click.exceptions import Abort, ClickException, Exit

    from codeforge.cli.app import build_app
    from codeforge.cli.failure import report_failure

    as_json = "--json" in argv
    try:
        status = build_app()(args=argv, prog_name="codeforge", standalone_mode=False)
    except Exit as stop:
        return stop.exit_code
    except CodeforgeError as error:
        report_failure(error, as_json=as_json)
        return int(error.exit_code)
    except ClickException as error:
        error.show()
        return int(ExitCode.USAGE)
    except (Abort, KeyboardInterrupt):
        sys.stderr.write("\nInterrupted. Nothing more was changed.\n")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`codeforge … | head`): not a failure of ours.
        sys.stderr.close()
        return int(ExitCode.SOLVED)
    return status if isinstance(status, int) else int(ExitCode.SOLVED)
