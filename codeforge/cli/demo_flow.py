"""The demonstration, step by step."""

import json
import sys
from dataclasses import replace

from codeforge.cli.fix_flow import FixArguments, cancelled_by_interrupt, exit_status, fix_order
from codeforge.cli.progress import Progress, summary
from codeforge.cli.report import result_document, show_result
from codeforge.demo.scene import ISSUE, TEST_COMMAND, write_scene
from codeforge.engine.session import FixedSession, fix_in_repository

DEMO_MODEL = "qwen2.5-coder-1.5b"
"""What the README promises: about 1.1 GB, whatever else would fit the machine."""


def run_demo_command(model: str | None, *, as_json: bool) -> int:
    """Run the demonstration and return the exit status of the fix."""
    from codeforge.models.progress import terminal_progress
    from codeforge.models.pull import ensure_model

    name = ensure_model(model or DEMO_MODEL, terminal_progress())
    folder = write_scene()
    progress = Progress(quiet=False)
    progress.say(f"repository: {folder}")
    progress.say(f"issue:      {ISSUE}")
    order, notices = fix_order(_arguments(name), ISSUE, folder)
    # The point of the demonstration is the model; mutations of single lines would often be quicker.
    order = replace(order, command="demo", options=replace(order.options, mutations=0))
    for notice in notices:
        progress.note(notice)
    with cancelled_by_interrupt() as cancel, progress:
        done = fix_in_repository(order, progress.show, cancel)
    if as_json:
        sys.stdout.write(json.dumps(result_document(done, None), indent=2) + "\n")
    else:
        _show(done)
    return exit_status(done)


def _arguments(model: str) -> FixArguments:
    return FixArguments(
        issue=ISSUE,
        issue_file="",
        test=TEST_COMMAND,
        model=model,
        candidates=None,
        rounds=None,
        budget_tokens=None,
        timeout_s=None,
        scope=(),
        seed=None,
        apply=False,
        commit=False,
        dry_run=True,
        as_json=False,
    )


def _show(done: FixedSession) -> None:
    """Localization, diff, tests before and after, cost."""
    result = done.result
    print()  # noqa: T201
    print("where it is:")  # noqa: T201
    for item in result.locations[:3]:
        reasons = ", ".join(reason.detail for reason in item.reasons[:2])
        name = item.entity.qualname or item.entity.path
        print(f"  {item.entity.path}:{item.entity.start_line} {name} ({reasons})")  # noqa: T201
    print()  # noqa: T201
    show_result(done)
    if result.baseline is not None:
        after = result.best.checks[-1] if result.best and result.best.checks else None
        print(f"tests before: {summary(result.baseline)}")  # noqa: T201
        print(f"tests after:  {summary(after) if after else 'no patch to check'}")  # noqa: T201
    print(f"the repository is still there: cd {done.repo.root}")  # noqa: T201
