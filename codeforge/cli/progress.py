"""Events of a run on stderr: one short line each; a live line for what streams, on a terminal only."""

import sys
from types import TracebackType

from codeforge.engine.events import (
    BaselineChecked,
    CandidateChecked,
    ContextCompiled,
    Event,
    Located,
    ModelAnswered,
    ModelAsked,
    ModelText,
    MutantsScreened,
    Notice,
    ProposalRefused,
    TestCommandChosen,
)
from codeforge.sandbox.model import CheckResult


class Progress:
    """Writes to stderr, so that stdout stays free for the result."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._pieces = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def say(self, text: str) -> None:
        """Print one line as it is."""
        self._line(text)

    def note(self, text: str) -> None:
        """Say one line."""
        self._line(f"note: {text}")

    def show(self, event: Event) -> None:
        """Render one event."""
        if isinstance(event, ModelText):
            self._pieces += 1
            if self._live and self._pieces % 8 == 0:
                sys.stderr.write(f"\r  writing… {self._pieces} tokens")
                sys.stderr.flush()
            return
        text = describe(event)
        if text:
            self._line(text)

    def _line(self, text: str) -> None:
        if self._quiet:
            return
        self._clear()
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def _clear(self) -> None:
        if self._live and self._pieces:
            sys.stderr.write("\r\x1b[2K")
        self._pieces = 0


def describe(event: Event) -> str:
    """One line about an event; "" for what isn't worth one."""
    match event:
        case Notice(text):
            return f"note: {text}"
        case TestCommandChosen(command, why):
            return f"checks: {command} ({why})" if command else f"checks: none ({why})"
        case BaselineChecked(check):
            return f"before: {summary(check)}"
        case Located(locations):
            named = [
                f"{item.entity.path}:{item.entity.start_line} {item.entity.qualname}"
                for item in locations[:3]
            ]
            return "located: " + "; ".join(named) if named else "located: nothing stands out"
        case ContextCompiled(tokens, budget, _, cut):
            return f"context: {tokens} of {budget} tokens" + (f", {len(cut)} pieces left out" if cut else "")
        case MutantsScreened(tried, passing, elapsed_s):
            return f"mutations: {tried} tried in {elapsed_s:.1f} s, {passing} pass"
        case ModelAsked(model, _, samples, round_):
            return f"asking {model} for {samples} answer(s), round {round_}"
        case ProposalRefused(_, reason):
            return f"  answer refused: {' '.join(reason.split())[:300]}"
        case CandidateChecked(candidate):
            unchecked = "rejected" if candidate.checks else "unverified"
            mark = "accepted" if candidate.reward.accepted else unchecked
            return f"  {candidate.id} ({candidate.origin.operator}) {mark}: {candidate.reward.diagnosis}"
        case ModelAnswered() | ModelText():
            return ""


def summary(check: CheckResult) -> str:
    """A check in a few words."""
    if check.timed_out:
        return f"timed out after {check.duration_s:.0f} s"
    if check.stopped_because:
        return f"was stopped: {check.stopped_because}"
    if not check.outcomes:
        return "passes" if check.passed else f"fails (exit status {check.exit_code})"
    failing = len(check.failing)
    counted = f"{len(check.outcomes)} test(s)"
    return f"{counted}, {failing} failing" if failing else f"{counted}, all pass"
