"""Gold files and functions of real commits, checked against what is known."""

import pytest

from codeforge.git import GitError
from codeforge.tasks.github.gold import Gold, gold_of
from tests.tasks.github.histories import Files, History

CART = '''import os

RATE = 2


class Cart:
    """A cart."""

    kind = "cart"

    @property
    def total(self):
        return self.sum() * RATE

    def sum(self):
        return 1


def discount(price):
    """Half."""
    def cut(value):
        return value / 2

    return cut(price)
'''


def change(history: History, files: Files, before: Files | None = None) -> Gold:
    base = history.commit("start", {"shop/cart.py": CART, **(before or {})})
    fix = history.commit("Fix #1", files)
    return gold_of(history.repo, base, fix, max_files=10)


def names(gold: Gold) -> tuple[list[str], list[str]]:
    return [each.split(":")[1] for each in gold.functions], [each.split(":")[1] for each in gold.classes]


@pytest.mark.parametrize(
    ("old", "new", "functions", "classes"),
    [
        ("return 1", "return 3", ["Cart.sum"], []),
        ("    @property\n", "    @cached\n", ["Cart.total"], []),
        ("value / 2", "value / 3", ["discount.cut"], []),
        ("cut(price)\n", "cut(price) + 1\n", ["discount"], []),
        ('kind = "cart"', 'kind = "basket"', [], ["Cart"]),
        ("class Cart:", "class Cart(Base):", [], ["Cart"]),
        ("    def sum(self):", "    def new(self):\n        return 2\n\n    def sum(self):", [], ["Cart"]),
        ("RATE = 2", "RATE = 3", [], []),
        ("import os\n", "import os\nimport re\n", [], []),
        ("    def sum(self):\n        return 1\n", "", ["Cart.sum"], []),
        ("    def sum(self):", "    def add(self):", ["Cart.sum"], []),
        ('"""A cart."""\n\n    kind = "cart"', '"""The cart."""\n\n    kind = "bag"', [], ["Cart"]),
    ],
)
def test_innermost_definitions(
    history: History, old: str, new: str, functions: list[str], classes: list[str]
) -> None:
    assert old in CART
    gold = change(history, {"shop/cart.py": CART.replace(old, new)})
    assert gold.files == ("shop/cart.py",)
    assert names(gold) == (functions, classes)


def test_a_docstring_beside_a_real_change_counts_for_nothing(history: History) -> None:
    text = CART.replace("A cart.", "The cart.").replace("return 1", "return 3").replace("Half.", "A half.")
    assert names(change(history, {"shop/cart.py": text})) == (["Cart.sum"], [])


@pytest.mark.parametrize(
    "text",
    [
        CART.replace('"""Half."""', '"""A half."""'),
        CART.replace("RATE = 2", "RATE = 2  # percent"),
        "\n\n" + CART,
        CART.replace("\n", "\r\n"),
    ],
)
def test_comments_docstrings_and_layout_are_no_gold(history: History, text: str) -> None:
    assert change(history, {"shop/cart.py": text}).files == ()


def test_versions_are_no_gold(history: History) -> None:
    before = {"shop/__init__.py": '__version__ = "1.0"\n'}
    files = {
        "shop/__init__.py": '__version__ = "1.1"  # soon\n',
        "shop/cart.py": CART.replace("return 1", "return 3"),
    }
    gold = change(history, files, before)
    assert gold.files == ("shop/cart.py",)


def test_a_version_beside_words_is_no_gold(history: History) -> None:
    before = {"shop/__init__.py": '"""A shop."""\n\n__version__ = "1.0"\n'}
    files = {"shop/__init__.py": '"""The shop."""\n\n__version__ = "1.1"\n'}
    assert change(history, files, before).files == ()


def test_changed_lines_are_counted(history: History) -> None:
    gold = change(history, {"shop/cart.py": CART.replace("return 1", "return 3\n        # why")})
    assert gold.changed_lines == 3


def test_only_tests_or_docs(history: History) -> None:
    files = {"tests/test_cart.py": "def test(): pass\n", "docs/index.md": "hello\n", "README.md": "x\n"}
    gold = change(history, files)
    assert (gold.files, gold.functions, gold.created) == ((), (), ())
    assert gold.tests == ("tests/test_cart.py",)


def test_new_files_are_told_apart(history: History) -> None:
    gold = change(
        history, {"shop/new.py": "def f(): pass\n", "shop/cart.py": CART.replace("return 1", "return 3")}
    )
    assert (gold.files, gold.created) == (("shop/cart.py",), ("shop/new.py",))


def test_a_rename_with_a_change_keeps_the_old_name(history: History) -> None:
    history.commit("start", {"shop/cart.py": CART, "tests/test_old.py": "def test(): pass\n" * 9})
    base = history.git("rev-parse", "HEAD")
    history.git("mv", "shop/cart.py", "shop/basket.py")
    history.git("mv", "tests/test_old.py", "tests/test_new.py")
    fix = history.commit("Fix #1", {"shop/basket.py": CART.replace("return 1", "return 3")})
    gold = gold_of(history.repo, base, fix, max_files=10)
    assert gold.files == ("shop/cart.py",) and gold.functions == ("shop/cart.py:Cart.sum",)
    assert gold.tests == ("tests/test_new.py",) and gold.created == ()


def test_a_pure_rename(history: History) -> None:
    base = history.commit("start", {"shop/cart.py": CART})
    history.git("mv", "shop/cart.py", "shop/basket.py")
    fix = history.commit("Fix #1", {})
    gold = gold_of(history.repo, base, fix, max_files=10)
    assert (gold.files, gold.functions) == (("shop/cart.py",), ())


def test_a_deletion(history: History) -> None:
    gold = change(history, {"shop/cart.py": None})
    assert gold.files == ("shop/cart.py",)
    assert names(gold) == (["Cart.total", "Cart.sum", "discount", "discount.cut"], ["Cart"])


def test_links_modes_and_binary_files(history: History) -> None:
    base = history.commit("start", {"shop/cart.py": CART, "shop/a.py": b"\0\1", "shop/run.py": "x = 1\n"})
    (history.root / "shop" / "link.py").symlink_to("cart.py")
    (history.root / "shop" / "run.py").chmod(0o755)
    middle = history.commit("Fix #1", {"shop/a.py": b"\0\2"})
    assert gold_of(history.repo, base, middle, max_files=10).files == ("shop/a.py", "shop/run.py")
    (history.root / "shop" / "link.py").unlink()
    (history.root / "shop" / "link.py").symlink_to("run.py")
    fix = history.commit("Fix #2", {})
    gold = gold_of(history.repo, middle, fix, max_files=10)
    assert (gold.files, gold.functions) == (("shop/link.py",), ())


def test_odd_names_and_contents(history: History) -> None:
    latin = 'def größe():\n    return "\xe4"\n'.encode("latin-1")
    before: Files = {
        "shop/ä ö.py": "def f():\n    return 1\n",
        "shop/latin.py": latin,
        'shop/"q".py': "def g():\n    return 1\n",
    }
    files: Files = {
        "shop/ä ö.py": "def f():\n    return 2\n",
        "shop/latin.py": latin.replace(b"\xe4", b"\xe5"),
        'shop/"q".py': "def g():\n    return 2\n",
    }
    gold = change(history, files, before)
    assert set(gold.files) == set(files)
    assert "shop/ä ö.py:f" in gold.functions
    assert any(each.startswith("shop/latin.py:gr") for each in gold.functions)


def test_other_languages(history: History) -> None:
    before = {
        "a.go": "package a\n\nfunc F() int {\n\treturn 1\n}\n",
        "a.js": "class A {\n  m() {\n    return 1\n  }\n}\n",
        "a.lua": "x = 1\n",
    }
    gold = change(history, {path: text.replace("1", "2") for path, text in before.items()}, before)
    assert set(gold.files) == set(before)
    assert set(gold.functions) == {"a.go:F", "a.js:A.m"}


def test_the_users_git_settings_change_nothing(history: History) -> None:
    for key, value in (
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.renames", "false"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("diff.external", "false"),
    ):
        history.git("config", key, value)
    gold = change(history, {"shop/cart.py": CART.replace("return 1", "return 3")})
    assert names(gold) == (["Cart.sum"], [])


def test_too_many_files_are_not_looked_into(history: History) -> None:
    base = history.commit("start", {f"shop/{n}.py": "x = 1\n" for n in range(4)})
    fix = history.commit("Fix #1", {f"shop/{n}.py": "x = 2\n" for n in range(4)})
    gold = gold_of(history.repo, base, fix, max_files=3)
    assert len(gold.files) == 4 and gold.changed_lines == 0


def test_a_commit_that_is_not_there(history: History) -> None:
    fix = history.commit("start", {"a.py": "x = 1\n"})
    with pytest.raises(GitError):
        gold_of(history.repo, "0" * 40, fix, max_files=3)
