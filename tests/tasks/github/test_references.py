"""What messages say of issues, pull requests and other commits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.references import (
    closing_references,
    merged_pull,
    only_joins,
    origins,
    squashed_pull,
    title_of,
)

NAME = RepositoryName("ann", "shop")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Fix #12", (12,)),
        ("Closes #3 (#15)", (3,)),
        ("fixes: #1, #2 and #3", (1, 2, 3)),
        ("Resolved GH-7.", (7,)),
        ("close issue #8\n\nFixes bugs #9 & #10", (8, 9, 10)),
        ("FIXED ann/shop#4; resolves Ann/Shop#5", (4, 5)),
        ("closes https://github.com/ann/shop/issues/21", (21,)),
        ("closes https://github.com/bob/shop/issues/21, fixes bob/shop#3", ()),
        ("Fixes #1, bob/shop#2, #3", (1, 3)),
        ("Fix #12 and fix #12", (12,)),
        ("prefix #5, unfixed #6, hot-fix #7, fixing #8", ()),
        ("Refs #1, see #2, (#3)", ()),
        ("fixes #12a and closes #", ()),
        ("This does not fix the case of #4", ()),
        ("", ()),
    ],
)
def test_closing_references(text: str, numbers: tuple[int, ...]) -> None:
    assert closing_references(text, NAME) == numbers


WORDS = st.sampled_from(
    ["close", "Closes", "closed", "fix", "fixes", "FIXED", "resolve", "resolves", "Resolved"]
)
NUMBERS = st.lists(st.integers(1, 9_999_999), min_size=1, max_size=4, unique=True)
FORMS = st.sampled_from(["#{}", "GH-{}", "ann/shop#{}", "https://github.com/ann/shop/issues/{}"])


@given(
    st.lists(st.tuples(WORDS, FORMS, NUMBERS, st.sampled_from([", ", " and ", ", and ", " & "])), max_size=4)
)
def test_what_is_closed_is_found_in_order(parts: list[tuple[str, str, list[int], str]]) -> None:
    text = ".\n".join(f"{word} {comma.join(form.format(n) for n in ns)}" for word, form, ns, comma in parts)
    expected = tuple(dict.fromkeys(n for _, _, numbers, _ in parts for n in numbers))
    assert closing_references(text, NAME) == expected


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert all(number >= 0 for number in closing_references(text, NAME))
    merged_pull(text), squashed_pull(text), only_joins(title_of(text)), origins(text, NAME)


@pytest.mark.parametrize(
    ("message", "merged", "squashed"),
    [
        ("Merge pull request #5 from ann/fix\n\nTitle", 5, None),
        ("Auto merge of #77 - bob:x, r=ann", 77, None),
        ("Merge #9: a title", 9, None),
        ("Fix it (#5)", None, 5),
        ("Closes #3 (#15)\n\nbody (#16)", None, 15),
        ("Fix #12", None, None),
        ("Fix (#5) it", None, None),
    ],
)
def test_the_pull_request_of_a_message(message: str, merged: int | None, squashed: int | None) -> None:
    assert (merged_pull(message), squashed_pull(message)) == (merged, squashed)


def test_titles() -> None:
    assert title_of("Merge pull request #5 from ann/fix\n\nA title\n\nmore") == "A title"
    assert title_of("Merge pull request #5 from ann/fix") == ""
    assert title_of("A title (#5)\n\nmore") == "A title (#5)"


@pytest.mark.parametrize(
    ("title", "joins"),
    [
        ("Merge master into features", True),
        ("merge 'main' into `develop`", True),
        ("Merge master into features (prepare for 3.9)", True),
        ("Merge main branch into features after 3.0 release", True),
        ("Merge upstream/master", True),
        ("Merge the two parsers into one", False),
        ("Merge pytest-catchlog plugin", False),
        ("Merging is slow", False),
        ("Merge nested dicts", False),
    ],
)
def test_titles_of_joins(title: str, joins: bool) -> None:
    assert only_joins(title) is joins


def test_origins() -> None:
    told = origins(
        "Revert\n\nThis reverts commit 0123456789abcdef0123456789abcdef01234567.\nReverts ann/shop#4\n"
        "Reverts #5\nReverts bob/shop#6\n(cherry picked from commit abcdef0)",
        NAME,
    )
    assert told.reverts == ("0123456789abcdef0123456789abcdef01234567",)
    assert told.reverted_pulls == (4, 5) and told.picked == ("abcdef0",)
