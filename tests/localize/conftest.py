"""Small real repositories."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

MakeRepo = Callable[[Mapping[str, str | bytes]], Path]

SHOP = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": '''
        """The cart."""
        from shop.pricing import apply_discount

        LIMIT = 10


        class Cart:
            """Holds items."""

            def __init__(self):
                self.items = []

            def add(self, item):
                """Add an item."""
                self.items.append(item)

            def total(self):
                return sum(apply_discount(item.price) for item in self.items)
        ''',
    "src/shop/pricing.py": '''
        def apply_discount(price, rate=0.1):
            """Lower a price by a rate."""
            return price - price * rate


        def format_price(price):
            return f"{price:.2f}"
        ''',
    "tests/test_cart.py": """
        from shop.cart import Cart


        def test_total():
            cart = Cart()
            cart.add(1)
            assert cart.total() == 1
        """,
    "docs/guide.md": "# Discounts\n\nHow the discount of a cart is made.\n",
    "setup.cfg": "[metadata]\nname = shop\n",
}


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files; texts are dedented."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(dedent(content).lstrip("\n"), encoding="utf-8")


def git(root: Path, *arguments: str) -> str:
    """Run git in `root`."""
    command = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEFORGE_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def make_repo(tmp_path: Path) -> MakeRepo:
    """Create a committed repository from files."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "repo"
        root.mkdir()
        write_files(root, files)
        git(root, "init", "--quiet", "-b", "main")
        git(root, "add", ".")
        git(root, "commit", "--quiet", "-m", "all")
        return root

    return make


@pytest.fixture
def shop(make_repo: MakeRepo) -> Path:
    """A small shop."""
    return make_repo(SHOP)
