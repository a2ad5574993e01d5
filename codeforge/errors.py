"""Errors that reach the user: what happened, what was kept, what to do, and the exit status.

Every failure that a person can meet is a `CodeforgeError`. The command line prints its three parts
and exits with its `exit_code`; nothing else decides exit statuses.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit statuses every command keeps (README, "Exit statuses")."""

    SOLVED = 0
    NO_PATCH = 1
    USAGE = 2
    ENVIRONMENT = 3
    DENIED = 4
    INTERRUPTED = 130


class CodeforgeError(Exception):
    """A failure told to the user.

    Args:
        message: what happened, one sentence.
        kept: what was kept or left unchanged ("nothing was changed"), or "".
        hint: what to do next, or "".
    """

    exit_code: ExitCode = ExitCode.ENVIRONMENT

    def __init__(self, message: str, *, kept: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.kept = kept
        self.hint = hint


class UsageError(CodeforgeError):
    """Wrong arguments or configuration."""

    exit_code = ExitCode.USAGE


class EnvironmentUnavailableError(CodeforgeError):
    """The model, git, the database or the sandbox can't be used."""

    exit_code = ExitCode.ENVIRONMENT


class PatchRefusedError(CodeforgeError):
    """A patch was refused as a whole; no file was changed."""

    exit_code = ExitCode.NO_PATCH


class PermissionDeniedError(CodeforgeError):
    """An edit scope or a permission forbids the action."""

    exit_code = ExitCode.DENIED


class ContextOverflowError(CodeforgeError):
    """The prompt does not fit the model's context window."""

    exit_code = ExitCode.USAGE
