"""Ranking on real small repositories: every signal decides where it should."""

import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codeforge.localize.dense.encoder import TextRole
from codeforge.localize.dense.scorer import DenseScorer
from codeforge.localize.model import Location
from codeforge.localize.ranker import FailureSignal, Localizer, LocateQuery

from .conftest import MakeRepo, git
from .dense.hashing import HashingEncoder


def locate(root: Path, text: str, *failures: FailureSignal, limit: int = 10) -> list[Location]:
    return Localizer(root).locate(LocateQuery(text, failures, limit))


def top(root: Path, text: str, *failures: FailureSignal) -> str:
    return locate(root, text, *failures)[0].entity.id


def signals(location: Location) -> set[str]:
    return {reason.signal for reason in location.reasons}


def test_words_of_the_issue(shop: Path) -> None:
    found = locate(shop, "Formatting of prices loses cents")
    assert found[0].entity.id == "src/shop/pricing.py:format_price"
    assert "lexical" in signals(found[0])


@pytest.mark.parametrize("written", ["`Cart.total`", "Cart.total()", "shop.cart.Cart.total"])
def test_a_named_symbol(shop: Path, written: str) -> None:
    found = locate(shop, f"{written} is off by one")
    assert found[0].entity.id == "src/shop/cart.py:Cart.total"
    assert "symbol" in signals(found[0])


def test_a_named_path_lifts_its_entities(shop: Path) -> None:
    found = locate(shop, "Something is wrong in src/shop/pricing.py")
    assert {location.entity.path for location in found[:2]} == {"src/shop/pricing.py"}
    assert "path" in signals(found[0])


def test_the_innermost_frame_of_the_repository_wins(shop: Path) -> None:
    text = """Crash on checkout

Traceback (most recent call last):
  File "/srv/app/tests/test_cart.py", line 7, in test_total
    assert cart.total() == 1
  File "/srv/app/src/shop/cart.py", line 18, in total
    return sum(...)
  File "/srv/app/src/shop/pricing.py", line 3, in apply_discount
    return price - price * rate
  File "/usr/lib/python3.11/decimal.py", line 3, in quantize
TypeError: no
"""
    found = locate(shop, text)
    assert found[0].entity.id == "src/shop/pricing.py:apply_discount"
    assert found[1].entity.id == "src/shop/cart.py:Cart.total"
    assert "traceback" in signals(found[0])


def test_a_moved_function_is_found_by_its_name(shop: Path) -> None:
    text = 'File "src/shop/pricing.py", line 900, in format_price'
    assert top(shop, text) == "src/shop/pricing.py:format_price"


def test_frames_of_a_failing_test(shop: Path) -> None:
    failure = FailureSignal(
        "tests/test_cart.py::test_total",
        (("tests/test_cart.py", 7, "test_total"), ("src/shop/cart.py", 18, "Cart.total")),
        "AssertionError: 0.9 != 1",
    )
    assert top(shop, "test fails", failure) == "src/shop/cart.py:Cart.total"


def test_what_a_failing_test_calls(shop: Path) -> None:
    failure = FailureSignal("tests/test_cart.py::test_total[x-1]", (), "AssertionError")
    found = {location.entity.id: location for location in locate(shop, "wrong result", failure)}
    assert "test" in signals(found["src/shop/cart.py:Cart.total"])
    assert "test" in signals(found["src/shop/cart.py:Cart"])
    assert "tests/test_cart.py:test_total" not in list(found)[:1]


def test_tests_and_docs_lose_to_source(shop: Path) -> None:
    found = locate(shop, "cart total discount")
    assert found[0].entity.path.startswith("src/")


def test_a_named_test_file_does_not_lose(shop: Path) -> None:
    assert (
        locate(shop, "tests/test_cart.py: test_total is flaky")[0].entity.id
        == "tests/test_cart.py:test_total"
    )


def test_neighbours_have_structural_reasons(shop: Path) -> None:
    found = {location.entity.id: location for location in locate(shop, "`Cart.total` fails")}
    assert "structural" in signals(found["src/shop/pricing.py:apply_discount"])


def test_nothing_fits_still_gives_guesses(shop: Path) -> None:
    found = locate(shop, "zzzz qqqq")
    assert found and all(location.score < 0.1 and location.reasons for location in found)


def test_files_are_ranked_too(shop: Path) -> None:
    answer = Localizer(shop).locate_all(LocateQuery("`apply_discount` is wrong"))
    assert answer.files[0].entity.id == "src/shop/pricing.py"
    assert len({location.entity.path for location in answer.files}) == len(answer.files)


def test_scores_fall_and_limits_hold(shop: Path) -> None:
    found = locate(shop, "cart price discount item add total format", limit=4)
    assert len(found) == 4
    assert [location.score for location in found] == sorted((x.score for x in found), reverse=True)


@pytest.mark.parametrize("text", ["`apply_discount` of a cart", "tests/test_cart.py fails", "zzzz", "cart"])
def test_scores_are_sums_of_reasons(shop: Path, text: str) -> None:
    answer = Localizer(shop).locate_all(LocateQuery(text))
    assert answer.locations and answer.files
    for location in (*answer.locations, *answer.files):
        assert location.score == pytest.approx(sum(reason.weight for reason in location.reasons))
        assert 0 < location.score <= 1
        assert all(reason.weight > 0 and reason.detail for reason in location.reasons)


def test_tests_can_be_left_out(shop: Path) -> None:
    text = "tests/test_cart.py: test_total is flaky"
    answer = Localizer(shop).locate_all(LocateQuery(text, tests=False))
    assert answer.locations
    assert not any(at.entity.path.startswith("tests/") for at in (*answer.locations, *answer.files))


def test_commits_for_similar_reasons_speak(shop: Path) -> None:
    """Nothing in the code says "rebate"; a commit that changed it did."""
    path = shop / "src/shop/pricing.py"
    path.write_text(path.read_text("utf-8").replace("0.1", "0.2"), encoding="utf-8")
    git(shop, "commit", "--quiet", "-am", "Rebate of frequent buyers is doubled")
    found = Localizer(shop).locate_all(LocateQuery("The rebate of buyers is ignored"))
    assert found.files[0].entity.path == "src/shop/pricing.py"
    assert "history" in signals(found.files[0])
    without = Localizer(shop, history=False).locate_all(LocateQuery("The rebate of buyers is ignored"))
    assert not any("history" in signals(at) for at in (*without.locations, *without.files))


def test_similarity_in_meaning_speaks_when_there_is_an_encoder(shop: Path) -> None:
    """The encoder here knows that a markdown is a discount."""

    class Thesaurus(HashingEncoder):
        def encode(self, texts: Sequence[str], role: TextRole = TextRole.DOCUMENT) -> NDArray[np.float32]:
            return super().encode([text.replace("markdown", "apply_discount rate") for text in texts], role)

    query = LocateQuery("the markdown is wrong")
    with DenseScorer.open(shop, Thesaurus()) as scorer:
        found = Localizer(shop, scorer=scorer).locate(query)
    assert found[0].entity.id == "src/shop/pricing.py:apply_discount"
    assert "dense" in signals(found[0])
    plain = Localizer(shop).locate(query)
    assert not any("dense" in signals(location) for location in plain)


def test_two_runs_agree_whatever_the_index_saw_before(shop: Path) -> None:
    text = "discount of a cart"
    cold = locate(shop, text)
    path = shop / "src/shop/pricing.py"
    original = path.read_bytes()
    path.write_text("def discount_discount_cart(): pass\n", encoding="utf-8")
    locate(shop, text)
    path.write_bytes(original)
    assert locate(shop, text) == cold


def test_an_empty_repository_gives_nothing(make_repo: MakeRepo) -> None:
    assert locate(make_repo({"data.bin": b"\0"}), "anything") == []


def test_files_without_a_parser_stand_for_themselves(make_repo: MakeRepo) -> None:
    root = make_repo({"web/menu.kt": "fun openMenu() { return toggle('menu') }\n", "a.py": "x = 1\n"})
    assert top(root, "the menu does not open: openMenu") == "web/menu.kt"


def test_generated_and_vendored_code_loses(make_repo: MakeRepo) -> None:
    body = "def parse_header(line):\n    return line.split(':')\n"
    root = make_repo(
        {"pkg/real.py": body, "vendor/copy.py": body + "\n", "pkg/gen.py": "# @generated by tool\n" + body}
    )
    found = locate(root, "header parsing splits the line wrong")
    assert found[0].entity.id == "pkg/real.py:parse_header"
    assert found[0].score > 2 * found[1].score


def test_without_git_the_folder_is_walked(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def lonely(): pass\n", encoding="utf-8")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/b.py").write_text("def lonely(): pass\n", encoding="utf-8")
    assert top(tmp_path, "`lonely`") == "a.py:lonely"
    assert all("node_modules" not in found.entity.path for found in locate(tmp_path, "`lonely`"))


def test_random_damage_never_stops_an_answer(shop: Path) -> None:
    text = "`apply_discount` of a cart is wrong"
    expected = [location.entity.id for location in locate(shop, text)]
    path = shop / ".codeforge/index/code.db"
    rng = random.Random(7)
    for _ in range(8):
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        raw = bytearray(path.read_bytes())
        for _ in range(40):
            raw[rng.randrange(100, len(raw))] = rng.randrange(256)
        path.write_bytes(bytes(raw))
        assert locate(shop, text)
        path.unlink(missing_ok=True)
        locate(shop, text)
    assert [location.entity.id for location in locate(shop, text)] == expected


def test_odd_texts_are_no_trouble(shop: Path) -> None:
    for text in ("", "\0", "é" * 5000, "a.b." * 5000, "`" * 999, "/" * 5000, "((((" * 2000, "\ud800"):
        Localizer(shop).locate(LocateQuery(text))


def test_prepared_in_advance_nothing_is_left_to_parse(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codeforge.localize import refresh

    Localizer(shop).prepare()
    monkeypatch.setattr(refresh, "analyse", lambda raw, path: pytest.fail(f"{path} was parsed again"))
    assert locate(shop, "`apply_discount`")
