"""What a provider's failure means: whether to ask again, and what to tell the user."""

import re
from typing import Any

from codeforge.errors import CodeforgeError, ContextOverflowError, EnvironmentUnavailableError, UsageError

_OVERFLOW = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long|exceeds? the (available )?context",
    re.I,
)
_REFUSED = re.compile(r"connection refused|connect call failed|all connection attempts failed", re.I)
_RETRIED_STATUS = frozenset({408, 409, 425, 429})


def is_worth_retrying(error: BaseException) -> bool:
    """Whether the same request may succeed in a moment."""
    if not isinstance(error, Exception) or isinstance(error, CodeforgeError):
        return False
    if is_overflow(error) or is_refused(error):
        return False
    status = _status(error)
    if status is not None:
        return status in _RETRIED_STATUS or status >= 500
    return _is_connection_error(error)


def is_overflow(error: BaseException) -> bool:
    """Whether the server says that the prompt does not fit."""
    if type(error).__name__ == "ContextWindowExceededError":
        return True
    return _status(error) in (400, 413, 422) and _OVERFLOW.search(str(error)) is not None


def is_refused(error: BaseException) -> bool:
    """Whether nothing listens at the address."""
    return any(
        isinstance(item, ConnectionRefusedError) or _REFUSED.search(str(item)) is not None
        for item in _chain(error)
    )


def retry_after_s(error: BaseException | None) -> float | None:
    """Seconds that the server asks to wait, or None."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except (TypeError, ValueError):
        return None


def translate(error: BaseException, model: str, api_base: str | None) -> CodeforgeError:
    """The error as the user is told it."""
    status, text = _status(error), _text(error)
    kept = "nothing of this answer is used"
    if is_overflow(error):
        return ContextOverflowError(
            f"The prompt does not fit {model}: {text}",
            kept="nothing was generated",
            hint="lower --budget-tokens",
        )
    if is_refused(error):
        place = api_base or "its address"
        return EnvironmentUnavailableError(
            f"Nothing answers at {place} for {model}.",
            kept=kept,
            hint="start the server, or check --api-base",
        )
    if status in (401, 403):
        return EnvironmentUnavailableError(
            f"{model} does not accept the key: {text}", kept=kept, hint=f"set {_key_names(model)}"
        )
    if status == 404:
        return UsageError(
            f"There is no model {model} there: {text}", kept=kept, hint="check the model's name"
        )
    if status == 429:
        return EnvironmentUnavailableError(
            f"{model} limits the rate, even after waiting: {text}",
            kept=kept,
            hint="wait, or use another model",
        )
    if status is not None and status < 500:
        return EnvironmentUnavailableError(f"{model} refuses the request: {text}", kept=kept)
    return EnvironmentUnavailableError(
        f"{model} can't answer: {text}", kept=kept, hint="try again later, or use another model"
    )


def _status(error: BaseException) -> int | None:
    status: Any = getattr(error, "status_code", None)
    # litellm gives 500 to connections that broke before any answer; those count as connection errors.
    return status if isinstance(status, int) and 100 <= status < 600 else None


def _is_connection_error(error: BaseException) -> bool:
    import httpx

    return any(isinstance(item, OSError | httpx.TransportError) for item in _chain(error))


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    item: BaseException | None = error
    while item is not None and item not in found:
        found.append(item)
        item = item.__cause__ or item.__context__
    return found


def _text(error: BaseException) -> str:
    """The provider's words without litellm's prefixes, in one line."""
    text = str(getattr(error, "message", "") or error or type(error).__name__)
    text = re.sub(r"^(litellm\.\w+: |\w+Exception - |\w+Error: )+", "", text.strip())
    return " ".join(text.split())[:500]


def _key_names(model: str) -> str:
    from codeforge.models.litellm_model import import_litellm

    missing = import_litellm().validate_environment(model=model).get("missing_keys") or []
    provider = re.sub(r"\W", "_", model.partition("/")[0]).upper()
    return " and ".join(missing) if missing else f"{provider}_API_KEY to a key that is valid"
