"""What `History` answers, on made-up pasts in real git."""

from pathlib import Path

import pytest

from codeforge.git import GitRepo
from codeforge.localize.history.history import History
from tests.localize.history.conftest import Past, answers


@pytest.fixture
def shop(past: Past) -> Past:
    """cart and its test change together; pricing once; CHANGES always."""
    past.commit("start", {"cart.py": "a", "test_cart.py": "b", "pricing.py": "c", "CHANGES": "0"})
    past.commit("Round the total of the cart", {"cart.py": "a1", "test_cart.py": "b1", "CHANGES": "1"})
    past.commit("Discounts below zero are refused", {"pricing.py": "c1", "CHANGES": "2"})
    past.commit("Empty carts have a total", {"cart.py": "a2", "test_cart.py": "b2", "CHANGES": "3"})
    return past


class TestWords:
    def test_common_words_are_less_rare(self, shop: Past) -> None:
        rarity = History.open(shop.root).word_rarity(["total", "discount", "unheard"])
        assert 0 < rarity["total"] < rarity["discount"] < rarity["unheard"] == 1

    def test_without_history_all_are_rare(self, tmp_path: Path) -> None:
        assert History.open(tmp_path).word_rarity(["total"]) == {"total": 1.0}


class TestCounts:
    def test_changes_are_counted_and_dated_in_commits(self, shop: Past) -> None:
        history = History.open(shop.root)
        assert len(history) == 4
        assert history.notices == ()
        assert [history.change_count(path) for path in ("cart.py", "pricing.py", "CHANGES")] == [3, 2, 4]
        assert [history.last_changed(path) for path in ("cart.py", "pricing.py", "CHANGES")] == [0, 1, 0]

    def test_unknown_paths_were_never_changed(self, shop: Past) -> None:
        history = History.open(shop.root)
        assert history.change_count("no.py") == 0
        assert history.last_changed("no.py") is None
        assert history.cochanged("no.py") == []

    def test_recency_halves_with_age(self, shop: Past) -> None:
        recency = History.open(shop.root).recency(half_life=1)
        assert recency["cart.py"] == pytest.approx(1 + 1 / 4 + 1 / 8)
        assert recency["pricing.py"] == pytest.approx(1 / 2 + 1 / 8)
        assert list(recency) == ["CHANGES", "cart.py", "test_cart.py", "pricing.py"]

    def test_merges_count_for_nothing(self, shop: Past) -> None:
        side = shop.commit("side", {"side.py": "s"}, branch="side", start="main~1")
        merge = shop.commit("Merge side", {"side.py": "s"}, merges=side)
        history = History.open(shop.at(merge))
        assert len(history) == 5
        assert history.change_count("side.py") == 1

    def test_only_so_many_commits(self, shop: Past) -> None:
        history = History.open(shop.root, most_commits=2)
        assert len(history) == 2
        assert history.change_count("cart.py") == 1
        assert len(History.open(shop.root)) == 4


class TestCochanged:
    def test_steady_company_is_strongest(self, shop: Past) -> None:
        together = History.open(shop.root).cochanged("cart.py")
        assert [path for path, _ in together] == ["test_cart.py", "CHANGES", "pricing.py"]
        assert together[0][1] == pytest.approx(3 / (3 + 1))
        assert together[1][1] == pytest.approx(3 / ((3 * 4) ** 0.5 + 1))

    def test_limit(self, shop: Past) -> None:
        assert len(History.open(shop.root).cochanged("cart.py", 1)) == 1

    def test_commits_of_very_many_files_say_nothing(self, past: Past) -> None:
        past.commit("all", {f"f{number}.py": f"w{number}" for number in range(31)})
        history = History.open(past.root)
        assert history.cochanged("f1.py") == []
        assert history.change_count("f1.py") == 1

    def test_thirty_files_still_do(self, past: Past) -> None:
        past.commit("all", {f"f{number}.py": f"w{number}" for number in range(30)})
        assert len(History.open(past.root).cochanged("f1.py", 99)) == 29


class TestSimilar:
    def test_messages_are_compared_by_their_words(self, shop: Past) -> None:
        history = History.open(shop.root)
        found = history.similar_commits("discounting goes below zero")
        assert [history.subject(sha) for sha, _ in found] == ["Discounts below zero are refused"]
        assert 0 < found[0][1] < 1

    def test_bodies_count_and_trailers_do_not(self, past: Past) -> None:
        past.commit("one\n\nThe zebra is striped.\n\nSigned-off-by: Giraffe <g@example.org>", {"a.py": "a"})
        past.commit("two", {"b.py": "b"})
        history = History.open(past.root)
        assert [history.subject(sha) for sha, _ in history.similar_commits("zebra")] == ["one"]
        assert history.similar_commits("giraffe") == []

    def test_nothing_in_common_finds_nothing(self, shop: Past) -> None:
        history = History.open(shop.root)
        for text in ("", "the of and", "kangaroo"):
            assert history.similar_commits(text) == []
            assert history.files_of_similar(text) == {}
            assert history.functions_of_similar(text) == {}

    def test_their_files_win_over_those_that_always_change(self, shop: Past) -> None:
        files = History.open(shop.root).files_of_similar("refuse a discount below zero")
        assert list(files) == ["pricing.py", "CHANGES"]
        assert files["pricing.py"] > 2 * files["CHANGES"]
        assert list(History.open(shop.root).files_of_similar("the cart's total", 2)) == [
            "cart.py",
            "test_cart.py",
        ]

    def test_newer_commits_count_more(self, past: Past) -> None:
        past.commit("Fix parser", {"old.py": "a"})
        past.commit("Fix parser", {"new.py": "b"})
        past.commit("Write documentation", {"guide.md": "c"})
        files = History.open(past.root).files_of_similar("fix the parser", half_life=1)
        assert list(files) == ["new.py", "old.py"]
        assert files["new.py"] == pytest.approx(2 * files["old.py"])

    def test_subject_of_a_commit_that_head_lacks(self, shop: Past) -> None:
        with pytest.raises(KeyError):
            History.open(shop.root).subject("0" * 40)


class TestFunctions:
    BEFORE = b"class Cart:\n    def add(self):\n        return 1\n\n    def total(self):\n        return 2\n"

    def test_the_function_around_the_change(self, past: Past) -> None:
        past.commit("start", {"cart.py": self.BEFORE})
        past.commit("Totals are rounded", {"cart.py": self.BEFORE.replace(b"return 2", b"return round(2)")})
        functions = History.open(past.root).functions_of_similar("wrong totals")
        assert list(functions) == [("cart.py", "def total(self):")]

    def test_a_changed_signature_is_its_own_function(self, past: Past) -> None:
        past.commit("start", {"cart.py": self.BEFORE})
        after = self.BEFORE.replace(b"def total(self)", b"def total(self, tax)")
        past.commit("Totals know taxes", {"cart.py": after})
        functions = History.open(past.root).functions_of_similar("wrong totals")
        assert list(functions) == [("cart.py", "def total(self):"), ("cart.py", "def total(self, tax):")]

    def test_paths_are_those_of_head(self, past: Past) -> None:
        past.commit("start", {"cart.py": self.BEFORE})
        past.commit("Totals are rounded", {"cart.py": self.BEFORE.replace(b"return 2", b"return round(2)")})
        past.commit("Packages", moved={"cart.py": "shop/cart.py"})
        functions = History.open(past.root).functions_of_similar("wrong totals")
        assert list(functions) == [("shop/cart.py", "def total(self):")]

    def test_commits_whose_files_are_missing_are_left_out(self, past: Past) -> None:
        past.commit("start", {"cart.py": self.BEFORE, "lost.py": "a"})
        past.commit("Totals are rounded", {"cart.py": self.BEFORE.replace(b"return 2", b"return round(2)")})
        past.commit("Totals are lost", {"lost.py": b"def lost():\n    pass\n"})
        past.lose("main:lost.py")
        functions = History.open(past.root).functions_of_similar("wrong totals")
        assert list(functions) == [("cart.py", "def total(self):")]


class TestOddities:
    def test_names_and_messages_that_are_not_utf8(self, past: Past) -> None:
        past.commit(
            b"Caf\xe9 opens\n\nund ganz sch\xf6n quiche", {b"caf\xe9.py": "a", "two\\\nlines.py": "b"}
        )
        past.commit("Emoji \N{PARTY POPPER} quiche", {"na\u00efve dir/\N{PARTY POPPER}.py": "c"})
        history = History.open(past.root)
        names = {"caf\udce9.py", "two\\\nlines.py", "na\u00efve dir/\N{PARTY POPPER}.py"}
        assert set(history.recency()) == names
        assert [history.subject(sha) for sha, _ in history.similar_commits("quiche")] == [
            "Emoji \N{PARTY POPPER} quiche",
            "Caf\N{REPLACEMENT CHARACTER} opens",
        ]
        assert set(history.files_of_similar("quiche")) <= names
        assert set(History.open(past.root).recency()) == names

    def test_functions_in_files_with_odd_names(self, past: Past) -> None:
        before, after = b"def f():\n    return 1\n", b"def f():\n    return 2\n"
        paths: list[str | bytes] = [b"caf\xe9.py", 'qu"ote.py', "with space.py", "na\u00efve.py"]
        past.commit("start", dict.fromkeys(paths, before))
        past.commit("quiche", dict.fromkeys(paths, after))
        found = History.open(past.root).functions_of_similar("quiche")
        assert {path for path, _ in found} == {"caf\udce9.py", 'qu"ote.py', "with space.py", "na\u00efve.py"}
        assert {function for _, function in found} == {"def f():"}

    def test_commits_without_files_or_message(self, past: Past) -> None:
        past.commit("", {"a.py": "a"})
        past.commit("empty")
        past.commit("", {"a.py": "b"})
        history = History.open(past.root)
        assert len(history) == 3
        assert history.last_changed("a.py") == 0
        assert history.files_of_similar("empty") == {}

    def test_the_user_s_git_settings_change_nothing(self, shop: Past, tmp_path: Path) -> None:
        plain = answers(History.open(shop.root))
        (tmp_path / "gitconfig").write_text(
            "[log]\nshowSignature=true\nshowRoot=false\nfollow=true\ndecorate=full\ndate=relative\n"
            "[diff]\nrenames=false\nnoprefix=true\nmnemonicPrefix=true\nexternal=false\nrelative=true\n"
            "orderFile=/nonexistent\ncontext=9\ninterHunkContext=9\nsubmodule=log\n"
            "[core]\nquotePath=true\n[color]\nui=always\n[format]\npretty=oneline\n"
            "[i18n]\nlogOutputEncoding=latin1\n[notes]\ndisplayRef=refs/notes/*\n"
        )
        (shop.root / ".codeforge" / "index" / "history.db").unlink()
        assert answers(History.open(shop.root)) == plain

    def test_a_repository_given_by_the_caller(self, shop: Past) -> None:
        repo = GitRepo.discover(shop.root)
        assert answers(History.open(shop.root, repo=repo)) == answers(History.open(shop.root))
