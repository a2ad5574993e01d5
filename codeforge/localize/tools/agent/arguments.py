"""Checks a model's arguments against a tool's schema; what is wrong is said so that the model can mend it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from codeforge.localize.tools.agent.spec import ToolSpec

_BOOLEANS = {"true": True, "false": False}


class BadArgumentsError(ValueError):
    """The arguments are wrong; the text says how, and which are right."""


def read_arguments(spec: ToolSpec, text: str) -> dict[str, Any]:
    """The arguments in `text`, a JSON object, made to fit the schema where what is meant is plain:
    one text for a list of texts, digits for a number, null for what may be left out.

    Raises:
        BadArgumentsError: they don't fit.
    """
    try:
        given = json.loads(text or "{}")
    except ValueError as error:
        raise BadArgumentsError(
            f"The arguments of {spec.name} are not valid JSON ({error}). {_right(spec)}"
        ) from None
    if not isinstance(given, dict):
        raise BadArgumentsError(f"The arguments of {spec.name} must be one JSON object. {_right(spec)}")
    arguments = {
        name: _meant(value, spec.parameters["properties"].get(name, {}))
        for name, value in given.items()
        if value is not None or name in spec.parameters.get("required", ())
    }
    problems = list(_problems(spec, arguments))
    if problems:
        raise BadArgumentsError(f"{spec.name}: {'; '.join(problems)}. {_right(spec)}")
    return arguments


def _meant(value: object, schema: Mapping[str, Any]) -> object:
    """`value`, or what it says when it is a text where another type belongs."""
    if not isinstance(value, str):
        return value
    kind = schema.get("type")
    if kind == "array":
        try:
            parsed = json.loads(value) if value.lstrip().startswith("[") else None
        except ValueError:
            parsed = None
        return parsed if isinstance(parsed, list) else [value]
    if kind == "integer":
        digits = value.strip()
        return int(digits) if digits.removeprefix("-").isdecimal() and len(digits) < 10 else value
    if kind == "boolean":
        return _BOOLEANS.get(value.strip().lower(), value)
    return value


def _problems(spec: ToolSpec, arguments: Mapping[str, Any]) -> Iterator[str]:
    from jsonschema import Draft202012Validator

    known = list(spec.parameters["properties"])
    for name in arguments:
        if name not in known:
            near = _near(name, known)
            yield f"there is no argument `{name}`" + (f" (do you mean `{near}`?)" if near else "")
    errors = Draft202012Validator(spec.parameters).iter_errors(dict(arguments))
    for error in sorted(errors, key=lambda error: [str(part) for part in error.path]):
        place = "".join(f"[{part}]" if isinstance(part, int) else str(part) for part in error.path)
        if error.validator == "additionalProperties":
            if error.path:
                yield f"`{place}`: {error.message}"
            continue
        if error.validator == "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            if f"'{missing[0]}'" in error.message:  # an error comes for each of them
                yield f"`{'`, `'.join(missing)}` is missing" + (f" in `{place}`" if place else "")
        elif error.validator == "enum":
            allowed = ", ".join(map(str, error.validator_value))
            yield f"`{place}` must be one of {allowed}, not {error.instance!r}"
        else:
            yield f"`{place}`: {error.message}"


def _near(name: str, known: list[str]) -> str:
    from rapidfuzz import fuzz, process

    found = process.extractOne(name, known, scorer=fuzz.WRatio, score_cutoff=60)
    return found[0] if found else ""


def _right(spec: ToolSpec) -> str:
    required = spec.parameters.get("required", ())
    names = [
        f"{name} ({_type(schema)}{', required' if name in required else ''})"
        for name, schema in spec.parameters["properties"].items()
    ]
    return f"Its arguments: {', '.join(names)}."


def _type(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of {schema['items'].get('type', 'any')}s"
    return str(schema.get("type", "any"))
