"""Which known entities a block of code redefines."""

from pathlib import Path

from codeforge.localize.entity_source import RepoEntitySource


def names(source: RepoEntitySource, hint: str | None, code: str) -> list[tuple[str, str]]:
    return [(span.path, span.qualname) for span in source.lookup(hint, code)]


def test_a_function_by_its_name(shop: Path) -> None:
    (span,) = RepoEntitySource(shop).lookup(None, "def apply_discount(price):\n    return price\n")
    assert (span.path, span.qualname, span.start_line) == ("src/shop/pricing.py", "apply_discount", 1)
    assert span.text.startswith("def apply_discount(price, rate=0.1):") and not span.text.endswith("\n")


def test_a_bare_method_keeps_its_indentation(shop: Path) -> None:
    (span,) = RepoEntitySource(shop).lookup(None, "def total(self):\n    return 0\n")
    assert span.qualname == "Cart.total"
    assert span.text.startswith("    def total(self):")


def test_a_class_brings_itself_and_its_methods(shop: Path) -> None:
    code = "class Cart:\n    def total(self):\n        return 0\n"
    assert names(RepoEntitySource(shop), None, code) == [
        ("src/shop/cart.py", "Cart"),
        ("src/shop/cart.py", "Cart.total"),
    ]


def test_all_of_several_and_the_hint_narrows(shop: Path) -> None:
    (shop / "other.py").write_text("def apply_discount():\n    pass\n", encoding="utf-8")
    source = RepoEntitySource(shop)
    code = "def apply_discount(): ..."
    assert [path for path, _ in names(source, None, code)] == ["other.py", "src/shop/pricing.py"]
    assert names(source, "other.py", code) == [("other.py", "apply_discount")]
    assert names(source, "nowhere.py", code) == []


def test_content_is_read_anew(shop: Path) -> None:
    source = RepoEntitySource(shop)
    assert source.lookup(None, "def fresh(): ...") == []
    path = shop / "src/shop/pricing.py"
    path.write_text("\n\ndef fresh():\n    return 1\n", encoding="utf-8")
    (span,) = source.lookup(None, "def fresh(): ...")
    assert (span.start_line, span.end_line) == (3, 4)


def test_a_block_with_errors_still_finds_what_it_defines(shop: Path) -> None:
    assert names(RepoEntitySource(shop), None, "def total(self:\n    return (") == [
        ("src/shop/cart.py", "Cart.total")
    ]


def test_line_endings_and_encodings(shop: Path) -> None:
    (shop / "odd.py").write_bytes(
        "# -*- coding: latin-1 -*-\r\ndef café():\r\n    return 'é'\r\n".encode("latin-1")
    )
    source = RepoEntitySource(shop, ["odd.py"])
    (span,) = source.lookup(None, "def café(): ...")
    assert span.text == "def café():\n    return 'é'"
    assert source.source("odd.py") == "# -*- coding: latin-1 -*-\ndef café():\n    return 'é'\n"


def test_unknown_and_binary_files(shop: Path) -> None:
    (shop / "data.py").write_bytes(b"def f\0: pass")
    source = RepoEntitySource(shop, ["data.py", "gone.py"])
    assert source.source("data.py") is source.source("gone.py") is source.source("src/shop/cart.py") is None
    assert source.lookup(None, "def f(): ...") == []
    assert source.lookup(None, "no code at all") == []


def test_only_the_given_files_are_known(shop: Path) -> None:
    assert RepoEntitySource(shop, []).lookup(None, "def total(self): ...") == []
