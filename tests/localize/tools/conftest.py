"""A small shop as an in-memory graph over real files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeforge.localize.tools.toolbox import Toolbox
from tests.localize.tools.memory_graph import MemoryIndex, write_tree

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": '''
        """The cart."""
        import os
        from shop.pricing import apply_discount
        from shop.pricing import (
            Rate,
        )

        LIMIT = 10


        class Cart:
            """Holds items.

            All of them.
            """

            def __init__(self):
                self.items = []

            def add(self, item):
                """Add an item."""
                if len(self.items) >= LIMIT:
                    raise ValueError("the cart is full")
                self.items.append(item)

            @property
            def total(self):
                return sum(apply_discount(item.price, Rate()) for item in self.items)
        ''',
    "src/shop/pricing.py": '''
        class Rate:
            value = 0.1


        def apply_discount(price, rate):
            """Lower a price by a rate."""
            return price - price * rate.value


        def format_price(price):
            return f"{price:.2f}"
        ''',
    "src/shop/admin.py": """
        from shop.cart import Cart


        class AdminCart(Cart):
            def add(self, item):
                super().add(item)
        """,
    "tests/test_cart.py": """
        from shop.cart import Cart


        def test_total():
            cart = Cart()
            cart.add(1)
            assert cart.total == 1
        """,
    "docs/guide.md": "# Discounts\n\nHow the voucher of a cart is made.\n",
}
CART, PRICING, ADMIN = "src/shop/cart.py", "src/shop/pricing.py", "src/shop/admin.py"
EDGES = (
    f"{CART} imports {PRICING}:apply_discount",
    f"{CART} imports {PRICING}:Rate",
    f"{CART}:Cart.total invokes {PRICING}:apply_discount",
    f"{CART}:Cart.total invokes {PRICING}:Rate",
    f"{ADMIN} imports {CART}:Cart",
    f"{ADMIN}:AdminCart inherits {CART}:Cart",
    f"{ADMIN}:AdminCart.add invokes {CART}:Cart.add",
    f"tests/test_cart.py imports {CART}:Cart",
    f"tests/test_cart.py:test_total invokes {CART}:Cart",
    f"tests/test_cart.py:test_total invokes? {CART}:Cart.add",
    f"tests/test_cart.py:test_total invokes? {ADMIN}:AdminCart.add",
    f"tests/test_cart.py:test_total tests {CART}:Cart",
)

MakeIndex = Callable[[], MemoryIndex]


@pytest.fixture
def index(tmp_path: Path) -> MemoryIndex:
    """The shop, its files below `tmp_path`."""
    return MemoryIndex(tmp_path, write_tree(tmp_path, FILES), EDGES)


@pytest.fixture
def toolbox(index: MemoryIndex, tmp_path: Path) -> Toolbox:
    """The tools over it."""
    return Toolbox(index, tmp_path)
