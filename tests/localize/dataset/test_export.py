"""Lines of training data from real trees with the real ranker."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeforge.errors import CodeforgeError
from codeforge.git import GitError
from codeforge.localize.dataset.export import Exporter
from codeforge.localize.dataset.negatives import LocalizerRanking, Ranked, Ranking
from codeforge.localize.dataset.record import MOST_CHARS, SCHEMA_VERSION, Example, GoldLocations
from codeforge.localize.dataset.trees import TreeFolder
from tests.tasks.github.histories import History

SECRET = "ghp_" + "a1B2" * 9
CART = f"""class Cart:
    kind = "cart"

    def total(self):
        key = "{SECRET}"
        return discount(self.sum())

    def sum(self):
        return 1
"""
PRICING = "def discount(price):\n    return price / 2\n\n\ndef total_price(price):\n    return price\n"


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "shop")
    made.commit(
        "start",
        {"shop/cart.py": CART, "shop/pricing.py": PRICING, "tests/test_cart.py": "def test_total(): pass\n"},
    )
    return made


def example(history: History, **changes: object) -> Example:
    gold = GoldLocations(("shop/cart.py",), ("shop/cart.py:Cart.total",))
    made = Example(
        "task:1", "task", "ann/shop", history.git("rev-parse", "HEAD"), "the total price is wrong", gold
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def rows(
    history: History,
    tmp_path: Path,
    examples: Sequence[Example],
    ranking: Ranking | None = None,
    count: int = 5,
) -> tuple[list[dict[str, Any]], Counter[str]]:
    exporter = Exporter(history.repo, tmp_path / "trees", ranking or LocalizerRanking(), count)
    return [dict(row) for row in exporter.rows(examples)], exporter.skipped


def test_a_line(history: History, tmp_path: Path) -> None:
    made = example(history)
    ((row,), skipped) = rows(history, tmp_path, [made])
    assert not skipped
    assert json.loads(json.dumps(row)) == row
    assert (row["schema_version"], row["id"], row["query"]) == (SCHEMA_VERSION, "task:1", made.query)
    assert row["gold"] == {"files": ["shop/cart.py"], "functions": ["shop/cart.py:Cart.total"], "classes": []}
    (positive,) = row["positives"]
    assert (positive["start_line"], positive["end_line"], positive["kind"]) == (4, 6, "function")
    assert positive["text"].startswith("    def total(self):") and SECRET not in positive["text"]
    negatives = {each["id"] for each in row["hard_negatives"]}
    assert "shop/pricing.py:total_price" in negatives and "shop/cart.py:Cart.total" not in negatives
    assert not any("test" in each for each in negatives)
    assert [each["path"] for each in row["hard_negative_files"]] == ["shop/pricing.py"]
    assert str(row["ranker"]).startswith("codeforge.localize ") and row["trajectory"] == []


def test_the_tree_is_that_of_the_base_commit(history: History, tmp_path: Path) -> None:
    old = example(history)
    history.commit("later", {"shop/cart.py": "x = 1\n", "shop/later.py": "def total_price(): pass\n"})
    new = example(history, id="task:2", gold=GoldLocations(("shop/cart.py",)))
    found, _ = rows(history, tmp_path, [old, new, replace(old, id="task:3")])
    ids = [{each["id"] for each in row["hard_negatives"]} for row in found]
    assert "shop/later.py:total_price" in ids[1] and "shop/later.py:total_price" not in ids[0] | ids[2]
    assert ids[0] == ids[2] and found[1]["positives"][0]["text"] == "x = 1"
    assert not history.git("status", "--porcelain")


def test_a_gold_file_without_gold_definitions_is_a_passage(history: History, tmp_path: Path) -> None:
    long = "x = 1\n" * MOST_CHARS
    history.commit("more", {"shop/long.py": long, "shop/latin.py": 'X = "\xe4"\r\n'.encode("latin-1")})
    gold = GoldLocations(("shop/latin.py", "shop/long.py"))
    ((row,), _) = rows(history, tmp_path, [example(history, gold=gold)])
    latin, cut = row["positives"]
    assert (latin["kind"], latin["start_line"], latin["end_line"]) == ("file", 1, 1)
    assert (
        latin["text"] == 'X = "\ufffd"' and len(cut["text"]) == MOST_CHARS and cut["end_line"] == MOST_CHARS
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"base_commit": "0" * 40}, "its base commit is not whole in the repository"),
        ({"gold": GoldLocations(("shop/none.py",))}, "its gold is not in its base commit"),
        (
            {"gold": GoldLocations(("shop/cart.py",), ("shop/cart.py:Cart.none",))},
            "its gold is not in its base commit",
        ),
    ],
)
def test_examples_without_a_line_are_counted(
    history: History, tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    found, skipped = rows(history, tmp_path, [example(history, **changes), example(history, id="task:2")])
    assert [row["id"] for row in found] == ["task:2"]
    assert skipped == {reason: 1}


def test_without_negatives_nothing_is_ranked(history: History, tmp_path: Path) -> None:
    ((row,), _) = rows(history, tmp_path, [example(history)], count=0)
    assert (row["hard_negatives"], row["hard_negative_files"], row["ranker"]) == ([], [], "")


class Failing:
    """A ranking that can't be had."""

    name = "failing"

    def rank(self, root: Path, files: Sequence[str], text: str, limit: int) -> Ranked:
        raise CodeforgeError("No index.")


def test_a_ranking_that_fails_costs_its_example(history: History, tmp_path: Path) -> None:
    found, skipped = rows(history, tmp_path, [example(history)], Failing())
    assert found == [] and skipped == {"it could not be ranked: No index.": 1}


def test_trees_leave_the_repository_alone(history: History, tmp_path: Path) -> None:
    (history.root / "shop" / "link.py").symlink_to("/etc/passwd")
    (history.root / "shop" / "run.py").write_text("x = 1\r\n")
    history.git("config", "core.autocrlf", "true")
    first = history.commit("links", {})
    second = history.commit("fewer", {"shop/cart.py": None, "shop/link.py": None})
    (history.root / "shop" / "pricing.py").write_text("mine\n")
    trees = TreeFolder(history.repo, tmp_path / "trees")
    listed = trees.go_to(first)
    assert "shop/link.py" not in listed and {"shop/cart.py", "shop/run.py"} <= set(listed)
    assert not (trees.root / "shop" / "link.py").is_symlink()
    assert (trees.root / "shop" / "pricing.py").read_bytes() == PRICING.encode()
    listed = trees.go_to(second)
    assert "shop/cart.py" not in listed and not (trees.root / "shop" / "cart.py").exists()
    assert (history.root / "shop" / "pricing.py").read_text() == "mine\n"
    assert history.git("status", "--porcelain", "--untracked-files=all") == "M shop/pricing.py"
    with pytest.raises(GitError):
        trees.go_to("0" * 40)
