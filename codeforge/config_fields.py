"""The settings as a flat table: dotted keys ("sandbox.network"), and the checks of one value."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from codeforge.config_model import ENV_PREFIX, Settings


@dataclass(frozen=True, slots=True)
class Field:
    """One setting.

    Attributes:
        key: its dotted key.
        default: its value when nobody sets it.
        description: what it means, one sentence.
        info: pydantic's description of it.
    """

    key: str
    default: object
    description: str
    info: FieldInfo

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return ENV_PREFIX + self.key.upper().replace(".", "_")

    def check(self, value: object, *, strict: bool) -> object:
        """`value` in the field's type; with `strict` no text is taken for a number.

        Raises:
            ValueError: the value does not fit; the text says what was expected.
        """
        try:
            return _adapter(self.key).validate_python(value, strict=strict)
        except ValidationError as error:
            reasons = dict.fromkeys(str(item["msg"]) for item in error.errors(include_url=False))
            raise ValueError("; ".join(reasons)) from error


@cache
def fields() -> Mapping[str, Field]:
    """Every setting by its key, in the order of the model."""
    return {field.key: field for field in _walk(Settings, "")}


def closest(key: str) -> str | None:
    """The key that looks most like `key`, when one does."""
    near = difflib.get_close_matches(key, list(fields()), n=1, cutoff=0.7)
    return near[0] if near else None


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Nested mappings as dotted keys; a mapping where no section is stays a value."""
    sections = {key.rpartition(".")[0] for key in fields()} - {""}
    flat: dict[str, object] = {}
    for name, value in values.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key in sections:
            flat.update(flatten(value, f"{key}."))
        else:
            flat[key] = value
    return flat


def nest(flat: Mapping[str, object]) -> dict[str, Any]:
    """Dotted keys as nested mappings."""
    nested: dict[str, Any] = {}
    for key, value in flat.items():
        *sections, name = key.split(".")
        place = nested
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return nested


def _walk(model: type[BaseModel], prefix: str) -> Iterator[Field]:
    for name, info in model.model_fields.items():
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _walk(annotation, f"{prefix}{name}.")
        else:
            default = info.get_default(call_default_factory=True)
            yield Field(f"{prefix}{name}", default, info.description or "", info)


@cache
def _adapter(key: str) -> TypeAdapter[object]:
    info = fields()[key].info
    checked: Any = Annotated[info.annotation, info]
    return TypeAdapter(checked)
