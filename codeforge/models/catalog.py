"""The models that can be pulled by name: data in `catalog.toml`, read into frozen records."""

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from codeforge.errors import UsageError


@dataclass(frozen=True, slots=True)
class HubSource:
    """A file in a model hub's repository."""

    repo: str
    file: str


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A file cut into wheels, one `data/partNN.bin` each, joined in the order of the parts.

    Attributes:
        distribution: the distribution's name with `{part}` in it, counted from 1.
        version: the version of every part.
        parts: how many there are.
        part_size: bytes of the largest part.
    """

    distribution: str
    version: str
    parts: int
    part_size: int

    def requirement(self, part: int) -> str:
        """The requirement of part `part` (from 1)."""
        return f"{self.distribution.format(part=part)}=={self.version}"


Source = HubSource | WheelSource


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A model that can be pulled.

    Attributes:
        name: how the user names it.
        title: what it is.
        parameters, active_parameters: billions of weights, and of those read for one token.
        file: its file name in the models folder.
        size: bytes; only a guide when `approximate_size`.
        sha256: the file's hash, or "" when the first download is trusted
            (checked against the hash that the hub reports).
        licence: its licence's short name.
        free_to_use: whether codeforge may choose it unasked.
        context_window: tokens.
        memory: bytes of memory that it needs with a context of 8192 tokens.
        sources: where to get it, best first.
    """

    name: str
    title: str
    parameters: float
    active_parameters: float
    file: str
    size: int
    approximate_size: bool
    sha256: str
    licence: str
    free_to_use: bool
    context_window: int
    memory: int
    sources: tuple[Source, ...]


@cache
def entries() -> tuple[CatalogEntry, ...]:
    """Every known model, smallest first."""
    text = files("codeforge.models").joinpath("catalog.toml").read_text(encoding="utf-8")
    known = [parse_entry(table) for table in tomllib.loads(text)["model"]]
    return tuple(sorted(known, key=lambda entry: entry.parameters))


def parse_entry(table: dict[str, Any]) -> CatalogEntry:
    """One `[[model]]` table as a record."""
    sources: list[Source] = []
    if "hub" in table:
        sources.append(HubSource(**table["hub"]))
    if "wheels" in table:
        sources.append(WheelSource(**table["wheels"]))
    return CatalogEntry(
        name=table["name"],
        title=table["title"],
        parameters=table["parameters"],
        active_parameters=table["active_parameters"],
        file=table["file"],
        size=table["size"],
        approximate_size=table.get("approximate_size", False),
        sha256=table.get("sha256", ""),
        licence=table["licence"],
        free_to_use=table.get("free_to_use", True),
        context_window=table["context_window"],
        memory=table["memory"],
        sources=tuple(sources),
    )


def find(name: str) -> CatalogEntry | None:
    """The entry called `name`, in any letter case."""
    return next((entry for entry in entries() if entry.name == name.lower()), None)


def get(name: str) -> CatalogEntry:
    """The entry called `name`.

    Raises:
        UsageError: there is none; the nearest names are given.
    """
    entry = find(name)
    if entry is None:
        raise unknown_model(name)
    return entry


def unknown_model(name: str) -> UsageError:
    """The error for a name that is no model, with the nearest names."""
    names = [entry.name for entry in entries()]
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.4) or names
    return UsageError(
        f"There is no model called {name!r}.",
        hint=f"names: {', '.join(near)}; or a .gguf file, or provider/model for a hosted one",
    )
