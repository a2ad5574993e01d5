"""The weights that come with codeforge are whole, and say where they come from."""

import json
from pathlib import Path

import pytest

from codeforge.localize.features import ENTITY_FEATURES, FILE_FEATURES
from codeforge.localize.roles import FileRole
from codeforge.localize.weights import PATH, SCHEMA_VERSION, read_weights, shipped_weights


def test_every_weight_belongs_to_a_feature() -> None:
    weights = shipped_weights()
    assert weights.files.keys() <= set(FILE_FEATURES)
    assert weights.entities.keys() <= set(ENTITY_FEATURES)
    assert len(weights.files) > 10 and len(weights.entities) > 10


def test_every_role_but_source_costs_something() -> None:
    weights = shipped_weights()
    assert weights.roles.keys() == set(FileRole) - {FileRole.SOURCE}
    assert all(value < 0 for value in weights.roles.values())


def test_their_provenance_is_told() -> None:
    provenance = json.loads(PATH.read_text(encoding="utf-8"))["provenance"]
    assert provenance.keys() == {"fitted_on", "cross_validation", "date", "by_hand"}


def test_another_schema_is_refused(tmp_path: Path) -> None:
    data = json.loads(PATH.read_text(encoding="utf-8"))
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({**data, "schema_version": SCHEMA_VERSION + 1}), encoding="utf-8")
    with pytest.raises(ValueError, match="schema version"):
        read_weights(path)
