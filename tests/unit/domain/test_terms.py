"""Terms: what texts are found by, alike for every spelling, and the wording under which questions meet."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.terms import STOP_WORDS, terms_of, wording_of
from tests.growth import QUADRATIC, growth

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Refund policies of S3", ("refund", "policy", "s3")),
        ("the glass, the bus and the analysis", ("glass", "bus", "analysis")),
        ("Ann's keys, don't", ("ann", "key", "don't")),
        ("喝茶了 好", ("喝茶", "茶了", "好")),
        ("東京tower", ("東京", "tower")),
        ("deploy_target: eu-west-1", ("deploy", "target", "eu", "west", "1")),
        ("what is it", ("what", "is", "it")),
        ("when does it open", ("open",)),
        ("not a word", ("not", "word")),
        ("???", ()),
    ],
)
def test_terms_are_words_in_order_and_pairs_inside_runs(text: str, terms: tuple[str, ...]) -> None:
    assert terms_of(text) == terms


@given(TEXTS)
def test_terms_are_the_same_for_every_composition_and_case(text: str) -> None:
    assert terms_of(normalize("NFD", text)) == terms_of(normalize("NFC", text))
    assert terms_of(text.swapcase().swapcase()) == terms_of(text) or not text.isascii()


@pytest.mark.parametrize(
    "wording",
    [
        "Refund policy for islands",
        "what is the refund policy, for islands?",
        "REFUND-POLICIES island!",
        "islands: refund policy",
        "does the refund policy have islands",
    ],
)
def test_wordings_of_one_question_meet(wording: str) -> None:
    assert wording_of(wording) == "island policy refund"


def test_negations_tell_questions_apart() -> None:
    assert wording_of("is it not safe") != wording_of("is it safe")
    assert not STOP_WORDS & {"no", "not", "never", "without"}


def test_a_question_of_stop_words_or_signs_only_stays_one() -> None:
    assert wording_of("What is it?") == wording_of("what IT is")
    assert wording_of("?!") == "?!"


@given(TEXTS, TEXTS)
def test_wordings_that_meet_are_found_by_the_same_terms(first: str, second: str) -> None:
    if terms_of(first) and wording_of(first) == wording_of(second):
        assert set(terms_of(first)) == set(terms_of(second))


@pytest.mark.parametrize("unit", ["a", "a'", "喝", "喝 a", "\u0301", "_", "s's "])
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    assert growth(terms_of, unit) < QUADRATIC
