"""The result of `fix` for a person and for a program."""

from dataclasses import asdict

from codeforge.cli.diff_view import show_diff
from codeforge.cli.progress import summary
from codeforge.engine.candidate import Candidate
from codeforge.engine.deliver import Delivered
from codeforge.engine.outcome import FixResult, FixStatus
from codeforge.engine.session import FixedSession

SCHEMA_VERSION = 1


def show_result(done: FixedSession) -> None:
    """Print the diff, how far it is proven, and what it cost."""
    result = done.result
    shown = result.best or result.nearest
    if shown is not None:
        show_diff(shown.diff)
    for line in (*_verdict(result), cost_line(result), f"session: {done.id}"):
        print(line)  # noqa: T201


def show_delivery(delivered: Delivered) -> None:
    """Print what was done with the patch, and how to take it back."""
    done_what = f"committed as {delivered.commit[:12]}" if delivered.commit else "applied"
    for line in (*delivered.notes, f"{done_what}; `codeforge undo {delivered.entry}` takes it back"):
        print(line)  # noqa: T201


def _verdict(result: FixResult) -> list[str]:
    if result.status is FixStatus.SOLVED:
        proof = (
            "the failing tests pass now, and nothing else broke"
            if result.verified_by == "tests"
            else "the tests passed before and still do; none of them shows the issue"
        )
        return [f"solved: {proof}"]
    if result.status is FixStatus.UNVERIFIED:
        return ["not verified: there is no test command (give one with --test)"]
    if result.nearest is None:
        return ["no patch: no answer led to a change that could be checked"]
    return [f"no acceptable patch; the nearest is shown, not applied: {result.nearest.reward.diagnosis}"]


def cost_line(result: FixResult) -> str:
    """Tokens, calls, seconds and money."""
    usage, timings = result.usage, result.timings
    money = f", ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    return (
        f"cost: {result.model_calls} model answer(s), "
        f"{usage.prompt_tokens_evaluated} prompt tokens evaluated, "
        f"{usage.completion_tokens} generated{money}; {result.mutants_tried} mutations; "
        f"{timings.total_s:.1f} s (model {timings.model_s:.1f}, tests {timings.checks_s:.1f}, "
        f"codeforge {timings.overhead_s:.1f})"
    )


def result_document(done: FixedSession, delivered: Delivered | None) -> dict[str, object]:
    """The JSON document of `fix --json`."""
    result = done.result
    return {
        "schema_version": SCHEMA_VERSION,
        "session": done.id,
        "repository": str(done.repo.root),
        "issue": result.task.issue,
        "status": result.status.value,
        "verified_by": result.verified_by,
        "test_command": result.task.test_command,
        "baseline": summary(result.baseline) if result.baseline else None,
        "locations": [
            {
                "id": item.entity.id,
                "path": item.entity.path,
                "line": item.entity.start_line,
                "score": item.score,
                "reasons": [asdict(reason) for reason in item.reasons],
            }
            for item in result.locations
        ],
        "best": _candidate(result.best),
        "nearest": _candidate(result.nearest),
        "candidates": len(result.candidates),
        "mutants_tried": result.mutants_tried,
        "model": result.model,
        "model_calls": result.model_calls,
        "usage": asdict(result.usage),
        "seconds": {
            "total": result.timings.total_s,
            "model": result.timings.model_s,
            "tests": result.timings.checks_s,
            "codeforge": result.timings.overhead_s,
        },
        "applied": delivered is not None,
        "commit": delivered.commit if delivered else None,
        "journal_entry": delivered.entry if delivered else None,
    }


def _candidate(candidate: Candidate | None) -> dict[str, object] | None:
    if candidate is None:
        return None
    return {
        "id": candidate.id,
        "origin": asdict(candidate.origin),
        "diff": candidate.diff,
        "reward": asdict(candidate.reward),
        "check": summary(candidate.checks[-1]) if candidate.checks else None,
    }
