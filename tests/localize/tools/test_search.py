"""`search_entity`: what is found, how it matched, and how it is shown."""

from pathlib import Path

import pytest

from codeforge.localize.model import EntityKind
from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.results import SearchResult
from codeforge.localize.tools.toolbox import Toolbox
from codeforge.localize.tools.views import View
from tests.localize.tools.conftest import CART, PRICING
from tests.localize.tools.memory_graph import MemoryIndex, write_tree

WIDE = Budget(4_000)


def found(result: SearchResult) -> list[tuple[str, str]]:
    return [(hit.entity.id, str(hit.matches[0].kind)) for hit in result.hits]


@pytest.mark.parametrize(
    ("keyword", "identity", "kind"),
    [
        (f"{CART}:Cart.total", f"{CART}:Cart.total", "id"),
        (f"`./{CART}::Cart::total`", f"{CART}:Cart.total", "id"),
        ("src/shop", "src/shop/", "id"),
        (f"{CART}:24", f"{CART}:Cart.add", "line"),
        (f"{CART}#L8", CART, "line"),
        ("shop/cart.py:22:4", f"{CART}:Cart.add", "line"),
        ("Cart.total", f"{CART}:Cart.total", "name"),
        ("shop.pricing.apply_discount", f"{PRICING}:apply_discount", "name"),
        ("APPLY_DISCOUNT()", f"{PRICING}:apply_discount", "name"),
        ("def format_price", f"{PRICING}:format_price", "name"),
        ("pricing.py", PRICING, "path"),
        ("shop.pricing", PRICING, "path"),
        ("basket.total", f"{CART}:Cart.total", "last part of the name"),
        ("aply_discount", f"{PRICING}:apply_discount", "similar name"),
        ("formatPrice", f"{PRICING}:format_price", "similar name"),
        ("discount apply", f"{PRICING}:apply_discount", "similar name"),
        ("the voucher", "docs/guide.md", "content"),
    ],
)
def test_each_way_to_match(toolbox: Toolbox, keyword: str, identity: str, kind: str) -> None:
    result = toolbox.search_entity([keyword], WIDE)
    assert found(result)[0] == (identity, kind)
    assert kind in result.text


def test_an_absolute_path_and_a_traceback_frame(toolbox: Toolbox, tmp_path: Path) -> None:
    for keyword in (f"{tmp_path}/{CART}:22", f'File "{tmp_path}/{CART}", line 22, in add'):
        assert found(toolbox.search_entity([keyword], WIDE)) == [(f"{CART}:Cart.add", "line")]


def test_exact_matches_leave_no_room_for_guesses(toolbox: Toolbox) -> None:
    assert found(toolbox.search_entity(["apply_discount"], WIDE)) == [(f"{PRICING}:apply_discount", "name")]


def test_keywords_take_turns(toolbox: Toolbox) -> None:
    result = toolbox.search_entity(["add", "voucher"], WIDE, limit=2)
    assert found(result) == [("src/shop/admin.py:AdminCart.add", "name"), ("docs/guide.md", "content")]
    assert result.more == 1
    assert "… 1 more match left out" in result.text


def test_kinds_and_path(toolbox: Toolbox) -> None:
    only = toolbox.search_entity(["cart"], WIDE, kinds=[EntityKind.FUNCTION], path="src/")
    assert only.hits
    assert all(
        hit.entity.kind is EntityKind.FUNCTION and hit.entity.path.startswith("src/") for hit in only.hits
    )
    wrong = toolbox.search_entity(["cart"], WIDE, path="src/shpo/*.py")
    assert not wrong.hits and "`src/shop/`" in wrong.error


def test_content_is_asked_for_until_enough_pass_the_filter(tmp_path: Path) -> None:
    files = {f"a/f{number}.py": "def x():\n    return 'needle'\n" for number in range(30)}
    files["b/last.py"] = "def y():\n    return 'needle'\n" + "# hay\n" * 200
    toolbox = Toolbox(MemoryIndex(tmp_path, write_tree(tmp_path, files)), tmp_path)
    hits = toolbox.search_entity(["the needle"], WIDE, path="b/", limit=3).hits
    assert [hit.entity.id for hit in hits] == ["b/last.py:y", "b/last.py"]


def test_one_of_many_namesakes_is_told_by_the_other_keywords(tmp_path: Path) -> None:
    files = {f"m{number}.py": f"def run():\n    return 'topic{chr(97 + number)}'\n" for number in range(8)}
    toolbox = Toolbox(MemoryIndex(tmp_path, write_tree(tmp_path, files)), tmp_path)
    assert toolbox.search_entity(["run", "topicf"], WIDE).hits[0].entity.id == "m5.py:run"


def test_a_mistyped_path_finds_the_nearest(toolbox: Toolbox) -> None:
    assert found(toolbox.search_entity(["src/shop/crat.py"], WIDE))[0] == (CART, "similar name")


def test_nothing_found_says_so(toolbox: Toolbox) -> None:
    result = toolbox.search_entity(["zzzqqq"], WIDE)
    assert not result.hits and not result.error and "nothing matches `zzzqqq`" in result.text
    assert toolbox.search_entity([" "], WIDE).error


def test_views(toolbox: Toolbox) -> None:
    fold, preview, full = (
        toolbox.search_entity(["Cart.add"], WIDE, view=view) for view in (View.FOLD, View.PREVIEW, View.FULL)
    )
    assert fold.text.splitlines()[0] == f'1. function {CART}:Cart.add (lines 20-24) — name "Cart.add"'
    assert "def add(self, item)" in preview.text and "Add an item." in preview.text
    assert "append" not in preview.text
    assert "24|         self.items.append(item)" in full.text


def test_preview_shows_the_lines_that_matched(toolbox: Toolbox) -> None:
    result = toolbox.search_entity(["voucher made"], WIDE)
    assert "3| How the voucher of a cart is made." in result.text


def test_a_source_is_shown_once(toolbox: Toolbox) -> None:
    result = toolbox.search_entity([f"{CART}:Cart", f"{CART}:Cart.add"], WIDE)
    assert [hit.view for hit in result.hits] == ["full", "fold"]
    assert result.text.count("self.items.append(item)") == 1


def test_many_of_one_name_are_folded(tmp_path: Path) -> None:
    files = {f"m{number}.py": "def run():\n    return 1\n" for number in range(6)}
    toolbox = Toolbox(MemoryIndex(tmp_path, write_tree(tmp_path, files)), tmp_path)
    result = toolbox.search_entity(["run"], WIDE)
    assert [hit.view for hit in result.hits] == ["fold"] * 6


@pytest.mark.parametrize("most", [1, 8, 20, 60, 90, 150, 300, 1_000])
def test_the_budget_holds_and_detail_goes_before_hits(toolbox: Toolbox, most: int) -> None:
    budget = Budget(most)
    result = toolbox.search_entity(["add", "Cart", "voucher"], budget)
    assert budget.count(result.text) <= most
    missing = [hit for hit in result.hits if not hit.view]
    if missing and most >= 60:
        assert "left out" in result.text
    if any(hit.view == "fold" for hit in result.hits[:1]) and most >= 150:
        assert "shown shorter" in result.text
    if any(hit.view == "full" for hit in result.hits):
        assert not missing


def test_a_file_that_is_gone_or_changed(toolbox: Toolbox, tmp_path: Path) -> None:
    with (tmp_path / PRICING).open("a", encoding="utf-8") as file:
        file.write("\n\n# more\n")
    assert "changed since it was indexed" in toolbox.search_entity(["format_price"], WIDE).text
    (tmp_path / PRICING).unlink()
    assert found(toolbox.search_entity(["format_price"], WIDE)) == [(f"{PRICING}:format_price", "name")]
