"""Spellings of one text meet, different texts do not."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenloop.domain.text import nfc, normalise, normalise_relation
from tests.growth import QUADRATIC, growth

SAME = [
    ("Straße", "STRASSE"),
    ("Straße", "strasse"),
    ("Ｄｅｐｌｏｙ１", "deploy1"),
    ("İstanbul", "istanbul"),
    ("I\u0307stanbul", "istanbul"),
    ("caf\u00e9", "cafe\u0301"),
    ("ΟΔΟΣ", "οδος"),
    ("οδός", "ΟΔΌΣ"),
    ("ﬁle", "file"),
    ("a\u00a0b", "a b"),
    ("a\u3000b", "a b"),
    ("a \t\n b", "a b"),
    ("  trimmed\u200b ", "trimmed"),
    ("zero\u200bwidth", "zerowidth"),
    ("soft\u00adhyphen", "softhyphen"),
    ("\ufeffmark", "mark"),
    ("①", "1"),
]
DIFFERENT = [
    ("Żubr", "Zubr"),
    ("a b", "ab"),
    ("ı", "i"),
    ("resume", "résumé"),
    ("don't", "don’t"),
    ("done.", "done"),
    ("1", "1.0"),
    ("👩\u200d👧", "👩👧"),
    ("می\u200cخواهم", "میخواهم"),
    ("", "."),
]
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
tricky = st.text(alphabet="iIİı\u0307\u0301\u0323 \u00a0\u200b\u00ad\u0345ßſẞςΣΐﬃꭰᎠ́aA_-2‐Ω\u2126한ㄱ", max_size=12)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_text_meet(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_texts_stay_two(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_only_blanks_fold_to_nothing() -> None:
    assert normalise(" \t\u00a0\u200b") == ""


stacks = st.text(alphabet="\u0301\u0316\u0307\u0344\u0345i\u200bé", min_size=31, max_size=120)


@given(any_text | tricky | stacks)
@example("i\u0307\u0301")
@example("\u1fb3\u0345")
def test_folding_twice_is_folding_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert nfc(nfc(text)) == nfc(text)
    relation = normalise_relation(text)
    assert normalise_relation(relation) == relation


@given(any_text | tricky)
def test_composed_and_decomposed_spellings_meet(text: str) -> None:
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert normalise(composed) == normalise(apart)
    assert nfc(composed) == nfc(apart)
    assert normalise_relation(composed) == normalise_relation(apart)


def test_every_character_that_folds_at_all_folds_to_a_fixed_point() -> None:
    chars = (chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF)
    folding = [char for char in chars if unicodedata.normalize("NFKC", char).casefold() != char]
    assert len(folding) > 5_000
    for fold in (normalise, normalise_relation):
        assert [char for char in folding if fold(fold(char)) != fold(char)] == []


def test_the_exact_form_keeps_case_width_and_blanks() -> None:
    assert nfc(" Ａ\u00a0ß ") == " Ａ\u00a0ß "


@pytest.mark.parametrize(
    "spelling",
    [
        "lives_in",
        "livesIn",
        "lives-in",
        "lives in",
        "LivesIn",
        "LIVES_IN",
        "Lives In",
        "lives - in",
        " lives__in_",
        "ｌｉｖｅｓＩｎ",
        "lives‑in",
        "lives\u200bIn",
    ],
)
def test_spellings_of_a_relation_meet(spelling: str) -> None:
    assert normalise_relation(spelling) == "lives_in"


@pytest.mark.parametrize(
    ("spelling", "folded"),
    [
        ("HTTPServer", "http_server"),
        ("myHTTPServer", "my_http_server"),
        ("userID", "user_id"),
        ("line2Text", "line2_text"),
        ("S3Bucket", "s3_bucket"),
        ("tier", "tier"),
        ("TIER", "tier"),
        ("größteStadt", "grösste_stadt"),
        ("schema:livesIn", "schema:lives_in"),
        ("---", "---"),
        ("住在", "住在"),
        ("A", "a"),
        ("", ""),
    ],
)
def test_words_of_a_relation_are_joined_by_one_underscore(spelling: str, folded: str) -> None:
    assert normalise_relation(spelling) == folded


def test_relations_of_other_words_stay_two() -> None:
    assert normalise_relation("livesin") != normalise_relation("livesIn")
    assert normalise_relation("---") != normalise_relation("")


def test_stacks_of_combining_marks_do_not_change_on_the_second_pass() -> None:
    hostile = "a" + "\u0301\u0316" * 20_000 + "\u0344" * 10_000
    for fold in (nfc, normalise, normalise_relation):
        once = fold(hostile)
        assert fold(once) == once


@pytest.mark.parametrize("fold", [nfc, normalise, normalise_relation])
@pytest.mark.parametrize("unit", ["\u0301\u0316", "a\u0301\u0316\u0344", "aB", "A ", "İ", "-_"])
def test_folding_takes_linear_time(fold: Callable[[str], str], unit: str) -> None:
    assert growth(fold, unit) < QUADRATIC


def test_marks_as_languages_stack_them_stay_as_they_are() -> None:
    stacked = "a" + "\u0316" * 15 + "\u0301" * 15
    assert unicodedata.normalize("NFC", stacked) == nfc(stacked)
    assert "\u034f" not in nfc("═" * 200)
