"""The noun of `codeforge doctor`: one check, what it found and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class DoctorStatus(StrEnum):
    """How a check went. Only `FAIL` makes the command fail."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One check.

    Attributes:
        name: what was looked at ("git", "sandbox").
        status: whether codeforge can work with it.
        found: what was found, one sentence.
        advice: what to do, or "" when there is nothing to do.
    """

    name: str
    status: DoctorStatus
    found: str
    advice: str = ""
