"""`retrieve_entity`: sources with line numbers, within a budget."""

import re
from pathlib import Path

import pytest

from codeforge.localize.tools.budget import Budget
from codeforge.localize.tools.toolbox import Toolbox
from tests.localize.tools.conftest import CART, PRICING
from tests.localize.tools.memory_graph import MemoryIndex, write_tree

WIDE = Budget(4_000)


def test_a_method_with_the_imports_it_uses(toolbox: Toolbox) -> None:
    result = toolbox.retrieve_entity([f"{CART}:Cart.total"], WIDE)
    assert result.text.splitlines() == [
        f"function {CART}:Cart.total (lines 26-28)",
        "3| from shop.pricing import apply_discount",
        "4| from shop.pricing import (",
        "5|     Rate,",
        "6| )",
        "… 1 import statement that it does not use",
        "11| class Cart: …",
        "26|     @property",
        "27|     def total(self):",
        "28|         return sum(apply_discount(item.price, Rate()) for item in self.items)",
    ]


def test_a_whole_file_and_an_outline_of_it(toolbox: Toolbox) -> None:
    whole = toolbox.retrieve_entity([CART], WIDE)
    assert whole.entities[0].view == "full" and "28|         return sum" in whole.text
    short = toolbox.retrieve_entity([CART], Budget(160))
    assert short.entities[0].view == "outline"
    assert "outline only" in short.text and "20-24|      def add(self, item)" in short.text


def test_a_directory(toolbox: Toolbox) -> None:
    text = toolbox.retrieve_entity(["src/shop"], WIDE).text
    assert text.splitlines()[0] == "directory src/shop/" and f"file {CART} (lines 1-28)" in text


def test_lines_of_a_file(toolbox: Toolbox) -> None:
    text = toolbox.retrieve_entity([f"{CART}:2-3", f"{PRICING}:6"], WIDE).text
    assert "2| import os\n3| from shop" in text and "5| def apply_discount" in text
    assert "there is no line 99" in toolbox.retrieve_entity([f"{CART}:99"], WIDE).error


def test_a_long_function_keeps_its_ends_and_says_how_to_see_the_rest(tmp_path: Path) -> None:
    body = "".join(f"    step_{number} = work({number})\n" for number in range(300))
    files = write_tree(tmp_path, {"long.py": f"def long():\n{body}    return 1\n"})
    toolbox = Toolbox(MemoryIndex(tmp_path, files), tmp_path)
    budget = Budget(600)
    text = toolbox.retrieve_entity(["long.py:long"], budget).text
    assert budget.fits(text) and "def long" in text and "return 1" in text
    hint = re.search(r"… (\d+) lines left out to fit; retrieve `(long\.py:\d+-\d+)`", text)
    assert hint
    rest = toolbox.retrieve_entity([hint[2]], Budget(10_000)).text
    shown = set(re.findall(r"step_\d+", text)) | set(re.findall(r"step_\d+", rest))
    assert len(shown) == 300


def test_unknown_ids_are_answered_with_the_nearest(toolbox: Toolbox) -> None:
    result = toolbox.retrieve_entity([f"{CART}:Cart.ad", "src/shop/crat.py", "Cart", "add"], WIDE)
    assert [item.entity.id for item in result.entities] == [f"{CART}:Cart"]
    assert f"`{CART}:Cart.add`" in result.errors[0]
    assert f"`{CART}`" in result.errors[1]
    assert "could be any of 2 entities" in result.errors[2]
    assert result.error in result.text


def test_a_gone_file_is_said(toolbox: Toolbox, tmp_path: Path) -> None:
    (tmp_path / PRICING).unlink()
    result = toolbox.retrieve_entity([f"{PRICING}:Rate"], WIDE)
    assert "can't be read now" in result.text


def test_strange_text_is_made_harmless(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_bytes(b"\xef\xbb\xbfdef f():\r\n    return '\x1b[31m'  # " + b"x" * 5_000 + b"\r\n")
    toolbox = Toolbox(MemoryIndex(tmp_path, {"odd.py": "def f():\n    return 1\n"}), tmp_path)
    text = toolbox.retrieve_entity(["odd.py:f"], WIDE).text
    assert "\x1b" not in text and "\\x1b[31m" in text and "more characters" in text
    assert "1| def f():\n" in text


@pytest.mark.parametrize("most", [1, 5, 30, 70, 120, 200, 400])
def test_every_entity_is_named_before_one_is_shown(toolbox: Toolbox, most: int) -> None:
    budget = Budget(most)
    result = toolbox.retrieve_entity([CART, PRICING, f"{CART}:Cart"], budget)
    assert budget.fits(result.text)
    if most >= 120:
        for item in result.entities:
            assert item.entity.id in result.text
        short = [item for item in result.entities if item.view in ("", "fold")]
        assert bool(short) == (f"… to fit {most} tokens" in result.text)
