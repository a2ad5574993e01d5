"""What the probe saw: `ProbeReport`, `FailureDetail`, `Frame`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeforge.sandbox.model import TestOutcome

# By path, by first line of a function, by local name: names of types.
ObservedTypes = Mapping[str, Mapping[int, Mapping[str, frozenset[str]]]]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback.

    Attributes:
        path: relative to the root with forward slashes when `in_repo`, else absolute.
        line: 1-based.
        function: its name (qualified where Python knows it).
        source: the source line, indented as it stands.
        statement: the whole simple statement around that line; "" outside the repository.
        in_repo: the file belongs to the repository (no installed package).
        is_test: a test file or a conftest.
        locals: short representations by name; empty outside the repository.
    """

    path: str
    line: int
    function: str
    source: str
    statement: str = ""
    in_repo: bool = False
    is_test: bool = False
    locals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailureDetail:
    """Why one test failed.

    Attributes:
        test_id: the node id; for an error of collection, the file.
        exc_type, message: of the exception.
        explanation: pytest's crash message with its explanation of the assertion.
        frames: outermost first. For a hang, the stack at the moment of the alarm.
        hung: it ran past the limit.
        causes: the chain behind the exception, nearest first, one line each.
        call: the call under test with its argument values (`gcd(35, 21)`), or "".
        expected, actual: the two sides of the failed comparison, or "".
        params: the parameters of the test.
        test_source: the source of the test function, or "".
        dropped_frames: frames left out of the middle of a long traceback.
    """

    test_id: str
    exc_type: str
    message: str
    explanation: str
    frames: tuple[Frame, ...]
    hung: bool = False
    causes: tuple[str, ...] = ()
    call: str = ""
    expected: str = ""
    actual: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    test_source: str = ""
    dropped_frames: int = 0


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """One run under the probe.

    Attributes:
        outcomes: one a test, in the order they ran; an error of collection counts as one.
        failures: one for each outcome that failed and left a record.
        coverage: by test id, by path (relative to the root): the lines that ran. No test files.
        types: by path, by first line of a function (its decorators included), by local name: the names of
            the types of the values that it held when the function returned.
        complete: the run came to its end (was not killed).
    """

    outcomes: tuple[TestOutcome, ...]
    failures: tuple[FailureDetail, ...]
    coverage: Mapping[str, Mapping[str, frozenset[int]]]
    complete: bool
    types: ObservedTypes = field(default_factory=dict)
