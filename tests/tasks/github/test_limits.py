"""How long GitHub wants us to wait."""

import math

from hypothesis import given
from hypothesis import strategies as st

from codeforge.tasks.github.limits import SECONDARY_WAIT_S, wait_for_reset, wait_of

NOW = 1_000_000.0


def test_retry_after_goes_before_the_reset() -> None:
    headers = {"retry-after": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000100"}
    assert wait_of(403, headers, "", NOW) == 5.0
    del headers["retry-after"]
    assert wait_of(403, headers, "", NOW) == 101.0


def test_the_date_of_the_answer_goes_before_our_clock() -> None:
    headers = {
        "date": "Mon, 12 Jan 1970 13:46:40 GMT",  # 1,000,000
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "1000010",
    }
    assert wait_for_reset(headers, NOW + 9_999) == 11.0


def test_other_refusals_are_no_limits() -> None:
    assert wait_of(403, {}, "Resource not accessible", NOW) is None
    assert wait_of(404, {"retry-after": "5"}, "rate limit", NOW) is None
    assert wait_of(403, {"x-ratelimit-remaining": "7"}, "", NOW) is None
    assert wait_of(403, {}, "You triggered an Abuse Detection mechanism", NOW) == SECONDARY_WAIT_S


@given(
    st.sampled_from([200, 403, 404, 429, 500]),
    st.dictionaries(
        st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "date"]),
        st.text(max_size=12) | st.integers(-5, 10**9).map(str),
    ),
    st.text(max_size=20),
)
def test_any_headers_give_a_finite_wait_or_none(status: int, headers: dict[str, str], body: str) -> None:
    wait = wait_of(status, headers, body, NOW)
    assert wait is None or (math.isfinite(wait) and wait >= 0)
    if status == 429:
        assert wait is not None
