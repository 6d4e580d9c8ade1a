"""What may be merged without a person: the same words in other spelling, and no field that differs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.grain import Grain
from provenloop.domain.same_value import altered_by_merging, same_text

NOW = 1_800_000_000_000


def fact(value: str = "tea", **more: Any) -> Grain:
    names = ("namespace", "kind", "valid_from", "valid_to", "stated", "recorded_at")
    given_fields = {name: more.pop(name) for name in names if name in more}
    body = {"subject": "ann", "relation": "likes", "object": value, **more}
    fields: dict[str, Any] = {"kind": "fact", "namespace": "shared", "recorded_at": NOW, **given_fields}
    return Grain(address=f"{value}{sorted(more)}", body=body, last_stated_at=NOW, seq=1, by="x", **fields)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("tea", "tea "),
        ("green tea", "green \t tea"),
        ("green tea", "green\u00a0tea"),
        ("green tea", "Green TEA"),
        ("caf\u00e9", "cafe\u0301"),
        ("ΟΔΟΣ", "οδος"),
        ("ÄRGER", "ärger"),
        ("order AB12", "Order AB12"),
        ("١ Kg", "١ kg"),
    ],
)
def test_blanks_composition_and_the_case_of_words_alter_nothing(left: str, right: str) -> None:
    assert same_text(left, right)
    assert same_text(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("order AB12", "order ab12"),
        ("v1.0-RC", "v1.0-rc"),
        ("x²A", "x²a"),
        ("tea", "ｔｅａ"),
        ("ﬁle", "file"),
        ("ſoft", "soft"),
        ("Straße", "Strasse"),
        ("STRASSE", "straße"),
        ("İstanbul", "istanbul"),
        ("ırmak", "irmak"),
        ("İstanbul", "i\u0307stanbul"),
        ("Żubr", "Zubr"),
        ("green tea", "greentea"),
        ("tea", "tea."),
        ("tea", "te\u200ba"),
        ("red green", "green red"),
        ("lives_in", "livesIn"),
        ("lives_in", "lives-in"),
    ],
)
def test_whatever_else_tells_two_texts_apart_is_a_value(left: str, right: str) -> None:
    assert not same_text(left, right)
    assert not same_text(right, left)


@given(st.text(max_size=20), st.text(max_size=20))
def test_sameness_goes_both_ways_and_never_joins_texts_whose_digits_differ(left: str, right: str) -> None:
    assert same_text(left, left)
    assert same_text(left, right) == same_text(right, left)
    if same_text(left, right):
        digits = [[char for char in text if char.isnumeric()] for text in (left, right)]
        assert digits[0] == digits[1]


@pytest.mark.parametrize(
    "others",
    [
        [fact("Tea")],
        [fact("Tea", confidence=0.3)],
        [fact("Tea", tags=["a"]), fact("TEA", tags=["b"])],
        [fact("Tea", source="mail"), fact("TEA", source="mail")],
        [fact("Tea", stated=4)],
    ],
)
def test_fields_that_only_one_side_has_and_tags_and_counts_are_merged(others: list[Grain]) -> None:
    assert altered_by_merging(fact(tags=["z"]), others) is None


@pytest.mark.parametrize(
    ("kept", "other", "reason"),
    [
        (fact(confidence=0.2), fact("Tea", confidence=1.0), "they differ in confidence"),
        (fact(source="a", confidence=1), fact("Tea", source="b", confidence=0), "they differ in confidence, source"),
        (fact(), fact("Tea", valid_to=NOW + 1), "they differ in valid_to"),
        (fact(valid_to=NOW + 1), fact("Tea"), "they differ in valid_to"),
        (fact(valid_from=NOW), fact("Tea"), "they differ in valid_from"),
        (fact(), fact("Tea", namespace="Shared"), "they are of different namespaces"),
        (fact(), fact("Tea", subject="Ann2"), "they differ in subject"),
        (fact(), fact("coffee"), "they differ in object"),
        (fact(), fact("Tea", relation="Likes-"), "they differ in relation"),
        (fact(), fact("Tea", full_sha256="0" * 64), "a text was stored cut, so nobody can tell what the rest says"),
        (fact(kind="observation"), fact("Tea", kind="observation"), "only facts are compared word by word"),
    ],
)
def test_what_would_alter_a_value_is_named(kept: Grain, other: Grain, reason: str) -> None:
    assert altered_by_merging(kept, [other]) == reason


def test_one_that_differs_among_many_is_enough() -> None:
    assert altered_by_merging(fact(), [fact("Tea", source="a"), fact("TEA", source="b")]) == "they differ in source"
