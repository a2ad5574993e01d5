"""One failure as text for a prompt: most useful first, cut to a budget."""

from collections.abc import Iterator

from codeforge.sandbox.probe.model import FailureDetail, Frame

_SHOWN_LOCALS = 10
_SHOWN_FRAMES = 4


def render_failure(detail: FailureDetail, budget_chars: int) -> str:
    """At most `budget_chars` characters: the failing call with its values, expected against actual, the
    innermost frames of the repository with line numbers, and the locals where it failed or hung."""
    text = ""
    for part in _parts(detail):
        candidate = f"{text}\n{part}" if text else part
        if len(candidate) > budget_chars:
            if not text:
                text = candidate[: max(0, budget_chars - 3)] + "..."[: max(0, budget_chars)]
            continue
        text = candidate
    return text


def _parts(detail: FailureDetail) -> Iterator[str]:
    yield _headline(detail)
    if not detail.call and detail.explanation and detail.exc_type == "AssertionError":
        yield _first_lines(detail.explanation, 6)
    if not detail.call and detail.params:
        yield "with " + ", ".join(f"{name} = {value}" for name, value in detail.params.items())
    frames = _worth_showing(detail)
    if frames:
        innermost = frames[-1]
        yield _crash(innermost, hung=detail.hung)
        yield from _called_from(frames[:-1])
    yield from (f"caused by {cause}" for cause in detail.causes)
    if detail.test_source and not detail.params:
        yield "the test:\n" + detail.test_source.rstrip()


def _headline(detail: FailureDetail) -> str:
    call = detail.call or detail.test_id.rsplit("::", 1)[-1]
    if detail.hung:
        happened = "never finished (it was stopped while running)"
    elif detail.exc_type == "AssertionError" and detail.actual:
        happened = f"gave {detail.actual}"
    elif detail.exc_type == "AssertionError":
        happened = "failed its assertion"
    else:
        happened = f"raised {detail.exc_type}: {_first_lines(detail.message, 2)}".rstrip(": ")
    expected = f"; expected {detail.expected}" if detail.expected else ""
    return f"{call} {happened}{expected}"


def _worth_showing(detail: FailureDetail) -> list[Frame]:
    """The innermost frames of the repository that are not the test's own."""
    own = [frame for frame in detail.frames if frame.in_repo and not frame.is_test]
    if own or detail.exc_type == "AssertionError":
        return own[-_SHOWN_FRAMES:]
    return [frame for frame in detail.frames if frame.in_repo][-1:]


def _crash(frame: Frame, *, hung: bool) -> str:
    verb = "stuck" if hung else "at"
    values = list(frame.locals.items())[:_SHOWN_LOCALS]
    shown = "".join(f"\n    {name} = {value}" for name, value in values)
    heading = f"{verb} {frame.path}:{frame.line} in {frame.function}: {frame.source.strip()}"
    return heading + (f"\n  with{shown}" if shown else "")


def _called_from(frames: list[Frame]) -> Iterator[str]:
    seen: set[tuple[str, int]] = set()
    for frame in reversed(frames):
        if (frame.path, frame.line) not in seen:
            seen.add((frame.path, frame.line))
            yield f"called from {frame.path}:{frame.line} in {frame.function}: {frame.source.strip()}"


def _first_lines(text: str, count: int) -> str:
    return "\n".join(text.strip().splitlines()[:count])
