"""Merging grains into the one that is kept: what it gains, and that nothing of it is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.grain import Grain
from provenloop.domain.merging import merged
from tests.builders import DAY_MS, NOW, make_grain
from tests.grains import make_note

KEPT = make_grain("Berlin", at=NOW - 9 * DAY_MS)


def other(value: str = "berlin", **body: Any) -> Grain:
    return make_grain(value, body=body)


def test_statements_add_up_and_the_last_of_them_is_the_last() -> None:
    first, second = other(), replace(other("BERLIN"), stated=4, last_stated_at=NOW, place=3)
    outcome = merged(KEPT, [first, second])
    assert outcome.stated == 5
    assert (outcome.grain.last_stated_at, outcome.grain.place, outcome.grain.stated) == (NOW, 3, KEPT.stated)


def test_tags_are_united_and_a_field_that_only_others_have_is_taken_over() -> None:
    kept = replace(KEPT, body={**KEPT.body, "tags": ["b"]})
    outcome = merged(kept, [other(tags=["c", "a"], source="mail"), other("BERLIN", confidence=0.4)])
    assert outcome.grain.body == {**KEPT.body, "tags": ["a", "b", "c"], "source": "mail", "confidence": 0.4}
    assert (outcome.taken, outcome.differing) == (("confidence", "source", "tags"), ())


def test_a_field_in_which_they_differ_stays_as_the_kept_one_has_it() -> None:
    kept = replace(KEPT, body={**KEPT.body, "confidence": 0.9}, valid_to=NOW + 5)
    outcome = merged(kept, [replace(other(confidence=0.1), valid_to=NOW + 9)])
    assert outcome.grain.body["confidence"] == 0.9
    assert outcome.grain.valid_to == NOW + 5
    assert (outcome.taken, outcome.differing) == ((), ("confidence", "valid_to"))


def test_of_several_others_the_earliest_recorded_is_heard() -> None:
    late = make_grain("berlin", at=NOW, body={"source": "late"})
    early = make_grain("BERLIN", at=NOW - DAY_MS, body={"source": "early"})
    outcome = merged(KEPT, [late, early])
    assert outcome.grain.body["source"] == "early"
    assert outcome.differing == ("source",)


def test_what_holds_always_does_not_come_to_an_end_because_another_does() -> None:
    outcome = merged(KEPT, [replace(other(), valid_from=5, valid_to=NOW + 5)])
    assert (outcome.grain.valid_from, outcome.grain.valid_to) == (None, None)
    assert (outcome.taken, outcome.differing) == ((), ("valid_from", "valid_to"))


@pytest.mark.parametrize(
    ("kept_at", "other_at", "held_at"),
    [
        (None, None, None),
        (5, 9, 9),
        (9, 5, 9),
        (5, None, NOW - DAY_MS),
        (None, 5, NOW - 9 * DAY_MS),
        (None, NOW + 5, NOW + 5),
    ],
)
def test_when_something_last_held_moves_forward_only(
    kept_at: int | None, other_at: int | None, held_at: int | None
) -> None:
    kept, said = replace(KEPT, occurred_at=kept_at), replace(other(), occurred_at=other_at)
    outcome = merged(kept, [said])
    assert outcome.grain.occurred_at == held_at
    assert outcome.taken == (("occurred_at",) if held_at != kept_at else ())
    assert outcome.differing == ()


def test_what_makes_a_grain_the_one_it_is_is_never_touched() -> None:
    long = other(full_bytes=9000, full_sha256="0" * 64)
    assert merged(KEPT, [long]).grain.body == KEPT.body
    note = make_note("the door was open", body={"session": "s"})
    assert merged(make_note("the door was open."), [note]).grain.body == {"text": "the door was open.", "session": "s"}


def test_what_was_redacted_of_either_stays_counted() -> None:
    outcome = merged(replace(KEPT, redacted={"token": 1}), [replace(other(), redacted={"token": 3, "password": 2})])
    assert outcome.grain.redacted == {"token": 1, "password": 2}


@pytest.mark.parametrize("odd", ["not a list", None, 7, {"a": 1}])
def test_tags_that_are_no_list_lose_nothing_of_the_kept_one(odd: object) -> None:
    kept = replace(KEPT, body={**KEPT.body, "tags": ["a"]})
    assert merged(kept, [other(tags=odd)]).grain.body["tags"] == ["a"]


BODIES = st.fixed_dictionaries(
    {},
    optional={
        "confidence": st.sampled_from([0.1, 0.9]),
        "source": st.sampled_from(["mail", "chat"]),
        "tags": st.lists(st.sampled_from("abc"), max_size=2),
    },
)
OTHERS = st.lists(
    st.builds(
        lambda body, at, stated, ends: replace(other(f"v{at}", **body), recorded_at=at, stated=stated, valid_to=ends),
        BODIES,
        st.integers(1, 50),
        st.integers(1, 3),
        st.none() | st.integers(NOW, NOW + 2),
    ),
    unique_by=lambda grain: grain.recorded_at,
    max_size=4,
)


@given(BODIES, OTHERS.flatmap(lambda others: st.tuples(st.just(others), st.permutations(others))))
def test_nothing_of_the_kept_one_is_lost_and_the_order_of_the_others_does_not_matter(
    body: dict[str, Any], orders: tuple[list[Grain], list[Grain]]
) -> None:
    kept = replace(KEPT, body={**KEPT.body, **body})
    outcome = merged(kept, orders[0])
    assert outcome == merged(kept, orders[1])
    after = outcome.grain
    assert {name: after.body[name] for name in kept.body if name != "tags"} == {
        name: value for name, value in kept.body.items() if name != "tags"
    }
    tags = {tag for grain in (kept, *orders[0]) for tag in grain.body.get("tags", [])}
    assert set(after.body.get("tags", [])) == tags
    for name in ("confidence", "source"):
        assert (name in after.body) == any(name in grain.body for grain in (kept, *orders[0]))
    head = ("address", "state", "head_rev", "generation", "stated", "recorded_at", "seq")
    assert [getattr(after, name) for name in head] == [getattr(kept, name) for name in head]
