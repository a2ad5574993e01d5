"""What an encoder reads of an entity."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeforge.localize.dense.entities import all_nodes, all_passages, node_passages
from codeforge.localize.dense.passage import BODY_LINES, MOST_CHARS, passage_text, text_digest
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex
from tests.localize.conftest import MakeRepo

CART = "src/shop/cart.py"


def texts(root: Path) -> dict[str, str]:
    with CodeIndex.open(root, list_files(root)) as index:
        return dict(all_passages(index))


def test_the_header_is_said_once_and_blank_lines_not_at_all() -> None:
    lines = ["    def total(self, rate):", '        """The sum."""', "", "        return rate"]
    text = passage_text("Cart.total", "def total(self, rate)", lines)
    assert text == 'Cart.total\ndef total(self, rate)\n        """The sum."""\n        return rate'


@given(st.text(max_size=30), st.text(max_size=30), st.lists(st.text(max_size=200), max_size=60))
def test_a_passage_is_bounded(name: str, signature: str, lines: list[str]) -> None:
    text = passage_text(name, signature, lines)
    assert len(text) <= MOST_CHARS
    assert text_digest("v", text) == text_digest("v", text)
    assert text_digest("v", text) != text_digest("w", text)


def test_no_more_lines_than_are_read() -> None:
    text = passage_text("f", "def f()", [f"x{number} = 1" for number in range(100)])
    assert len(text.split("\n")) == BODY_LINES + 2


def test_every_file_class_and_function_has_a_passage(shop: Path) -> None:
    found = texts(shop)
    assert {CART, f"{CART}:Cart", f"{CART}:Cart.total", "docs/guide.md"} <= set(found)
    with CodeIndex.open(shop, list_files(shop)) as index:
        assert len(found) == len(all_nodes(index))


def test_a_function_is_given_by_its_source(shop: Path) -> None:
    text = texts(shop)[f"{CART}:Cart.total"]
    assert text.startswith("Cart.total\n")
    assert "apply_discount(item.price)" in text


def test_a_class_is_given_by_itself_and_its_members_signatures(shop: Path) -> None:
    text = texts(shop)[f"{CART}:Cart"]
    assert "Holds items." in text
    assert "def total(self)" in text
    assert "apply_discount" not in text


def test_a_file_is_given_by_what_is_outside_of_its_classes(shop: Path) -> None:
    text = texts(shop)[CART]
    assert text.startswith(CART)
    assert "LIMIT = 10" in text
    assert "class Cart" in text
    assert "self.items" not in text


def test_comments_above_belong_to_it(make_repo: MakeRepo) -> None:
    source = "// Not this one.\n\n// Adds\n// numbers.\nint add(int a, int b) {\n    return a + b;\n}\n"
    root = make_repo(
        {"math.c": "#include <x.h>\n" + source, "tail.c": "#define A 1\nint one(void) { return A; }\n"}
    )
    found = texts(root)
    assert "// Adds\n// numbers." in found["math.c:add"]
    assert "Not this" not in found["math.c:add"]
    assert "#define" not in found["tail.c:one"]


def test_passages_are_in_the_order_asked_and_repeat(shop: Path) -> None:
    with CodeIndex.open(shop, list_files(shop)) as index:
        nodes = all_nodes(index)
        asked = [*reversed(nodes), nodes[0]]
        keys = [passage.key for passage in node_passages(index, asked)]
        assert keys == [index.graph.entity(node).id for node in asked]


def test_what_is_gone_is_given_by_name_and_signature(shop: Path) -> None:
    with CodeIndex.open(shop, list_files(shop)) as index:
        node = index.graph.find(f"{CART}:Cart.total")
        assert node is not None
        (shop / CART).unlink()
        (passage,) = node_passages(index, [node])
    assert passage.text == "Cart.total\ndef total(self):"
