"""What update expressions do to the size of an item."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.adapters.dynamodb.units import attribute_sizes
from provenloop.adapters.dynamodb.updates import actions_of, effect_of, effect_shown

BEFORE: dict[str, Any] = {
    "pk": {"S": "p"},
    "n": {"N": "12"},
    "text": {"S": "hello"},
    "list": {"L": [{"S": "a"}]},
    "tags": {"SS": ["red"]},
}
VALUES: dict[str, Any] = {
    ":n": {"N": "123456"},
    ":t": {"S": "ab"},
    ":l": {"L": [{"S": "bc"}]},
    ":s": {"SS": ["red", "green"]},
}


def test_an_expression_is_taken_apart_whatever_its_layout() -> None:
    expression = "SET #a = if_not_exists (#a, :t), b=:n + :n REMOVE #set, c.d ADD e :n,f :s DELETE tags :s"
    assert actions_of(expression) == (
        ("SET", "#a", "if_not_exists (#a, :t)"),
        ("SET", "b", ":n + :n"),
        ("REMOVE", "#set", ""),
        ("REMOVE", "c.d", ""),
        ("ADD", "e", ":n"),
        ("ADD", "f", ":s"),
        ("DELETE", "tags", ":s"),
    )


@pytest.mark.parametrize(
    ("expression", "after"),
    [
        ("SET #x = :t", {**BEFORE, "text": VALUES[":t"]}),
        ("SET fresh = :t, n = :n", {**BEFORE, "fresh": VALUES[":t"], "n": VALUES[":n"]}),
        ("SET #x = if_not_exists(#x, :t)", BEFORE),
        ("SET fresh = if_not_exists(fresh, :t)", {**BEFORE, "fresh": VALUES[":t"]}),
        ("SET n = n + :n", {**BEFORE, "n": VALUES[":n"]}),
        ("SET n = if_not_exists(n, :n) - :n", {**BEFORE, "n": VALUES[":n"]}),
        ("SET copied = #x", {**BEFORE, "copied": BEFORE["text"]}),
        ("REMOVE #x, n", {name: BEFORE[name] for name in ("pk", "list", "tags")}),
        ("ADD n :n, fresh :n", {**BEFORE, "n": VALUES[":n"], "fresh": VALUES[":n"]}),
        ("ADD fresh :s", {**BEFORE, "fresh": VALUES[":s"]}),
    ],
)
def test_whole_attributes_are_sized_exactly(expression: str, after: dict[str, Any]) -> None:
    effect = effect_of(expression, {"#x": "text"}, VALUES, attribute_sizes(BEFORE))
    assert effect.sizes == attribute_sizes(after)
    assert (effect.exact, effect.extra) == (True, 0)


@pytest.mark.parametrize(
    ("expression", "largest"),
    [
        ("ADD tags :s", {**BEFORE, "tags": {"SS": ["red", "green", "red"]}}),
        ("SET list[1] = :t", {**BEFORE, "list": {"L": [{"S": "a"}, {"S": ""}]}, "extra": {"S": ""}}),
        ("DELETE tags :s", BEFORE),
        ("REMOVE list[0]", BEFORE),
    ],
)
def test_changes_inside_an_attribute_are_bounded_and_do_not_add_up(expression: str, largest: dict[str, Any]) -> None:
    before = attribute_sizes(BEFORE)
    effect = effect_of(expression, {}, VALUES, before)
    assert not effect.exact
    assert sum(effect.sizes.values()) + effect.extra <= sum(attribute_sizes(largest).values()) + 8

    sizes = before
    for _ in range(50):
        sizes = effect_of(expression, {}, VALUES, sizes).sizes
    assert sum(sizes.values()) <= sum(before.values()) + 16


def test_a_list_that_grows_is_as_large_as_both_lists() -> None:
    effect = effect_of("SET list = list_append(list, :l)", {}, VALUES, attribute_sizes(BEFORE))
    both = attribute_sizes({"list": {"L": [{"S": "a"}, {"S": "bc"}]}})["list"]
    assert both <= effect.sizes["list"] <= both + 3


def test_what_aws_shows_of_the_item_counts_more_than_the_estimate() -> None:
    effect = effect_of("ADD tags :s SET n = :n", {}, VALUES, attribute_sizes(BEFORE))
    after = {**BEFORE, "tags": {"SS": ["red", "green"]}, "n": VALUES[":n"]}

    touched = {"tags": after["tags"], "n": after["n"]}
    for corrected in (effect.corrected(touched), effect_shown("ADD tags :s SET n = :n", {}, after)):
        assert corrected.written == {"tags", "n"}
        assert corrected.sizes == attribute_sizes(after)
        assert (corrected.exact, corrected.extra) == (True, 0)

    assert not effect.corrected({"n": after["n"]}).exact
