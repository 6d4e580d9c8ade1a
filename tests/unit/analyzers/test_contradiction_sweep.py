"""When values of one relation contradict each other, which one is kept, and what does not count as a contradiction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers.contract import AppliedMark, ClusterView, Examination, Marks, ToolView, no_marks
from provenloop.analyzers.contradiction_sweep import FUNCTIONAL_RELATIONS, ContradictionSweep
from provenloop.analyzers.reading import SHOWN_VALUES
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import MAX_OPERATIONS, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Draft
from provenloop.domain.rollup import ToolWindow
from tests.builders import DAY_MS, NOW, make_grain

ANALYZER = ContradictionSweep()
HOUR_MS = 3_600_000


def examined(*grains: Grain, now: int = NOW, marks: Marks = no_marks, **parameters: Any) -> Examination:
    return ANALYZER.examine(ClusterView("g", grains), {**ANALYZER.manifest.defaults(), **parameters}, now, marks)


def found(*grains: Grain, **more: Any) -> Draft | None:
    drafts = examined(*grains, **more).drafts
    assert len(drafts) <= 1
    return drafts[0] if drafts else None


BERLIN = make_grain("Berlin", at=NOW - 2 * DAY_MS)
TOKYO = make_grain("Tokyo", at=NOW - DAY_MS)


def pointed(draft: Draft | None) -> dict[str | None, str | None]:
    assert draft is not None
    assert {step.op for step in draft.proposal.operations} == {"POINT"}
    return {step.target: step.into for step in draft.proposal.operations}


def test_two_live_values_of_a_functional_relation_contradict_and_the_latest_is_kept() -> None:
    draft = found(BERLIN, TOKYO)
    assert pointed(draft) == {BERLIN.address: TOKYO.address}
    assert draft is not None
    assert (draft.parts, draft.namespace, draft.severity, draft.count) == (("sam", "lives_in"), "shared", "medium", 2)
    assert (draft.target.scheme, draft.target.parts) == ("entity", ("shared", TextRef(TOKYO.address, "subject")))
    assert draft.evidence == (BERLIN.address, TOKYO.address)
    assert draft.proposal.operations[0].expects == {BERLIN.address: 1, TOKYO.address: 1}
    assert draft.proposal.is_rollbackable


def test_confidence_support_and_dates_of_every_value_are_shown_latest_last() -> None:
    unsure = replace(BERLIN, body={**BERLIN.body, "confidence": 0.3}, stated=4)
    again = make_grain(" berlin ", at=NOW - 3 * DAY_MS, stated=2)
    draft = found(unsure, again, TOKYO)
    assert draft is not None
    assert draft.summary.args == {
        "subject": TextRef(TOKYO.address, "subject"),
        "relation": TextRef(TOKYO.address, "relation"),
        "values": 2,
        "keep": TextRef(TOKYO.address, "object"),
        "value_1": TextRef(unsure.address, "object"),
        "confidence_1": 0.3,
        "stated_1": 6,
        "since_1": NOW - 2 * DAY_MS,
        "value_2": TextRef(TOKYO.address, "object"),
        "confidence_2": 1.0,
        "stated_2": 1,
        "since_2": NOW - DAY_MS,
    }


@pytest.mark.parametrize("relation", FUNCTIONAL_RELATIONS)
def test_the_seeded_relations_hold_one_value(relation: str) -> None:
    assert found(make_grain("a", relation=relation), make_grain("b", relation=relation)) is not None


@pytest.mark.parametrize("relation", ["likes", "lives", "lives_in_2", "statuses"])
def test_other_relations_may_hold_many(relation: str) -> None:
    grains = make_grain("a", relation=relation), make_grain("b", relation=relation)
    assert found(*grains) is None
    assert found(*grains, extra_relations=f" speaks, {relation.upper().replace('_', '-')} ,") is not None


@pytest.mark.parametrize("pair", [("livesIn", "lives_in"), ("Lives-In", "LIVES IN")])
def test_spellings_of_a_relation_are_one(pair: tuple[str, str]) -> None:
    left, right = (make_grain(value, relation=name) for value, name in zip(("Berlin", "Tokyo"), pair, strict=True))
    assert found(left, right) is not None


@pytest.mark.parametrize(
    "spellings",
    [
        ("Berlin", "berlin"),
        ("Straße 1", "STRASSE 1"),
        ("１２", "12"),
        ("İstanbul", "istanbul"),
        ("New  York", " new york "),
    ],
)
def test_spellings_of_a_value_are_one_value(spellings: tuple[str, str]) -> None:
    left, right = (make_grain(value) for value in spellings)
    assert found(left, right) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('{"city": "Berlin", "zip": 10115}', '{"zip":10115,"city":"Berlin"}'),
        ('["a", "b"]', '[ "a","b" ]'),
        (' {"a": {"c": 1, "b": null}}', '{"a":{"b":null,"c":1}}'),
        ('{"city": "BERLIN"}', '{"city": "berlin"}'),
    ],
)
def test_json_values_are_one_whatever_their_order_of_keys_and_blanks(left: str, right: str) -> None:
    assert found(make_grain(left), make_grain(right)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('["a", "b"]', '["b", "a"]'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1, "a": 2}', '{"a": 2}'),
        ('{"a": 1', '{"a" : 1'),
        ('{"a": NaN}', '{"a":  [NaN]}'),
        ("[" * 5000, "[" * 5001),
    ],
    ids=["order", "type", "a key twice", "broken", "no number", "deep"],
)
def test_json_values_that_differ_or_are_no_json_contradict(left: str, right: str) -> None:
    assert found(make_grain(left), make_grain(right)) is not None


def test_long_values_of_one_beginning_contradict() -> None:
    left, right = (make_grain("x" * 90, address=n * 64, body={"full_sha256": n * 64}) for n in "12")
    assert found(left, right) is not None
    assert found(left, replace(right, body=left.body)) is None


def test_a_value_that_ends_is_shown_with_its_end() -> None:
    draft = found(BERLIN, replace(TOKYO, valid_to=NOW + DAY_MS))
    assert draft is not None
    assert draft.summary.args["until_2"] == NOW + DAY_MS
    assert "until_1" not in draft.summary.args


def test_the_latest_is_kept_however_unsure_or_alone_and_the_grounds_are_shown() -> None:
    sure = replace(BERLIN, body={**BERLIN.body, "confidence": 0.99}, stated=9)
    unsure = replace(TOKYO, body={**TOKYO.body, "confidence": 0.1})
    draft = found(sure, unsure)
    assert pointed(draft) == {sure.address: unsure.address}
    assert draft is not None
    shown = draft.summary.args
    assert (shown["confidence_1"], shown["stated_1"], shown["confidence_2"], shown["stated_2"]) == (0.99, 9, 0.1, 1)


def test_a_historical_value_that_arrives_late_does_not_become_the_latest() -> None:
    since_may = make_grain("Berlin", at=NOW - 9 * DAY_MS, valid_from=NOW - 9 * DAY_MS)
    late = make_grain("Rome", at=NOW, valid_from=NOW - 400 * DAY_MS)
    assert pointed(found(since_may, late)) == {late.address: since_may.address}


def test_a_fact_of_another_relation_or_subject_is_never_touched() -> None:
    others = make_grain("Berlin", relation="works_in"), make_grain("Oslo", subject="kim")
    assert set(pointed(found(BERLIN, TOKYO, *others))) == {BERLIN.address}


def test_values_that_differ_to_a_reader_contradict() -> None:
    assert found(make_grain("Żubr"), make_grain("Zubr")) is not None
    assert found(make_grain("1"), make_grain("1.0")) is not None


def test_other_spellings_of_the_losing_and_the_kept_value_are_pointed_away_with_them() -> None:
    grains = [
        make_grain("Berlin", at=NOW - 4000),
        make_grain("BERLIN", at=NOW - 3000),
        make_grain("tokyo", at=NOW - 2000),
    ]
    draft = found(*grains, make_grain("Tokyo", at=NOW - 1000))
    assert pointed(draft) == dict.fromkeys((grain.address for grain in grains), make_grain("Tokyo").address)
    assert draft is not None
    assert draft.count == 2


@pytest.mark.parametrize(
    "other",
    [
        replace(TOKYO, state="superseded", superseded_by=BERLIN.address),
        replace(TOKYO, state="forgotten"),
        replace(TOKYO, valid_to=NOW),
        replace(TOKYO, valid_to=NOW - 1),
        replace(TOKYO, valid_from=NOW + 1),
        replace(TOKYO, body={**TOKYO.body, "subject": "kim"}),
        replace(TOKYO, namespace="team"),
        replace(TOKYO, body={**TOKYO.body, "relation": "status"}),
        replace(TOKYO, kind="observation"),
    ],
    ids=["superseded", "forgotten", "just expired", "expired", "future", "subject", "namespace", "relation", "kind"],
)
def test_what_does_not_hold_now_or_is_about_something_else_does_not_contradict(other: Grain) -> None:
    assert found(BERLIN, other) is None


@pytest.mark.parametrize(
    "valid", [{"valid_from": NOW}, {"valid_to": NOW + 1}, {"valid_from": NOW - 1, "valid_to": NOW + 1}]
)
def test_what_holds_at_this_instant_contradicts(valid: dict[str, int]) -> None:
    assert found(BERLIN, replace(TOKYO, **valid)) is not None  # type: ignore[arg-type]


def test_adjacent_validities_never_contradict_at_any_instant() -> None:
    first, second = replace(BERLIN, valid_to=NOW), replace(TOKYO, valid_from=NOW)
    for now in (NOW - DAY_MS, NOW - 1, NOW, NOW + 1, NOW + DAY_MS):
        assert found(first, second, now=now) is None


def test_the_next_begin_or_end_of_a_validity_is_due() -> None:
    grains = [
        replace(BERLIN, valid_to=NOW + 5 * HOUR_MS),
        replace(TOKYO, valid_from=NOW - HOUR_MS, valid_to=NOW + 9 * HOUR_MS),
        make_grain("Rome", valid_from=NOW + 3 * HOUR_MS),
        make_grain("Oslo", valid_from=NOW + HOUR_MS, state="superseded"),
        make_grain("tea", relation="likes", valid_to=NOW + HOUR_MS),
    ]
    assert examined(*grains).next_due_at == NOW + 3 * HOUR_MS
    assert examined(*grains, now=NOW + 3 * HOUR_MS).next_due_at == NOW + 5 * HOUR_MS
    assert examined(*grains, now=NOW + 9 * HOUR_MS).next_due_at is None
    assert examined(BERLIN, TOKYO).next_due_at is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"recorded_at": 9}, {"valid_from": NOW - 1000}),
        ({"valid_from": NOW - 2000}, {"occurred_at": NOW - 1000}),
        ({"occurred_at": NOW - 2000}, {"last_stated_at": NOW - 1000}),
        ({"occurred_at": NOW - 2000}, {"valid_from": NOW - 1000, "occurred_at": NOW - 9000}),
        ({"last_stated_at": NOW - 2000}, {"last_stated_at": NOW - 1000}),
        ({"last_stated_at": NOW, "recorded_at": 1}, {"last_stated_at": NOW, "recorded_at": 2}),
        ({"last_stated_at": NOW, "address": "a" * 64}, {"last_stated_at": NOW, "address": "b" * 64}),
    ],
)
def test_the_latest_is_told_by_when_it_holds_from_then_when_it_was_recorded_then_address(
    older: dict[str, Any], newer: dict[str, Any]
) -> None:
    base = {"recorded_at": 5, "last_stated_at": NOW - DAY_MS, "valid_from": None}
    left, right = make_grain("Berlin", **{**base, **older}), make_grain("Tokyo", **{**base, **newer})
    for order in ((left, right), (right, left)):
        assert pointed(found(*order)) == {left.address: right.address}


def test_two_relations_two_subjects_and_two_namespaces_of_one_prefix_are_findings_of_their_own() -> None:
    grains = [
        make_grain(value, subject=subject, relation=relation, namespace=namespace)
        for value, subject, relation, namespace in product(
            ("a", "b"), ("sam", "kim"), ("lives_in", "status"), ("shared", "team")
        )
    ]
    drafts = examined(*grains).drafts
    assert len({(draft.namespace, draft.parts) for draft in drafts}) == len(drafts) == 8
    by_address = {grain.address: grain for grain in grains}
    for draft in drafts:
        cited = [by_address[address] for address in draft.evidence]
        assert {(grain.namespace, grain.body["subject"], grain.body["relation"]) for grain in cited} == {
            (draft.namespace, *draft.parts)
        }


def test_spellings_of_a_subject_are_one_subject_and_namespaces_are_exact() -> None:
    assert found(BERLIN, make_grain("Tokyo", subject="SAM ")) is not None
    assert found(BERLIN, make_grain("Tokyo", namespace="Shared")) is None


def many(count: int) -> list[Grain]:
    return [make_grain(f"city {n}", at=NOW - 10_000 + n) for n in range(count)]


def test_more_values_than_one_transaction_holds_are_pointed_away_the_latest_first() -> None:
    grains = many(MAX_OPERATIONS + 20)
    draft = found(*grains)
    assert draft is not None
    assert draft.count == MAX_OPERATIONS + 20
    assert [step.target for step in draft.proposal.operations] == [g.address for g in grains[-MAX_OPERATIONS - 1 : -1]]
    assert len(draft.evidence) == MAX_EVIDENCE
    assert f"value_{SHOWN_VALUES}" in draft.summary.args
    assert f"value_{SHOWN_VALUES + 1}" not in draft.summary.args


def applied(seq: int) -> Marks:
    def marks(namespace: str, parts: Sequence[str]) -> AppliedMark | None:
        return AppliedMark(NOW - 1000, seq, None) if (namespace, parts) == ("shared", ("sam", "lives_in")) else None

    return marks


GONE = replace(BERLIN, state="superseded", superseded_by=TOKYO.address, seq=7)


def test_facts_that_were_read_before_they_were_resolved_are_not_found_again() -> None:
    assert found(BERLIN, TOKYO, marks=applied(7)) is None


@pytest.mark.parametrize(
    "news",
    [
        make_grain("Rome", seq=8),
        replace(GONE, state="current", superseded_by=None, seq=9),
        make_grain("Oslo", seq=2, valid_from=NOW),
    ],
    ids=["a new value", "the old one stated again", "one whose time has come"],
)
def test_after_an_apply_whatever_contradicts_again_is_found(news: Grain) -> None:
    assert found(GONE, TOKYO, marks=applied(7)) is None
    grains = {grain.address: grain for grain in (GONE, TOKYO, news)}
    assert found(*grains.values(), marks=applied(7)) is not None


def test_the_remainder_of_a_long_contradiction_is_found_after_the_first_part_was_applied() -> None:
    grains = many(MAX_OPERATIONS + 20)
    gone = [replace(grain, state="superseded", seq=7) for grain in grains[-MAX_OPERATIONS - 1 : -1]]
    draft = found(*grains[:19], *gone, grains[-1], marks=applied(7))
    assert len(pointed(draft)) == 19


def test_a_view_of_something_else_is_an_error_of_the_analyzer() -> None:
    with pytest.raises(AnalyzerError):
        ANALYZER.examine(ToolView("g", "shared", ToolWindow("g", (), ()), ""), {}, NOW)


GRAINS = st.lists(
    st.builds(
        make_grain,
        st.sampled_from(["Berlin", "berlin", "Tokyo", "Rome"]),
        subject=st.sampled_from(["sam", "Sam", "kim"]),
        relation=st.sampled_from(["lives_in", "livesIn", "status", "likes"]),
        namespace=st.sampled_from(["shared", "team"]),
        at=st.integers(NOW - 5, NOW),
        valid_from=st.none() | st.integers(NOW - 2, NOW + 2),
        valid_to=st.none() | st.integers(NOW - 2, NOW + 2),
        state=st.sampled_from(["current", "current", "superseded"]),
    ),
    unique_by=lambda grain: grain.address,
    max_size=14,
)


@given(GRAINS.flatmap(lambda grains: st.tuples(st.just(grains), st.permutations(grains))))
def test_the_answer_does_not_depend_on_the_order_of_the_grains(orders: tuple[list[Grain], list[Grain]]) -> None:
    assert examined(*orders[0]) == examined(*orders[1])


@given(GRAINS)
def test_applying_a_finding_leaves_one_live_value_and_no_finding(grains: list[Grain]) -> None:
    drafts = examined(*grains).drafts
    gone = {step.target for draft in drafts for step in draft.proposal.operations}
    kept = {step.into for draft in drafts for step in draft.proposal.operations}
    assert not gone & kept
    after = [replace(grain, state="superseded") if grain.address in gone else grain for grain in grains]
    assert examined(*after).drafts == ()


@given(GRAINS)
def test_time_alone_changes_the_answer_only_when_it_was_said_to_be_due(grains: list[Grain]) -> None:
    first = examined(*grains)
    due = first.next_due_at if first.next_due_at is not None else NOW + 10
    for now in range(NOW, due):
        assert examined(*grains, now=now).drafts == first.drafts
