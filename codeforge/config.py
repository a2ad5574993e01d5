"""Layered settings: defaults < user file < project file < `CODEFORGE_*` environment < flags.

A project's file comes with the repository, so from one that the user does not trust nothing is taken that
runs a command, weakens the sandbox or sends code elsewhere; `Settings.settings_notices` says what was left
out.

    settings = load_settings(root, {"candidates": 4, "sandbox.network": True})
"""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic_settings import EnvSettingsSource

from codeforge.config_fields import closest, fields, flatten, nest
from codeforge.config_files import SettingsFile, read_settings_file, set_in_file, unset_in_file
from codeforge.config_model import ENV_PREFIX, SCHEMA_VERSION, Settings
from codeforge.config_trust import is_trusted, trust, untrust
from codeforge.errors import UsageError
from codeforge.paths import DATA_DIR_VARIABLE, ensure_project_dir, project_config_path, user_config_path

__all__ = [
    "Origin",
    "Settings",
    "explain",
    "load_settings",
    "set_value",
    "trust_project",
    "unset_value",
    "untrust_project",
]

_NEEDS_TRUST = ("test_command", "litellm.api_base")
_NEEDS_TRUST_SECTIONS = ("sandbox.",)
# Read elsewhere, by themselves.
_OTHER_VARIABLES = (DATA_DIR_VARIABLE, "CODEFORGE_SANDBOX")


class Origin(NamedTuple):
    """A setting in force, and where it came from ("default", "user file PATH", "environment VARIABLE", …)."""

    key: str
    value: object
    source: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """Checked values of one source by dotted key, and each key's source in words."""

    values: Mapping[str, object]
    sources: Mapping[str, str]


def load_settings(root: Path | None, overrides: Mapping[str, object] | None = None) -> Settings:
    """The settings in force.

    Args:
        root: the project's root; `None` outside of any project.
        overrides: flags, by dotted key or nested; `None` values mean "not given".

    Raises:
        UsageError: broken TOML, an unknown key or a wrong value; the message names the place and what is
            expected.
    """
    layers, notices = _layers(root, overrides or {})
    merged = {key: value for layer in layers for key, value in layer.values.items()}
    settings = Settings.model_validate(nest({key: field.default for key, field in fields().items()} | merged))
    settings._notices = notices
    return settings


def explain(root: Path | None, overrides: Mapping[str, object] | None = None) -> list[Origin]:
    """Every setting with its value and its source, in the order of the model."""
    layers, _ = _layers(root, overrides or {})
    origins = {key: Origin(key, field.default, "default") for key, field in fields().items()}
    for layer in layers:
        origins |= {key: Origin(key, value, layer.sources[key]) for key, value in layer.values.items()}
    return list(origins.values())


def set_value(key: str, text: str, root: Path | None = None) -> tuple[Path, object]:
    """Set a key in the user's file, or in the project's when `root` is given; the path and the value.

    What the user writes into a new or a trusted project file is trusted.

    Raises:
        UsageError: unknown key, a value that does not fit, or a broken file; the file is unchanged.
    """
    value = _checked(key, text, f"The value {text!r}", strict=False)
    path = _path_to_change(root)
    current = read_settings_file(path)
    trusted = root is not None and (current is None or is_trusted(root, current.data))
    if root is not None:
        ensure_project_dir(root)
    data = set_in_file(path, key, "auto" if value is None else value)
    if trusted and root is not None:
        trust(root, data)
    return path, value


def unset_value(key: str, root: Path | None = None) -> tuple[Path, bool]:
    """Remove a key from the user's file, or from the project's; the path, and whether it was there."""
    _require_known(key, "Nothing")
    path = _path_to_change(root)
    current = read_settings_file(path)
    if current is None:
        return path, False
    trusted = root is not None and is_trusted(root, current.data)
    data = unset_in_file(path, key)
    if trusted and root is not None and data is not None:
        trust(root, data)
    return path, data is not None


def trust_project(root: Path) -> Path:
    """Trust the project's settings file as it is now; its path.

    Raises:
        UsageError: there is none, or it is broken.
    """
    path = project_config_path(root)
    current = read_settings_file(path)
    if current is None:
        raise UsageError(
            f"The project has no settings file ({path}).",
            kept="Nothing was changed.",
            hint="There is nothing to trust; codeforge config set KEY VALUE --project makes one.",
        )
    _file_layer(current, "project file")
    trust(root, current.data)
    return path


def untrust_project(root: Path) -> bool:
    """Take the trust in the project's settings back; whether there was any."""
    return untrust(root)


def _path_to_change(root: Path | None) -> Path:
    return user_config_path() if root is None else project_config_path(root)


def _layers(root: Path | None, overrides: Mapping[str, object]) -> tuple[list[_Layer], tuple[str, ...]]:
    notices: list[str] = []
    layers = []
    user_file = read_settings_file(user_config_path())
    if user_file is not None:
        layers.append(_file_layer(user_file, "user file"))
    project_file = read_settings_file(project_config_path(root)) if root is not None else None
    if root is not None and project_file is not None:
        layer = _file_layer(project_file, "project file")
        if not is_trusted(root, project_file.data):
            layer, left_out = _without_untrusted(layer)
            notices += _untrusted_notice(project_file.path, left_out)
        layers.append(layer)
    layers.append(_environment_layer())
    notices += _unknown_variables()
    layers.append(_flag_layer(overrides))
    return layers, tuple(notices)


def _file_layer(file: SettingsFile, name: str) -> _Layer:
    values = {
        key: _checked(key, value, file.place(key), strict=True) for key, value in flatten(file.values).items()
    }
    values.pop("schema_version", None)
    return _Layer(values, dict.fromkeys(values, f"{name} {file.path}"))


class _Environment(EnvSettingsSource):
    """The variables of single settings. `CODEFORGE_SANDBOX` and other variables that only start like a
    setting belong to others, and are not read as a section in JSON."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        known = {field.variable.lower() for field in fields().values()}
        return {name: value for name, value in super()._load_env_vars().items() if name in known}


def _environment_layer() -> _Layer:
    values = {
        key: _checked(key, text, f"The environment variable {fields()[key].variable}", strict=False)
        for key, text in flatten(_Environment(Settings)()).items()
    }
    values.pop("schema_version", None)
    return _Layer(values, {key: f"environment {fields()[key].variable}" for key in values})


def _flag_layer(overrides: Mapping[str, object]) -> _Layer:
    given = {key: value for key, value in flatten(overrides).items() if value is not None}
    values = {
        key: _checked(key, value, f"The option for {key}", strict=False) for key, value in given.items()
    }
    return _Layer(values, dict.fromkeys(values, "flag"))


def _checked(key: str, value: object, place: str, *, strict: bool) -> object:
    _require_known(key, place)
    field = fields()[key]
    if key == "schema_version" and value != SCHEMA_VERSION and str(value) != str(SCHEMA_VERSION):
        raise UsageError(
            f"{place}: schema_version is {value!r}, but this codeforge knows {SCHEMA_VERSION}.",
            kept="Nothing was changed.",
            hint="Update codeforge, or correct the file.",
        )
    try:
        return field.check(value, strict=strict and key != "schema_version")
    except ValueError as error:
        raise UsageError(
            f"{place}: {key} can't be {value!r}: {error}.",
            kept="Nothing was changed.",
            hint=f"{key}: {field.description}",
        ) from error


def _require_known(key: str, place: str) -> None:
    if key in fields():
        return
    members = [name for name in fields() if name.startswith(f"{key}.")]
    near = closest(key)
    if members:
        hint = f"{key} is a section; its settings are {', '.join(members)}."
    elif near:
        hint = f"Did you mean {near}? codeforge config show lists all settings."
    else:
        hint = "codeforge config show lists all settings."
    raise UsageError(f"{place}: there is no setting {key!r}.", kept="Nothing was changed.", hint=hint)


def _without_untrusted(layer: _Layer) -> tuple[_Layer, list[str]]:
    left_out = [key for key, value in layer.values.items() if _needs_trust(key, value)]
    values = {key: value for key, value in layer.values.items() if key not in left_out}
    return _Layer(values, layer.sources), left_out


def _needs_trust(key: str, value: object) -> bool:
    """Whether an untrusted project may not set this.

    The models of the catalog (plain names) are harmless; a provider's model ("openai/…") would send code
    away at the user's expense, and a path or `replay:` would load a file that came with the repository.
    """
    if key in _NEEDS_TRUST or key.startswith(_NEEDS_TRUST_SECTIONS):
        return True
    return key == "model" and isinstance(value, str) and re.search(r"[/\\:~]|\.gguf$", value) is not None


def _untrusted_notice(path: Path, left_out: list[str]) -> list[str]:
    if not left_out:
        return []
    return [
        f"{path}: {', '.join(left_out)} ignored, because you have not trusted this project's settings. "
        "Read the file, then run: codeforge config trust"
    ]


def _unknown_variables() -> list[str]:
    """Variables that are almost a setting: most likely a slip."""
    variables = [field.variable for field in fields().values()]
    notices = []
    for name in sorted(os.environ):
        if name.startswith(ENV_PREFIX) and name not in (*variables, *_OTHER_VARIABLES):
            short = [variable.removeprefix(ENV_PREFIX) for variable in variables]
            near = difflib.get_close_matches(name.removeprefix(ENV_PREFIX), short, n=1, cutoff=0.8)
            notices += [f"{name} is not a setting; did you mean {ENV_PREFIX}{found}?" for found in near]
    return notices
