"""Ranking: more of the question is better, rare terms weigh more, and below the floor there is no answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.ranking import ranked, weight

WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
TEXTS = st.dictionaries(st.text("0123", min_size=4, max_size=4), st.lists(WORDS, max_size=8), max_size=6)
COUNTS = st.dictionaries(WORDS, st.integers(0, 400))


def order(question: str, counts: dict[str, int] | None = None, limit: int = 9, **texts: str) -> list[str]:
    split = {address: text.split() for address, text in texts.items()}
    return [one.address for one in ranked(question.split(), split, counts or {}, limit)]


def test_a_text_that_holds_more_of_the_question_comes_first() -> None:
    assert order("x y z", one="x y", two="x y z", three="x y z more words that are not asked for") == [
        "two", "three", "one"
    ]  # fmt: skip


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    assert weight(0) > weight(1) > weight(50) > weight(500) > 0
    assert order("rare common", {"rare": 1, "common": 200}, one="common", two="rare") == ["two"]


def test_a_single_word_of_several_is_no_answer_where_the_others_are_unknown() -> None:
    assert order("policy for parrots", {"policy": 3}, one="policy") == []
    assert order("policy", {"policy": 3}, one="policy") == ["one"]


def test_equal_texts_are_ordered_by_address_and_no_more_than_wanted_come() -> None:
    assert order("x", b="x", c="x", a="x") == ["a", "b", "c"]
    assert order("x", None, 2, b="x", c="x", a="x") == ["a", "b"]


def test_nothing_asked_finds_nothing() -> None:
    assert order("", one="x") == []
    assert order("x", one="") == []


@given(st.lists(WORDS, max_size=4), TEXTS, COUNTS, st.randoms(use_true_random=False))
def test_the_ranking_does_not_depend_on_the_order_of_the_texts(
    question: list[str], texts: dict[str, list[str]], counts: dict[str, int], draw: object
) -> None:
    shuffled = list(texts)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    first = ranked(question, texts, counts, 100)
    assert ranked(question, {address: texts[address] for address in shuffled}, counts, 100) == first
    assert len({one.address for one in first}) == len(first)
    assert all(one.score > 0 for one in first)
