"""How a failure looks: what happened, what was kept, what to do."""

import sys

from codeforge.errors import CodeforgeError


def report_failure(error: CodeforgeError, *, as_json: bool) -> None:
    """Print `error` to stderr, and with `as_json` also as the one document on stdout."""
    sys.stderr.write(f"codeforge: {error.message}\n")
    if error.kept:
        sys.stderr.write(f"  kept: {error.kept}\n")
    if error.hint:
        sys.stderr.write(f"  try:  {error.hint}\n")
    if as_json:
        print_error_document(error_document(error))


def error_document(error: CodeforgeError) -> dict[str, object]:
    """An error as data."""
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "kept": error.kept,
        "hint": error.hint,
        "exit_code": int(error.exit_code),
    }


def print_error_document(error: dict[str, object]) -> None:
    """Print the one document of a command that failed."""
    import json
    from contextlib import suppress

    with suppress(OSError):  # a full disk behind stdout; stderr has said what happened
        sys.stdout.write(json.dumps({"schema_version": 1, "error": error}, indent=2) + "\n")
        sys.stdout.flush()
