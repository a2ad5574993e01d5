"""When GitHub asks to wait, and for how long.

Rules: GitHub REST docs, "Rate limits" and "Best practices": obey `Retry-After`; else, when
`X-RateLimit-Remaining` is 0, wait until `X-RateLimit-Reset`; else wait a minute, and longer each time.
"""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

SECONDARY_WAIT_S = 60.0
_SIGNS = ("rate limit", "abuse detection")


def wait_of(status: int, headers: Mapping[str, str], body: str, clock: float) -> float | None:
    """Seconds until a refused request may be sent again; `None` when no limit refused it.

    Args:
        headers: with lower-case names.
        clock: now, in seconds since 1970; the answer's own date goes before it.
    """
    if status not in (403, 429):
        return None
    asked = _retry_after(headers, clock)
    if asked is not None:
        return asked
    reset = wait_for_reset(headers, clock)
    if reset is not None:
        return reset
    limited = status == 429 or any(sign in body.lower() for sign in _SIGNS)
    return SECONDARY_WAIT_S if limited else None


def wait_for_reset(headers: Mapping[str, str], clock: float) -> float | None:
    """Seconds until the budget is renewed, when an answer says that it is used up."""
    if headers.get("x-ratelimit-remaining") != "0":
        return None
    reset = headers.get("x-ratelimit-reset", "").strip()
    if not reset.isdecimal():
        return None
    # A second more: the reset is given in whole seconds.
    return max(0.0, float(reset) - _now(headers, clock)) + 1.0


def _retry_after(headers: Mapping[str, str], clock: float) -> float | None:
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    date = _date(value)
    return None if date is None else max(0.0, date - _now(headers, clock))


def _now(headers: Mapping[str, str], clock: float) -> float:
    date = _date(headers.get("date", ""))
    return clock if date is None else date


def _date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, IndexError):
        return None
