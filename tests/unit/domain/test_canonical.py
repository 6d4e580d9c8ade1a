"""Canonical JSON, and the strict reading of JSON from outside."""

from __future__ import annotations

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.canonical import StrictJsonError, canonical_json, parse_strict, sha256_hex
from tests.growth import QUADRATIC, growth

texts = st.text(st.characters(exclude_categories=["Cs"]))
floats = st.floats(-1e100, 1e100).filter(lambda number: number == 0 or abs(number) > 1e-100)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | floats | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def refusal(text: str | bytes, **limits: int) -> StrictJsonError:
    with pytest.raises(StrictJsonError) as caught:
        parse_strict(text if isinstance(text, bytes) else text.encode(), **limits)
    return caught.value


def test_canonical_text_has_sorted_keys_no_blanks_and_no_escapes() -> None:
    assert canonical_json({"b": [1, 2.5, True, None], "a": "Żubr €"}) == '{"a":"Żubr €","b":[1,2.5,true,null]}'


def test_key_order_and_tuples_do_not_change_the_canonical_text() -> None:
    assert canonical_json({"x": 1, "a": (1, "b")}) == canonical_json({"a": [1, "b"], "x": 1})


@given(values)
def test_whatever_is_written_reads_back_equal(value: object) -> None:
    text = canonical_json(value)
    assert parse_strict(text.encode()) == value
    assert canonical_json(json.loads(text)) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [1, {"a": math.nan}]])
def test_not_a_number_and_infinities_have_no_canonical_text(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


@pytest.mark.parametrize("value", ["\ud800", {"a": ["x\udfff"]}, {"\ud800": 1}])
def test_lone_surrogates_have_no_canonical_text(value: object) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        canonical_json(value)


@pytest.mark.parametrize("value", [{1: "a"}, {"a": [{None: 1}]}, {"a": {1, 2}}, b"bytes", object()])
def test_what_is_not_json_has_no_canonical_text(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_endless_nesting_is_a_value_error() -> None:
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical_json(deep)


def test_the_digest_is_that_of_the_utf8_bytes() -> None:
    assert sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256_hex("é") == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


def test_a_key_that_stands_twice_is_refused_with_its_place() -> None:
    error = refusal('{"events": [{}, {}, {}, {"object": 1, "kind": "fact", "object": 2}]}')
    assert (error.path, "twice" in error.reason) == ("events[3].object", True)


def test_keys_equal_after_unescaping_stand_twice() -> None:
    assert refusal(r'{"a": 1, "\u0061": 2}').path == "a"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_are_no_json_are_refused_with_their_place(constant: str) -> None:
    assert refusal(f'{{"a": [0, {constant}]}}').path == "a[1]"


@pytest.mark.parametrize("escape", [r"\ud800", r"\uDC00", r"\udfff\ud800", r"x\uD83D"])
def test_lone_surrogates_written_as_escapes_are_refused(escape: str) -> None:
    assert refusal(f'{{"a": ["{escape}"]}}').path == "a[0]"
    assert "surrogate" in refusal(f'{{"{escape}": 1}}').reason


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert parse_strict(rb'["\ud83d\ude00", "\\ud800"]') == ["😀", "\\ud800"]


@pytest.mark.parametrize("data", [b'"\xff"', b'"\xed\xa0\x80"', b"\xc0\xaf", b"\xef\xbb\xbf{}", "{}".encode("utf-16")])
def test_bytes_that_are_not_plain_utf8_are_refused(data: bytes) -> None:
    assert refusal(data).reason


@pytest.mark.parametrize(
    "text", ["", " ", "{", "[1,]", "{'a': 1}", '{"a": 1} x', '"\n"', "01", "+1", ".5", "1.", "nul", '"\\x"']
)
def test_what_is_not_json_is_refused(text: str) -> None:
    assert "not JSON" in refusal(text).reason


def test_nesting_is_bounded_and_brackets_in_strings_do_not_count() -> None:
    assert parse_strict(b"[" * 32 + b"]" * 32)
    assert "deeper than 32" in refusal("[" * 33 + "]" * 33).reason
    assert "deeper than 2" in refusal('{"a": [{}]}', max_depth=2).reason
    assert parse_strict(b'["' + b"[{" * 500 + b'\\"["]')


@pytest.mark.parametrize(
    "text", ["[" * 1_000_000, '{"a":' * 200_000, '"' + '\\"' * 500_000, '["' * 300_000, "9" * 1_000_000]
)
def test_hostile_megabytes_are_refused(text: str) -> None:
    assert refusal(text).reason


@pytest.mark.parametrize("unit", ["[", '{"a":', '\\"', '["', "9", "1,", '"\\u0041'])
def test_hostile_repetitions_are_refused_in_linear_time(unit: str) -> None:
    assert growth(refusal, unit) < QUADRATIC


@pytest.mark.parametrize(
    "number", ["1" * 39, "1e126", "-1e126", "1" + "0" * 126, "1e-131", "1e999999999999", "0." + "1" * 39]
)
def test_numbers_that_the_table_cannot_hold_are_refused_with_their_place(number: str) -> None:
    assert refusal(f'{{"a": {number}}}').path == "a"


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1" * 38, int("1" * 38)),
        ("9.9e125", 9.9e125),
        ("1e-130", 1e-130),
        ("0e5", 0.0),
        ("1.50", 1.5),
        ("-0", 0),
        ("1" + "0" * 40, 10**40),
    ],
)
def test_numbers_within_the_limits_are_read(number: str, value: float) -> None:
    assert parse_strict(number.encode()) == value


def test_odd_keys_are_quoted_in_paths() -> None:
    assert refusal('{"a b": {"": NaN}}').path == '["a b"][""]'


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ud80eE+-.019nulNaN ', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(StrictJsonError):
        canonical_json(parse_strict(data))
