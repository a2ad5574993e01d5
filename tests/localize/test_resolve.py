"""Paths and modules as people write them."""

import pytest

from codeforge.localize.resolve import files_for_module, files_for_path
from codeforge.localize.snapshot import Snapshot

FILES = ["src/shop/cart.py", "src/shop/util.py", "tests/util.py", "json/decoder.py", "src/shop/__init__.py"]
SNAPSHOT = Snapshot(FILES, {})


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("src/shop/cart.py", ["src/shop/cart.py"]),
        ("shop/cart.py", ["src/shop/cart.py"]),
        ("cart.py", ["src/shop/cart.py"]),
        ("/home/me/proj/src/shop/cart.py", ["src/shop/cart.py"]),
        ("/venv/lib/python3.11/site-packages/shop/cart.py", ["src/shop/cart.py"]),
        ("C:\\work\\src\\shop\\cart.py", ["src/shop/cart.py"]),
        ("util.py", ["src/shop/util.py", "tests/util.py"]),
        ("/usr/lib/python3.11/cart.py", []),
        ("../src/shop/cart.py", ["src/shop/cart.py"]),
        ("nothing.py", []),
        ("", []),
    ],
)
def test_paths(written: str, found: list[str]) -> None:
    assert files_for_path(SNAPSHOT, written) == found


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("shop.cart", (["src/shop/cart.py"], "")),
        ("shop.cart.Cart.total", (["src/shop/cart.py"], "Cart.total")),
        ("shop", (["src/shop/__init__.py"], "")),
        ("os.path", ([], "os.path")),
    ],
)
def test_modules(written: str, found: tuple[list[str], str]) -> None:
    assert files_for_module(SNAPSHOT, written) == found
