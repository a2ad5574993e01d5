"""Print a diff: the one place that colours it."""

import sys


def show_diff(diff: str) -> None:
    """Print a diff to stdout, with colours on a terminal."""
    if not sys.stdout.isatty():
        sys.stdout.write(diff)
        return
    from rich.console import Console
    from rich.syntax import Syntax

    Console().print(Syntax(diff, "diff", theme="ansi_dark", background_color="default"))
