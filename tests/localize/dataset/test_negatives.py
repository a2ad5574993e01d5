"""Which of a ranking's answers are hard negatives."""

from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.dataset.negatives import Ranked, choose, wanted
from codeforge.localize.dataset.record import Example, GoldLocations, Passage
from codeforge.localize.model import Entity, EntityKind, Location

GOLD = GoldLocations(
    ("shop/cart.py", "shop/whole.py"),
    ("shop/cart.py:Cart.sum", "shop/cart.py:cut"),
    ("shop/cart.py:Deep.In",),
)
EXAMPLE = Example("task:1", "task", "ann/shop", "abc", "text", GOLD, ("shop/new.py",))


def at(identity: str) -> Location:
    path, _, name = identity.partition(":")
    kind = EntityKind.FUNCTION if name else EntityKind.FILE
    return Location(Entity(identity, kind, path, name, 1, 2), 1.0, ())


def passage(entity: Entity) -> Passage | None:
    if entity.path == "shop/gone.py":
        return None
    return Passage(entity.id, entity.kind.value, entity.path, 1, 2, "text")


def chosen(*identities: str, count: int = 99) -> list[str]:
    ranked = Ranked(tuple(map(at, identities)), ())
    return [each.passage.id for each in choose(EXAMPLE, ranked, count, passage)[0]]


def test_what_is_certainly_wrong_is_taken() -> None:
    assert chosen("shop/tax.py:rate", "shop/cart.py:Cart.other", "shop/tax.py") == [
        "shop/tax.py:rate",
        "shop/cart.py:Cart.other",
        "shop/tax.py",
    ]


def test_what_may_be_right_is_left_out() -> None:
    assert (
        chosen(
            "shop/cart.py:Cart.sum",
            "shop/cart.py:Cart",
            "shop/cart.py:cut.inner",
            "shop/cart.py:Deep",
            "shop/cart.py:Deep.In.method",
            "shop/cart.py",
            "shop/whole.py:anything",
            "shop/new.py:f",
            "tests/test_cart.py:test_sum",
            "docs/conf.py",
            "shop/gone.py:f",
        )
        == []
    )


def test_a_name_that_only_begins_alike_is_wrong() -> None:
    assert chosen("shop/cart.py:cutter", "shop/cart.py:Cart2") == [
        "shop/cart.py:cutter",
        "shop/cart.py:Cart2",
    ]


def test_ranks_and_scores_are_those_of_the_ranking() -> None:
    ranked = Ranked((at("shop/cart.py:cut"), at("shop/tax.py:rate")), (at("shop/cart.py"), at("shop/tax.py")))
    negatives, files = choose(EXAMPLE, ranked, 5, passage)
    assert [(each.rank, each.score) for each in negatives] == [(2, 1.0)]
    assert [(each.path, each.rank) for each in files] == [("shop/tax.py", 2)]


PATHS = st.sampled_from(["shop/cart.py", "shop/whole.py", "shop/new.py", "shop/tax.py", "tests/test_a.py"])
NAMES = st.sampled_from(["", ":Cart", ":Cart.sum", ":cut", ":cut.x", ":Deep.In.m", ":other"])
IDS = st.lists(st.tuples(PATHS, NAMES).map("".join), max_size=20, unique=True)


@given(IDS, st.integers(0, 6))
def test_no_negative_is_gold_or_around_it(identities: list[str], count: int) -> None:
    found = chosen(*identities, count=count)
    assert len(found) <= count and found == [each for each in identities if each in found]
    for each in found:
        for gold in (*GOLD.functions, *GOLD.classes, "shop/whole.py"):
            assert each != gold and not each.startswith((f"{gold}.", f"{gold}:"))
            assert not gold.startswith((f"{each}.", f"{each}:"))


def test_more_is_asked_for_than_is_wanted() -> None:
    assert wanted(EXAMPLE, 10) > 10 + 3
