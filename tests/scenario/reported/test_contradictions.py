"""Contradiction, staleness and correction: one value is left, and it is the right one, and only it is recalled."""

from __future__ import annotations

from provenloop.domain.events import SupersedeEvent
from provenloop.services.history import relation_history
from tests.builders import DAY_MS, NOW, Desk, addresses, make_calls, make_fact, make_observation
from tests.faults import Snapshot, assert_unchanged
from tests.scenario.reported.steps import apply_only, families, found_by_pass, live_facts, recalled, set_up

OTHERS = (
    make_fact("tea", relation="likes"),
    make_fact("Lima", subject="kim"),
    make_fact("Quito", namespace="other"),
    make_fact("gold", relation="tier"),
    make_observation("sam lives in the harbour district"),
)


def stored_grains(desk: Desk) -> Snapshot:
    return {key: item for key, item in desk.snapshot().items() if key[0].endswith("#GRAIN")}


def is_about(sort_key: str, *them: str) -> bool:
    """Whether a row is that of one of these grains, or of what they replaced."""
    return any(address in sort_key for address in them)


def test_a_changed_mind_leaves_exactly_the_new_opinion(desk: Desk) -> None:
    set_up(desk, "contradiction_sweep", parameters={"extra_relations": "opinion_of_chinese_food"})
    for value in ("love", "hate"):
        desk.record(make_fact(value, relation="opinion of Chinese food"))
    desk.run()
    apply_only(desk)
    assert live_facts(desk) == ["hate"]
    assert list(desk.facts(state="superseded")) == ["love"]


def test_the_latest_value_is_recalled_and_the_older_one_is_history(desk: Desk) -> None:
    set_up(desk, "contradiction_sweep", parameters={"extra_relations": "favourite_drink"})
    for value in ("coffee", "tea"):
        desk.record(make_fact(value, relation="favourite_drink"))
    desk.run()
    apply_only(desk)
    assert recalled(desk, subject="sam") == recalled(desk, "favourite drink of sam") == ["tea"]
    told = relation_history(desk.store, desk.call(), "shared", "sam", "favourite_drink")["values"]
    assert [value["object"] for value in told] == ["coffee", "tea"]


def test_an_apply_names_what_it_superseded_and_that_is_not_recalled_any_more(desk: Desk) -> None:
    [old] = addresses(desk.record(make_fact("Berlin lighthouse")))
    desk.record(make_fact("Oslo lighthouse"))
    desk.run()
    answer = apply_only(desk)
    assert answer["changed"] == [old]
    assert recalled(desk, "lighthouse") == recalled(desk, relation="lives_in") == ["Oslo lighthouse"]


def test_a_correction_retires_nothing_but_the_same_relation_of_the_same_subject(desk: Desk) -> None:
    desk.record(*OTHERS)
    [berlin] = addresses(desk.record(make_fact("Berlin")))
    [oslo] = addresses(desk.record(make_fact("Oslo")))
    desk.run()
    before = stored_grains(desk)
    apply_only(desk)
    after = stored_grains(desk)
    theirs = [{key: i for key, i in rows.items() if not is_about(key[1], berlin, oslo)} for rows in (before, after)]
    assert_unchanged(*theirs)


def test_a_historical_value_that_arrives_late_does_not_become_the_present_one(desk: Desk) -> None:
    desk.record(make_fact("Oslo", valid_from=NOW - 10 * DAY_MS))
    desk.record(make_fact("Berlin", valid_from=NOW - 400 * DAY_MS))
    desk.run()
    apply_only(desk)
    assert live_facts(desk) == ["Oslo"]


def test_values_of_other_times_do_not_contradict_the_present_one(desk: Desk) -> None:
    desk.record(make_fact("Rome", valid_to=NOW - DAY_MS), make_fact("Oslo", valid_from=NOW + 30 * DAY_MS))
    desk.record(make_fact("Berlin", valid_from=NOW - DAY_MS, valid_to=NOW + 30 * DAY_MS))
    assert found_by_pass(desk) == ["staleness"]
    assert recalled(desk, subject="sam") == ["Berlin"]


def test_what_was_contradicted_is_not_recalled_however_often_it_was_stated(desk: Desk) -> None:
    for _ in range(5):
        desk.record(make_fact("the agent fixed the outage", relation="status"))
    desk.record(make_fact("the outage goes on", relation="status"))
    desk.run()
    apply_only(desk)
    assert recalled(desk, "outage") == ["the outage goes on"]


def test_one_anomaly_is_one_open_finding_whose_count_rises(desk: Desk) -> None:
    counts = []
    for number in range(5):
        desk.record(*make_calls(3, name=f"day{number}"))
        desk.run()
        counts.append(desk.recommendation(desk.only()["id"]).count)
    assert counts == [3, 6, 9, 12, 15]
    assert len(desk.queue("all")) == 1


def test_two_relations_of_one_subject_are_two_findings_and_neither_mutes_the_other(desk: Desk) -> None:
    for values in (("Berlin", "gold"), ("Oslo", "silver")):
        desk.record(make_fact(values[0]), make_fact(values[1], relation="tier"))
    assert found_by_pass(desk) == ["contradiction_sweep"] * 2
    desk.approve_and_apply(desk.queue()[0]["id"])
    desk.run()
    desk.approve_and_apply(desk.only()["id"])
    assert live_facts(desk) == ["Oslo", "silver"]
    assert found_by_pass(desk) == []


def test_a_new_value_after_an_apply_is_found_again(desk: Desk) -> None:
    for value in ("Berlin", "Oslo"):
        desk.record(make_fact(value))
    desk.run()
    apply_only(desk)
    desk.record(make_fact("Rome"))
    assert found_by_pass(desk) == ["contradiction_sweep"]


def test_the_kept_value_keeps_its_confidence_expiry_tags_and_namespace(desk: Desk) -> None:
    said = {"confidence": 0.4, "tags": ("hr",), "source": "mail", "valid_to": NOW + 90 * DAY_MS}
    desk.record(make_fact("Berlin", namespace="team", confidence=0.9))
    [kept] = addresses(desk.record(make_fact("Oslo", namespace="team", **said)))  # type: ignore[arg-type]
    desk.run()
    before = desk.grains()[kept]
    apply_only(desk)
    after = desk.grains()[kept]
    assert (after.body, after.valid_to, after.namespace) == (before.body, before.valid_to, "team")
    assert recalled(desk, namespace="team", subject="sam") == ["Oslo"]


def test_a_value_that_moved_on_since_the_finding_is_not_brought_back(desk: Desk) -> None:
    [berlin] = addresses(desk.record(make_fact("Berlin")))
    [oslo] = addresses(desk.record(make_fact("Oslo")))
    desk.run()
    for old in (berlin, oslo):
        desk.record(SupersedeEvent(old, make_fact("Rome")))
    desk.run()
    assert families(desk) == []
    assert live_facts(desk) == ["Rome"]


def test_equal_names_in_two_namespaces_never_contradict(desk: Desk) -> None:
    desk.record(make_fact("Berlin", namespace="team"))
    desk.record(make_fact("Oslo", namespace="Team"))
    assert found_by_pass(desk) == []
