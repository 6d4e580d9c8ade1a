"""Tokens of a text: words, pairs of characters inside runs, or the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.text import normalise
from provenloop.domain.tokens import rare_first, tokens
from tests.growth import QUADRATIC, growth


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use S3, use it!", {"use", "s3", "it"}),
        ("Straße", {"strasse"}),
        ("don’t", {"don't"}),
        ("max_cost", {"max", "cost"}),
        ("喜欢喝茶", {"喜欢", "欢喝", "喝茶"}),
        ("喝茶 喝水", {"喝茶", "喝水"}),
        ("喝茶，水", {"喝茶", "水"}),
        ("喝x茶", {"喝", "x", "茶"}),
        ("茶", {"茶"}),
        ("हिन्दी भाषा", {"हिन्दी", "भाषा"}),
        ("🙂", {"🙂"}),
        ("???", {"???"}),
        ("", {""}),
    ],
)
def test_words_and_pairs_of_characters_are_tokens(text: str, expected: set[str]) -> None:
    assert tokens(text) == expected


def test_texts_without_words_are_equal_only_when_they_are_the_same() -> None:
    assert tokens("🙂") != tokens("🙃")
    assert tokens("! !") != tokens("!!")


def test_frequent_words_come_last_and_the_commonest_at_the_end() -> None:
    ordered = rare_first(frozenset("the zephyr customer of quorum".split()))
    assert set(ordered[:2]) == {"zephyr", "quorum"}
    assert ordered[2:] == ("customer", "of", "the")


def test_the_order_of_rare_tokens_is_the_committed_one() -> None:
    # Rows in store were written in this order: it may only change with the version of near-duplicates.
    assert rare_first(frozenset("zephyr quorum gantry 喝茶".split())) == ("喝茶", "zephyr", "quorum", "gantry")


@given(st.text(max_size=20))
def test_spellings_of_one_text_have_one_set_of_tokens_and_it_is_never_empty(text: str) -> None:
    assert tokens(text) == tokens(normalise(text)) != frozenset()
    assert sorted(rare_first(tokens(text))) == sorted(tokens(text))


@pytest.mark.parametrize("unit", ["a", "'", "a'", "茶", "茶 ", "_", "\u0301", "ab ", "🙂"])
def test_cutting_into_tokens_is_linear(unit: str) -> None:
    assert growth(tokens, unit) < QUADRATIC
