"""Session ids: ULIDs, which sort by time of creation."""

import secrets
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 26


def new_id(now: float | None = None) -> str:
    """A ULID: 48 bits of milliseconds, then 80 random bits, in Crockford's base 32 (26 characters)."""
    milliseconds = int((time.time() if now is None else now) * 1000)
    number = (milliseconds << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range((_LENGTH - 1) * 5, -1, -5))


def is_id(text: str) -> bool:
    """Whether `text` is a whole session id."""
    return len(text) == _LENGTH and set(text) <= set(_ALPHABET)
