"""What a prompt is about."""

from pathlib import Path

from codeforge.engine.targets import entity_source, function_targets, header_of, most_suspicious
from codeforge.localize.model import Entity, EntityKind, Location


def location(path: str, name: str, start: int, end: int, kind: EntityKind = EntityKind.FUNCTION) -> Location:
    return Location(Entity(f"{path}:{name}", kind, path, name, start, end), 1.0, ())


def test_tests_and_inner_functions_are_no_targets() -> None:
    found = function_targets(
        [
            location("tests/test_a.py", "test_a", 1, 3),
            location("a.py", "outer.inner", 2, 3),
            location("a.py", "outer", 1, 5),
            location("a.py", "K", 10, 20, EntityKind.CLASS),
            location("a.py", "K.m", 11, 12),
            location("a.py", "", 1, 30, EntityKind.FILE),
        ],
        5,
    )
    assert [entity.qualname for entity in found] == ["outer", "K.m"]


def test_the_header_starts_where_the_entity_does(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "\n\nclass K:\n    @wrap\n    def m(self,\n          x=1):  # why\n        return x\n"
    )
    source = entity_source(tmp_path, Entity("a.py:K.m", EntityKind.FUNCTION, "a.py", "K.m", 4, 7))
    assert source is not None
    assert header_of(source.text) == "@wrap\ndef m(self,\n      x=1):  # why"


def test_no_header_is_guessed() -> None:
    assert header_of("x = 1\ny = 2\n") == ""


def test_suspicion_must_stand_out() -> None:
    assert most_suspicious({1: 0.5, 2: 0.5}, 1, 2, 3) == []
    assert most_suspicious({1: 0.5, 2: 0.9, 9: 1.0}, 1, 2, 3) == [2]
