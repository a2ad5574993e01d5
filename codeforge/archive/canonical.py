"""Canonical JSON and the hashes made from it: the ground of content addressing and of the step chain."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath

_PLAIN = (str, int, float, bool, type(None))


def to_jsonable(value: object) -> object:
    """`value` as plain JSON data, nothing dropped.

    Dataclasses become mappings, enums their value, paths text, sets sorted lists; bytes become text, or
    `{"base64": …}` when they are not UTF-8; infinite floats and NaN become text.

    Raises:
        TypeError: the value holds something else, or two keys that are the same as text.
    """
    if isinstance(value, Enum):
        return to_jsonable(value.value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, bytes):
        return _bytes(value)
    return _container(value)


def canonical(value: object) -> str:
    """The one JSON text of `value`: sorted keys, no spaces, ASCII only (so any text can be stored)."""
    return json.dumps(
        to_jsonable(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def digest(text: str) -> str:
    """SHA-256 of a canonical JSON text, in hexadecimal."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def chain_hash(previous: str, seq: int, content_hash: str, elapsed_s: float, tokens: str, at: str) -> str:
    """The hash of a step: everything recorded of it, and through `previous` every step before it.

    Args:
        previous: the hash of the step before, "" for the first.
        tokens: the canonical JSON of the token count.
    """
    return digest(canonical([previous, seq, content_hash, elapsed_s, tokens, at]))


def _container(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        members = {_key(key): to_jsonable(member) for key, member in value.items()}
        if len(members) != len(value):
            raise TypeError("two keys of a mapping are the same as text")
        return members
    if isinstance(value, list | tuple):
        return [to_jsonable(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((to_jsonable(item) for item in value), key=canonical)
    raise TypeError(f"a {type(value).__name__} can't be archived")


def _key(key: object) -> str:
    plain = to_jsonable(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _bytes(value: bytes) -> object:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}
