"""The ranker's weights, which are data: fitted ones with their provenance, and those set by hand."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codeforge.localize.roles import FileRole

SCHEMA_VERSION = 2
PATH = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of features, in the log odds that a row is what has to change.

    Attributes:
        files, entities: by feature. Those that the training tasks can't teach (tracebacks, failing tests,
        named
            files: their texts hold none) are set by hand; the file says which.
        roles: by role of a file, what is added unless the text names the file.
        unparsed: what is added to files whose language has no parser.
        classes: what is added to a class: a fix is rather in a method than in what is left of its class.
        module_code: what is added to the code of a file outside its functions and classes.
    """

    files: Mapping[str, float]
    entities: Mapping[str, float]
    roles: Mapping[FileRole, float]
    unparsed: float
    classes: float
    module_code: float


@cache
def shipped_weights() -> Weights:
    """The weights that come with codeforge (`weights.json`)."""
    return read_weights(PATH)


def read_weights(path: Path) -> Weights:
    """Read a file of weights.

    Raises:
        ValueError: it is of another schema.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    if data.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"{path} has schema version {data.get('schema_version')}, not {SCHEMA_VERSION}")
    hand = data["by_hand"]
    return Weights(
        files={**data["fitted"]["files"], **data["dense"]["files"], **hand["files"]},
        entities={**data["fitted"]["entities"], **data["dense"]["entities"], **hand["entities"]},
        roles={FileRole(name): float(value) for name, value in hand["roles"].items()},
        unparsed=float(hand["unparsed"]),
        classes=float(hand["classes"]),
        module_code=float(hand["module_code"]),
    )
