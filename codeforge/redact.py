"""Secrets out of text before it is written: `redact` and `redact_json`.

Each rule knows a kind of secret by its shape; what it finds becomes `[redacted:kind]`. The values of the
process's own secret-looking environment variables are taken out too, whatever they look like. Ordinary
code (`token = next(tokens)`) stays as it is. Redacting twice changes nothing more.
"""

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A secret starts after anything but a letter or digit, or after an escaped line break or tab ("…\nsk-…"
# inside a quoted string).
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_MARK = "[redacted:"
_ENV_MIN_LENGTH = 8


@dataclass(frozen=True, slots=True)
class _Rule:
    """One kind of secret.

    Attributes:
        kind: its name in the mark.
        anchors: lower-case texts of which one is in every match; the cheap test before the pattern.
        pattern: the group `secret` (the whole match without one) is what is taken out.
        accept: whether a found secret really looks like one.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = lambda _: True


def _entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _has_long_run(text: str) -> bool:
    """A run of 16 letters and digits, which words joined by hyphens (CSS classes) don't have."""
    return re.search(r"[A-Za-z0-9]{16}", text) is not None


def _is_template(value: str) -> bool:
    """A place for a secret, not a secret: `$NAME`, `{name}`, `<name>`, `****`, `%s`, an earlier mark."""
    return value.startswith((_MARK, "$", "{", "<", "%")) or not re.search(r"[A-Za-z0-9]", value)


def _looks_random(value: str) -> bool:
    """Letters and digits, mixed as people don't mix them in names."""
    if _is_template(value) or not (re.search(r"[A-Za-z]", value) and re.search(r"\d", value)):
        return False
    mixed_case = re.search(r"[a-z]", value) and re.search(r"[A-Z]", value)
    many_digits = sum(character.isdigit() for character in value) >= max(3, len(value) // 8)
    special = re.search(r"[!@#$%^&*+/=]", value)
    return _entropy(value) >= 3.0 and bool(mixed_case or many_digits or special)


def _looks_like_password(value: str) -> bool:
    """A literal with letters and a digit or a special character, and not a path or a URL."""
    if _is_template(value) or value.startswith(("/", "./")) or "://" in value:
        return False
    return bool(re.search(r"[A-Za-z]", value) and re.search(r"[\d!@#$%^&*]", value))


def _looks_like_credential(value: str) -> bool:
    """What follows `Bearer` or `Basic` in a header, as against a word of prose."""
    return not _is_template(value) and bool(
        re.search(r"\d", value) or value.endswith("=") or re.search(r"[a-z][A-Z]", value)
    )


def _token(
    kind: str, anchors: tuple[str, ...], pattern: str, accept: Callable[[str], bool] = lambda _: True
) -> _Rule:
    return _Rule(kind, anchors, re.compile(_START + pattern), accept)


_QUOTED = (
    r"""["']?[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}[bBrRuU]?(?P<quote>["'])(?P<secret>[^"'\s]{8,512})(?P=quote)"""
)
_PASSWORD_NAMES = r"(?:password|passwd|passphrase|pwd)"
_SECRET_NAMES = r"(?:secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)"
_SECRET_ANCHORS = ("secret", "token", "key", "credential")

_RULES: tuple[_Rule, ...] = (
    _Rule(
        "private-key",
        ("private key",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----END)[\s\S]){0,300}?[A-Za-z0-9+/=]{32}(?:(?!-----END)[\s\S]){0,20000}"
            r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        ),
    ),
    _Rule(  # cut off before its end, as in the tail of an output
        "private-key",
        ("private key",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]{16,80})+"
        ),
    ),
    _token("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{10,}"),
    _token("openai-key", ("sk-",), r"sk-[A-Za-z0-9_-]{20,}", _has_long_run),
    _token("stripe-key", ("_live_", "_test_"), r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    _token("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9]{20,}"),
    _token("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{20,}"),
    _token("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}", _has_long_run),
    _token("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-"), r"gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{16,}"),
    _token("google-key", ("aiza",), r"AIza[A-Za-z0-9_-]{30,}"),
    _token("google-key", ("gocspx-", "ya29."), r"(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{20,}"),
    _token("slack-token", ("xox",), r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _token("slack-token", ("xapp-",), r"xapp-[A-Za-z0-9-]{10,}"),
    _token("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{20,}"),
    _token("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    _token("pypi-token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{20,}", _has_long_run),
    _token(
        "aws-access-key",
        ("akia", "asia", "abia", "acca"),
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    _token("jwt", ("eyj",), r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    _Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    ),
    _Rule(
        "aws-secret-key",
        ("aws", "secret"),
        re.compile(
            r"(?i:aws.{0,20}?secret|secret_?access_?key).{0,20}?[=:,\s]\s{0,8}[\"']?"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        _looks_random,
    ),
    _Rule(
        "url-password",
        ("://",),
        re.compile(
            r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[A-Za-z0-9._~%+-]{0,128}:"
            r"""(?P<secret>[^\s/@'"<>{}()\\^|`]{1,256})@(?=[A-Za-z0-9\[])"""
        ),
        lambda value: not _is_template(value),
    ),
    _Rule(
        "authorization",
        ("authorization",),
        re.compile(
            r"""(?i)(?<![a-z])authorization["']?[ \t]{0,8}[:=][ \t]{0,8}["']?(?:[a-z]{1,20}[ \t]{1,8})?"""
            r"(?P<secret>[A-Za-z0-9._~+/=-]{8,})"
        ),
        _looks_like_credential,
    ),
    _Rule(
        "authorization",
        ("bearer",),
        re.compile(r"(?i)(?<![a-z0-9])bearer[ \t]{1,8}(?P<secret>[A-Za-z0-9._~+/=-]{16,})"),
        _looks_like_credential,
    ),
    _Rule(
        "api-key",
        ("api-key", "auth-token"),
        re.compile(
            r"""(?i)x-(?:api-key|auth-token)["']?[ \t]{0,8}:[ \t]{0,8}["']?(?P<secret>[\w.~+/=-]{8,})"""
        ),
        _looks_like_credential,
    ),
    _Rule(
        "password",
        ("password", "passwd", "passphrase", "pwd"),
        re.compile(rf"(?i){_PASSWORD_NAMES}[\w-]{{0,32}}{_QUOTED}"),
        _looks_like_password,
    ),
    _Rule(
        "secret",
        _SECRET_ANCHORS,
        re.compile(rf"(?i){_SECRET_NAMES}[\w-]{{0,32}}{_QUOTED}"),
        _looks_random,
    ),
    _Rule(  # the lines of an .env file or the output of `env`
        "secret",
        ("password", "passwd", "secret", "token", "key"),
        re.compile(
            r"(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY)[A-Z0-9_]{0,32}="
            r"(?P<secret>[A-Za-z0-9_+/=.!@#%^&*-]{8,512})(?=\s|\\n|\Z)"
        ),
        _looks_random,
    ),
)

_SECRET_KEY_NAME = re.compile(rf"(?i)(?:{_PASSWORD_NAMES}|{_SECRET_NAMES})s?$")
_ENV_NAME = re.compile(
    r"(?:^|_)(?:[A-Z0-9]*KEY|[A-Z0-9]*TOKEN|[A-Z0-9]*SECRET|[A-Z0-9]*PASSWORD|PASSWD|PASSPHRASE"
    r"|[A-Z0-9]+_?PWD|PASS|CREDENTIALS?|AUTH)$",
)
# Values that so many people use, and so much code holds, that taking them out would only spoil the text.
_ENV_COMMONPLACE = frozenset(
    ("disabled", "required", "optional", "password", "changeme", "postgres", "username", "localhost")
)


def redact(text: str) -> str:
    """`text` with every secret replaced by `[redacted:kind]`."""
    for value in _environment_secrets(os.environ):
        text = text.replace(value, "[redacted:env]")
    lowered = text.lower()
    for rule in _RULES:
        if any(anchor in lowered for anchor in rule.anchors):
            text = rule.pattern.sub(lambda match, rule=rule: _replace(match, rule), text)  # type: ignore[misc]
    return text


def redact_json(value: object) -> object:
    """`value` (what `json` can write) with every string, keys included, redacted.

    A string under a key named like a secret (`{"password": …}`) is judged as an assignment would be.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {_redact_key(key): _redact_member(key, member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(item) for item in value]
    return value


def _redact_key(key: object) -> object:
    return redact(key) if isinstance(key, str) else key


def _redact_member(key: object, member: object) -> object:
    if isinstance(key, str) and isinstance(member, str) and _SECRET_KEY_NAME.search(key):
        is_password = re.search(rf"(?i){_PASSWORD_NAMES}", key) is not None
        accept = _looks_like_password if is_password else _looks_random
        if len(member) >= 8 and not re.search(r"\s", member) and accept(member):
            return f"{_MARK}{'password' if is_password else 'secret'}]"
    return redact_json(member)


def _replace(match: re.Match[str], rule: _Rule) -> str:
    group = "secret" if "secret" in match.re.groupindex else 0
    if not rule.accept(match.group(group)):
        return match.group()
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    whole = match.group()
    return f"{whole[:start]}{_MARK}{rule.kind}]{whole[end:]}"


def _environment_secrets(environment: Mapping[str, str]) -> list[str]:
    """Values of variables whose name says that they are secret, longest first."""
    values = {
        value
        for name, value in environment.items()
        if _ENV_NAME.search(name.upper()) and _is_environment_secret(value)
    }
    return sorted(values, key=lambda value: (-len(value), value))


def _is_environment_secret(value: str) -> bool:
    if len(value) < _ENV_MIN_LENGTH or value.lower() in _ENV_COMMONPLACE:
        return False
    if value.startswith(("/", "~", "./")) or not value.strip():
        return False  # a path to a key is not the key (SSH_AUTH_SOCK, GOOGLE_APPLICATION_CREDENTIALS)
    return value not in "[redacted:env]"
