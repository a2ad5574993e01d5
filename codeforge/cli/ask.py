"""Questions to a person; without a terminal nothing ever waits for an answer."""

import sys


def stdin_is_terminal() -> bool:
    """Whether somebody can answer: input and error output are both a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask a yes-or-no question; no terminal, an empty answer and the end of input mean no."""
    if not stdin_is_terminal():
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
