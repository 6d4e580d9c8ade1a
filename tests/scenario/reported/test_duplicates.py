"""Duplicates and merges: what is the same is found, what only looks the same is left alone, and no merge loses."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from provenloop.domain.errors import ConflictError
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.look_alikes import differences
from tests.builders import Desk, addresses, make_fact, make_observation
from tests.faults import assert_unchanged
from tests.scenario.reported.steps import (
    apply_only,
    families,
    found_by_pass,
    live_facts,
    recalled,
    set_up,
    shown,
)

STORY = "the customer of the harbour branch asked us to call back about the late parcel and the broken lamp on"


def notes(desk: Desk, *texts: str, namespace: str = "shared") -> None:
    for text in texts:
        desk.record(make_observation(text, namespace=namespace))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (f"{STORY} October 15th", f"{STORY} October 16th", "number"),
        (f"{STORY} Monday", f"{STORY} Tuesday", "date"),
        (f"{STORY} the third, see PR #260", f"{STORY} the third, see PR #480", "number"),
        (f"{STORY} the phone", f"{STORY} the phone, not by mail", "negation"),
        (f"{STORY} Globex paper", f"{STORY} Initech paper", "name"),
    ],
)
def test_long_texts_that_differ_in_one_telling_word_are_both_kept(
    desk: Desk, one: str, other: str, reason: str
) -> None:
    set_up(desk, "duplicate_sweep", parameters={"jaccard": 0.5})
    notes(desk, one, other)
    assert found_by_pass(desk) == []
    assert reason in differences(one, other)
    assert sorted(recalled(desk, "harbour branch parcel lamp")) == sorted([one, other])
    notes(desk, f"{one} please")
    assert found_by_pass(desk) == ["duplicate_sweep"]


def test_two_people_in_two_offices_are_not_merged_and_their_conflict_is_still_told(desk: Desk) -> None:
    notes(desk, "Alice is the chief executive of the firm", "Sarah is the chief technologist of the firm")
    desk.record(make_fact("San Francisco", subject="Alice"))
    desk.record(make_fact("New York", subject="Alice"))
    set_up(desk, "duplicate_sweep", parameters={"jaccard": 0.5})
    assert found_by_pass(desk) == ["contradiction_sweep"]
    assert shown(desk, desk.only()["id"])["details"]["values"] == 2


def test_a_new_job_is_stored_beside_the_old_one_and_proposed_as_its_successor(desk: Desk) -> None:
    set_up(desk, "contradiction_sweep", parameters={"extra_relations": "works_at"})
    desk.record(make_fact("Google", relation="works_at"))
    desk.record(make_fact("Microsoft", relation="works_at"))
    assert live_facts(desk) == ["Google", "Microsoft"]
    assert found_by_pass(desk) == ["contradiction_sweep"]
    assert live_facts(desk) == ["Google", "Microsoft"]


def test_a_near_duplicate_waits_with_both_texts_however_alike_they_are(desk: Desk) -> None:
    set_up(desk, "duplicate_sweep", parameters={"jaccard": 0.6})
    one, other = "the billing service runs on port 8090", "the billing service is running on port 8090"
    notes(desk, one, other)
    run = desk.run()
    assert run["auto_applied"] == 0
    assert families(desk) == ["duplicate_sweep"]
    detail = shown(desk, desk.only()["id"])
    assert {one, other} == {row["body"]["text"] for row in detail["evidence"]}
    assert sorted(recalled(desk, "billing service port 8090")) == sorted([one, other])


def test_a_restatement_with_its_parts_in_another_order_replaces_nothing_by_itself(desk: Desk) -> None:
    set_up(desk, "duplicate_sweep", parameters={"jaccard": 0.8})
    notes(desk, "after the deploy, clear the whole cache", "clear the whole cache after every deploy")
    assert found_by_pass(desk) == ["duplicate_sweep"]
    assert len(recalled(desk, "deploy cache")) == 2


def test_a_fact_added_again_in_another_case_is_a_duplicate_of_its_own_namespace_only(desk: Desk) -> None:
    for value, namespace in (("green tea", "ann"), ("Green Tea", "ann"), ("GREEN TEA", "bob")):
        desk.record(make_fact(value, relation="likes", namespace=namespace))
    assert found_by_pass(desk) == ["duplicate_sweep"]
    apply_only(desk)
    assert recalled(desk, namespace="ann", subject="sam") == ["green tea"]
    assert recalled(desk, namespace="bob", subject="sam") == ["GREEN TEA"]


def test_sharp_s_width_and_a_dotted_capital_are_spellings_too(desk: Desk) -> None:
    for value in ("Straße", "STRASSE", "ｓｔｒａｓｓｅ"):
        desk.record(make_fact(value, relation="likes"))
    desk.record(make_fact("İstanbul", relation="saw"))
    desk.record(make_fact("istanbul", relation="saw"))
    assert found_by_pass(desk) == ["duplicate_sweep", "duplicate_sweep"]


def test_every_way_of_writing_a_fact_meets_the_same_fact(desk: Desk) -> None:
    composed, decomposed = (normalize(form, "Café Zürich") for form in ("NFC", "NFD"))
    [stated] = addresses(desk.record(make_fact(composed)))
    assert addresses(desk.record(make_fact(decomposed))) == [stated]
    [old] = addresses(desk.record(make_fact("Berlin")))
    desk.record(SupersedeEvent(old, make_fact(decomposed)))
    assert desk.grains()[old].superseded_by == stated
    assert desk.grains()[stated].stated == 3


def test_of_two_writers_who_saw_the_same_head_one_replaces_it_and_the_other_is_told(desk: Desk) -> None:
    [old] = addresses(desk.record(make_fact("Berlin")))
    head = desk.grains()[old].head_rev
    desk.record(SupersedeEvent(old, make_fact("Oslo"), if_head=head))
    with pytest.raises(ConflictError):
        desk.record(SupersedeEvent(old, make_fact("Rome"), if_head=head))
    assert live_facts(desk) == ["Oslo"]


def test_a_fact_stated_eight_hundred_times_is_one_fact_with_a_count(desk: Desk) -> None:
    for _ in range(10):
        desk.record(*[make_fact("tea", relation="likes")] * 80)
    [fact] = desk.facts().values()
    assert fact.stated == 800
    assert found_by_pass(desk) == []


def test_a_request_that_is_tried_again_writes_nothing_twice(desk: Desk) -> None:
    events = make_observation("the lift is stuck"), make_fact("tea", relation="likes")
    first = desk.record(*events, key="retry-1")
    again = desk.record(*events, key="retry-1")
    assert addresses(first) == addresses(again)
    assert {grain.stated for grain in desk.grains().values()} == {1}


def test_a_merge_keeps_what_it_replaced_and_what_was_said_beside_it(desk: Desk) -> None:
    desk.record(make_fact("tea", relation="likes", confidence=0.3, tags=("a",)))
    desk.record(make_fact("Tea", relation="likes", confidence=0.9, tags=("b",), source="mail"))
    desk.run()
    before = desk.grains()
    rec_id = desk.only()["id"]
    desk.approve_and_apply(rec_id)
    [kept] = desk.facts().values()
    assert (kept.body["confidence"], kept.body["tags"], kept.body["source"]) == (0.3, ["a", "b"], "mail")
    [replaced] = desk.facts(state="superseded").values()
    assert replaced.body["object"] == "Tea"
    desk.roll_back(rec_id)
    after = desk.grains()
    assert {a: (g.state, g.body, g.stated) for a, g in after.items()} == {
        a: (g.state, g.body, g.stated) for a, g in before.items()
    }


def test_merging_three_copies_leaves_one_and_nothing_to_find(desk: Desk) -> None:
    for value in ("tea", "Tea", "TEA"):
        desk.record(make_fact(value, relation="likes"))
    desk.run()
    apply_only(desk)
    assert live_facts(desk) == ["tea"]
    assert found_by_pass(desk, full_sweep=True) == []


def test_copies_of_two_facts_of_one_subject_are_two_findings_that_do_not_block_each_other(desk: Desk) -> None:
    for value in ("tea", "Tea"):
        desk.record(make_fact(value, relation="likes"), make_fact(value, relation="sells"))
    assert found_by_pass(desk) == ["duplicate_sweep", "duplicate_sweep"]
    desk.approve_and_apply(desk.queue()[0]["id"])
    desk.approve_and_apply(desk.only()["id"])
    assert len(desk.facts()) == 1


def test_texts_without_letters_are_equal_only_when_they_are_the_same(desk: Desk) -> None:
    notes(desk, "🙂🙂🙂", "🚀🚀", "???", "!!!", "。。。")
    assert found_by_pass(desk) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("退款政策是七天之内可以全额退款给客户", "退款政策是七天之内可以全额退款给客户。"),
        ("возврат товара возможен в течение двух недель", "Возврат товара возможен в течение двух недель!"),
    ],
)
def test_a_rule_said_twice_in_a_script_of_its_own_is_a_duplicate(desk: Desk, one: str, other: str) -> None:
    notes(desk, one, other)
    assert found_by_pass(desk) == ["duplicate_sweep"]


@pytest.mark.parametrize(
    ("one", "other"), [("退款政策是七天", "发票会寄到邮箱"), ("возврат две недели", "счёт придёт на почту")]
)
def test_different_texts_in_a_script_of_its_own_stay_two(desk: Desk, one: str, other: str) -> None:
    set_up(desk, "duplicate_sweep", parameters={"jaccard": 0.5})
    notes(desk, one, other)
    assert found_by_pass(desk) == []


def test_equal_values_of_two_namespaces_subjects_or_relations_are_no_duplicates(desk: Desk) -> None:
    desk.record(make_fact("tea", relation="likes"), make_fact("Tea", relation="likes", namespace="Shared"))
    desk.record(make_fact("Tea", relation="likes", subject="kim"), make_fact("Tea", relation="sells"))
    before = desk.snapshot()
    assert found_by_pass(desk) == []
    assert_unchanged(
        {key: item for key, item in before.items() if key[0].endswith("#GRAIN")},
        {key: item for key, item in desk.snapshot().items() if key[0].endswith("#GRAIN")},
    )
