"""Capturing events: what becomes of each, that nothing counts twice, and what is taken out before it is stored."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from provenloop.domain.errors import (
    IdempotencyMismatchError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
    TargetChangedError,
    TooLargeError,
)
from provenloop.domain.events import MAX_AHEAD_MS, Event, SupersedeEvent
from provenloop.domain.grain import Grain
from provenloop.domain.prepare import MAX_BODY_BYTES
from provenloop.services import ingest
from provenloop.services.batch import TOOL_CALL_KEPT_MS
from provenloop.services.ingest import MAX_EVENTS
from tests.builders import (
    DAY_MS,
    NOW,
    Desk,
    addresses,
    make_calls,
    make_fact,
    make_observation,
    make_principal,
    make_tool_call,
)

BERLIN, TOKYO = make_fact("Berlin"), make_fact("Tokyo")


def one_fact(desk: Desk, value: str = "Berlin") -> Grain:
    return desk.facts()[value]


def test_new_events_are_stored_and_answered_in_order(desk: Desk) -> None:
    answer = desk.record(BERLIN, make_tool_call("c1"), make_tool_call(error="no"), make_observation())
    assert [(event["index"], event["kind"], event["status"]) for event in answer["events"]] == [
        (0, "fact", "stored"), (1, "tool_call", "stored"), (2, "tool_call", "stored"), (3, "observation", "stored"),
    ]  # fmt: skip
    assert answer["seq"] == 1
    assert answer["redacted"] == {}
    assert set(addresses(answer)) == set(desk.grains())


def test_a_stored_grain_says_when_by_whom_and_in_which_commit(desk: Desk) -> None:
    desk.record(make_fact(confidence=0.9, valid_from=NOW - 5, tags=("b", "a"), source="mail", occurred_at=NOW - 9))
    grain = one_fact(desk)
    assert (grain.recorded_at, grain.last_stated_at, grain.by, grain.seq) == (desk.now, desk.now, "ann", 1)
    assert (grain.occurred_at, grain.valid_from, grain.expires_at) == (NOW - 9, NOW - 5, None)
    assert grain.body == {
        "subject": "sam", "relation": "lives_in", "object": "Berlin", "confidence": 0.9, "source": "mail",
        "tags": ["a", "b"],
    }  # fmt: skip


def test_a_tool_call_is_kept_ninety_days_and_occurs_now_unless_it_says_otherwise(desk: Desk) -> None:
    [address] = addresses(desk.record(make_tool_call("c1")))
    grain = desk.grains()[address]
    assert grain.occurred_at == desk.now
    assert grain.expires_at is not None
    assert 0 <= grain.expires_at - desk.now - TOOL_CALL_KEPT_MS < 1000


# calls


def test_a_call_id_counts_once_however_often_it_is_sent(desk: Desk) -> None:
    calls = make_calls(3, 2)
    first = desk.record(*calls)
    again = desk.record(*calls, make_tool_call("new"))
    assert [event["status"] for event in again["events"]] == ["duplicate"] * 5 + ["stored"]
    assert addresses(again)[:5] == addresses(first)
    assert not any("differs" in event for event in again["events"])
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    entries = desk.store.log_entries(desk.memory, 0, heads.log.seq)
    assert [(entry.grains, entry.errors) for entry in entries] == [(5, 3), (1, 0)]


def test_a_repeated_call_id_with_another_body_is_told_and_the_first_is_kept(desk: Desk) -> None:
    [address] = addresses(desk.record(make_tool_call("c1", error="first")))
    [event] = desk.record(make_tool_call("c1", error="second"))["events"]
    assert (event["status"], event["differs"], event["address"]) == ("duplicate", True, address)
    assert desk.grains()[address].body["result"] == "first"


def test_one_call_id_twice_in_a_request_is_one_call(desk: Desk) -> None:
    same, other = make_tool_call("c1", error="a"), make_tool_call("c1", error="b")
    events = desk.record(same, make_tool_call("c2"), same, other)["events"]
    assert [event["status"] for event in events] == ["stored", "stored", "duplicate", "duplicate"]
    assert [event.get("same_as") for event in events] == [None, None, 0, 0]
    assert [event.get("differs") for event in events] == [None, None, None, True]
    assert len(desk.grains()) == 2


def test_calls_without_an_id_are_all_new(desk: Desk) -> None:
    call = make_tool_call(error="no")
    assert desk.statuses(call, call) == ["stored"] * 2
    assert desk.statuses(call) == ["stored"]
    assert len(desk.grains()) == 3


def test_a_call_that_has_expired_may_come_again(desk: Desk) -> None:
    desk.record(make_tool_call("c1"))
    desk.now += TOOL_CALL_KEPT_MS - 1000
    assert desk.statuses(make_tool_call("c1")) == ["duplicate"]
    desk.now += 2000
    assert desk.statuses(make_tool_call("c1")) == ["stored"]


# restating


def test_a_fact_stated_again_is_the_same_fact_and_its_counter_moves(desk: Desk) -> None:
    desk.record(BERLIN)
    before = one_fact(desk)
    assert desk.statuses(BERLIN) == ["restated"]
    assert one_fact(desk) == replace(before, stated=2, last_stated_at=desk.now)


def test_a_fact_stated_twice_in_a_request_is_stored_once_and_counts_two(desk: Desk) -> None:
    events = desk.record(BERLIN, TOKYO, BERLIN)["events"]
    assert [(event["status"], event.get("same_as")) for event in events] == [
        ("stored", None), ("stored", None), ("restated", 0),
    ]  # fmt: skip
    assert (one_fact(desk).stated, one_fact(desk, "Tokyo").stated) == (2, 1)


@pytest.mark.parametrize("at_once", [True, False])
def test_what_a_later_statement_leaves_out_stays_whether_it_comes_in_one_request_or_two(
    desk: Desk, at_once: bool
) -> None:
    first = make_fact(confidence=0.9, source="mail", valid_from=NOW - 50, occurred_at=NOW - 20)
    second = make_fact(confidence=0.4, tags=("t",), valid_to=NOW + DAY_MS, occurred_at=NOW - 30)
    third = make_fact()
    for events in [[first, second, third]] if at_once else [[first], [second], [third]]:
        desk.record(*events)
    grain = one_fact(desk)
    assert {name: grain.body.get(name) for name in ("confidence", "source", "tags")} == {
        "confidence": 0.4, "source": "mail", "tags": ["t"],
    }  # fmt: skip
    assert (grain.valid_from, grain.valid_to, grain.occurred_at, grain.stated) == (NOW - 50, NOW + DAY_MS, NOW - 20, 3)


def test_other_fields_change_the_fact_and_the_old_values_stay_in_history(desk: Desk) -> None:
    desk.record(make_fact(confidence=0.9, source="mail"))
    before = one_fact(desk)
    assert desk.statuses(make_fact(confidence=0.5)) == ["changed"]
    after = one_fact(desk)
    assert after.body == {**before.body, "confidence": 0.5}
    assert (after.head_rev, after.generation, after.stated, after.recorded_at) == (2, 1, 2, before.recorded_at)
    assert desk.store.history(desk.memory, before.address) == (before,)


def test_a_statement_in_a_request_that_changes_a_stored_fact_is_not_hidden_by_a_later_one(desk: Desk) -> None:
    desk.record(make_fact(confidence=0.9))
    assert desk.statuses(make_fact(confidence=0.5), make_fact()) == ["changed", "restated"]
    assert (one_fact(desk).body["confidence"], one_fact(desk).stated) == (0.5, 3)


def test_a_statement_that_something_still_held_later_makes_it_the_latest(desk: Desk) -> None:
    desk.record(make_fact("Berlin", occurred_at=NOW - 9000), make_fact("Tokyo", occurred_at=NOW - 5000))
    assert desk.statuses(make_fact("Berlin", occurred_at=NOW - 1000)) == ["restated"]
    assert one_fact(desk).recency() > one_fact(desk, "Tokyo").recency()
    assert one_fact(desk).stated == 2


def test_of_values_said_undated_in_one_batch_the_last_said_is_the_latest(desk: Desk) -> None:
    places = ["Berlin", "Tokyo", "Rome", "Oslo", "Lima"]
    for order in (places, places[::-1], [*places[2:], *places[:2]]):
        desk.record(*(make_fact(place) for place in order))
        by_recency = sorted(desk.facts().values(), key=Grain.recency)
        assert [grain.body["object"] for grain in by_recency] == order


@pytest.mark.parametrize("days", [1, 30, 89])
def test_a_request_sent_again_days_later_counts_nothing_again(desk: Desk, days: int) -> None:
    desk.record(make_fact(confidence=0.5))
    desk.record(BERLIN, make_tool_call(error="no"), key="once")
    stored = one_fact(desk)
    desk.now += days * DAY_MS
    answer = desk.record(BERLIN, make_tool_call(error="no"), key="once")
    assert [event["status"] for event in answer["events"]] == ["duplicate", "duplicate"]
    assert one_fact(desk) == stored


@pytest.mark.parametrize("more", [{}, {"confidence": 0.5}])
def test_a_statement_about_earlier_makes_nothing_older(desk: Desk, more: dict[str, Any]) -> None:
    desk.record(make_fact("Berlin"), make_fact("Tokyo", occurred_at=NOW - DAY_MS))
    desk.record(make_fact("Berlin", occurred_at=NOW - 9 * DAY_MS, **more))
    assert one_fact(desk).recency() > one_fact(desk, "Tokyo").recency()
    assert one_fact(desk).stated == 2


def test_a_superseded_fact_that_is_stated_again_comes_back_as_a_new_generation(desk: Desk) -> None:
    [target] = addresses(desk.record(make_fact(confidence=0.9)))
    begun = desk.grains()[target]
    desk.record(SupersedeEvent(target, TOKYO))
    gone = desk.grains()[target]
    assert gone.state == "superseded"
    assert desk.statuses(BERLIN) == ["revived"]
    back = one_fact(desk)
    assert (back.generation, back.head_rev, back.stated, back.superseded_by) == (2, 3, 1, None)
    assert "confidence" not in back.body
    assert desk.store.history(desk.memory, target) == (begun, gone)


def test_an_observation_stated_again_is_the_same(desk: Desk) -> None:
    assert desk.statuses(make_observation()) == ["stored"]
    assert desk.statuses(make_observation(), make_observation("other")) == ["restated", "stored"]
    assert desk.statuses(make_observation(source="door")) == ["changed"]


def test_spellings_of_one_value_are_facts_of_their_own(desk: Desk) -> None:
    assert desk.statuses(BERLIN, make_fact("berlin"), make_fact("Berlin", namespace="team")) == ["stored"] * 3


# superseding


def test_superseding_keeps_the_old_grain_and_points_it_at_the_new_one(desk: Desk) -> None:
    [target] = addresses(desk.record(BERLIN))
    [event] = desk.record(SupersedeEvent(target, TOKYO))["events"]
    assert (event["status"], event["superseded"]) == ("stored", target)
    gone = desk.grains()[target]
    assert (gone.state, gone.superseded_by, gone.head_rev, gone.seq) == ("superseded", event["address"], 2, 2)
    assert gone.body["object"] == "Berlin"
    assert set(desk.facts()) == {"Tokyo"}


def test_superseding_by_a_fact_that_is_there_restates_it(desk: Desk) -> None:
    berlin, _ = addresses(desk.record(BERLIN, TOKYO))
    [event] = desk.record(SupersedeEvent(berlin, TOKYO))["events"]
    assert (event["status"], event["superseded"]) == ("restated", berlin)
    assert one_fact(desk, "Tokyo").stated == 2


def test_a_supersede_that_is_sent_again_changes_nothing_more(desk: Desk) -> None:
    [target] = addresses(desk.record(BERLIN))
    first = desk.record(SupersedeEvent(target, TOKYO), key="k1")
    before = desk.grains()
    again = desk.record(SupersedeEvent(target, TOKYO), key="k1")
    assert [event["status"] for event in again["events"]] == ["duplicate"]
    assert addresses(again) == addresses(first)
    assert desk.grains() == before


def test_two_supersedes_of_two_grains_by_one_fact_fold_into_one(desk: Desk) -> None:
    berlin, rome = addresses(desk.record(BERLIN, make_fact("Rome")))
    events = desk.record(SupersedeEvent(berlin, TOKYO), SupersedeEvent(rome, TOKYO))["events"]
    assert [(event["status"], event.get("same_as")) for event in events] == [("stored", None), ("restated", 0)]
    assert set(desk.facts()) == {"Tokyo"}
    assert {grain.superseded_by for grain in desk.facts(state="superseded").values()} == {events[0]["address"]}


def test_if_head_names_the_head_that_the_sender_saw(desk: Desk) -> None:
    [target] = addresses(desk.record(BERLIN))
    with pytest.raises(TargetChangedError) as caught:
        desk.record(SupersedeEvent(target, TOKYO, if_head=2))
    assert caught.value.field == "events[0].if_head"
    desk.record(make_fact("Berlin", confidence=0.2))
    assert desk.statuses(SupersedeEvent(target, TOKYO, if_head=2)) == ["stored"]


def refusals(desk: Desk) -> dict[str, tuple[list[Event], type[LoopError], str]]:
    """Batches of which the last event cannot be done, with the error and the field it names."""
    berlin, gone, note = addresses(desk.record(BERLIN, make_fact("Rome"), make_observation()))
    desk.record(SupersedeEvent(gone, BERLIN))
    new: Event = make_tool_call("new")
    return {
        "missing": ([new, SupersedeEvent("f" * 64, TOKYO)], NotFoundError, "events[1].target"),
        "not current": ([new, SupersedeEvent(gone, TOKYO)], TargetChangedError, "events[1].target"),
        "stale head": ([new, SupersedeEvent(berlin, TOKYO, if_head=7)], TargetChangedError, "events[1].if_head"),
        "other kind": ([new, SupersedeEvent(note, TOKYO)], InvalidInputError, "events[1].target"),
        "by itself": ([new, SupersedeEvent(berlin, BERLIN)], InvalidInputError, "events[1].target"),
        "written too": ([BERLIN, SupersedeEvent(berlin, TOKYO)], InvalidInputError, "events[1].target"),
        "twice": (
            [SupersedeEvent(berlin, TOKYO), SupersedeEvent(berlin, make_fact("Oslo"))],
            InvalidInputError,
            "events[1].target",
        ),
        "future": (
            [new, make_fact("x", occurred_at=NOW + MAX_AHEAD_MS + 999)],
            InvalidInputError,
            "events[1].occurred_at",
        ),
    }


@pytest.mark.parametrize(
    "case", ["missing", "not current", "stale head", "other kind", "by itself", "written too", "twice", "future"]
)
def test_a_batch_with_an_event_that_cannot_be_done_stores_nothing_and_names_the_event(desk: Desk, case: str) -> None:
    events, error, field = refusals(desk)[case]
    before = desk.grains()
    with pytest.raises(error) as caught:
        desk.record(*events)
    assert caught.value.field == field
    assert desk.grains() == before


@pytest.mark.parametrize("case", ["missing", "by itself"])
def test_a_refused_batch_leaves_no_number_that_the_fold_would_wait_for(desk: Desk, case: str) -> None:
    events, error, _ = refusals(desk)[case]
    with pytest.raises(error):
        desk.record(*events)
    desk.run()
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    assert (heads.folds.folded, dict(heads.folds.holes)) == (heads.log.seq, {})
    assert heads.log.wake_at is None


def test_events_of_the_next_five_minutes_are_taken(desk: Desk) -> None:
    assert desk.statuses(make_tool_call("c1", occurred_at=desk.now + 1 + MAX_AHEAD_MS)) == ["stored"]


# sending again with an Idempotency-Key


def test_a_request_sent_again_with_its_key_stores_and_counts_nothing_twice(desk: Desk) -> None:
    desk.record(TOKYO)
    events: list[Event] = [BERLIN, BERLIN, TOKYO, make_tool_call(error="no"), make_observation(), make_tool_call("c1")]
    first = desk.record(*events, key="k1")
    assert [event["status"] for event in first["events"]] == [
        "stored", "restated", "restated", "stored", "stored", "stored",
    ]  # fmt: skip
    before = desk.grains()
    for _ in range(2):
        again = desk.record(*events, key="k1")
        assert [event["status"] for event in again["events"]] == ["duplicate"] * 6
        assert addresses(again) == addresses(first)
        assert desk.grains() == before


@pytest.mark.parametrize("more", [{}, {"confidence": 0.2}], ids=["restated", "changed"])
def test_a_restated_or_changed_fact_counts_once_for_one_key_and_again_for_another(
    desk: Desk, more: dict[str, Any]
) -> None:
    desk.record(make_fact(confidence=0.9))
    event = make_fact(**more)
    for key in ("k1", "k1", "k2", "k1", "k2"):
        desk.record(event, key=key)
    assert one_fact(desk).stated == 3


def test_a_revived_fact_counts_once_for_one_key(desk: Desk) -> None:
    [target] = addresses(desk.record(BERLIN))
    desk.record(SupersedeEvent(target, TOKYO))
    assert desk.statuses(BERLIN, key="k1") == ["revived"]
    assert desk.statuses(BERLIN, key="k1") == ["duplicate"]
    assert (one_fact(desk).generation, one_fact(desk).stated) == (2, 1)


def test_one_key_of_two_principals_is_two_keys(desk: Desk) -> None:
    call = make_tool_call(error="no")
    desk.record(call, key="k1")
    bob = desk.call(by=make_principal("bob", "write"), key="k1")
    answer = ingest.record_events(desk.store, bob, [call])
    assert [event["status"] for event in answer["events"]] == ["stored"]


def test_a_key_that_counted_something_refuses_another_body(desk: Desk) -> None:
    desk.record(BERLIN)
    ingest.record_events(desk.store, desk.call(key="k1", body=["one"]), [BERLIN])
    before = desk.grains()
    with pytest.raises(IdempotencyMismatchError):
        ingest.record_events(desk.store, desk.call(key="k1", body=["two"]), [BERLIN])
    assert desk.grains() == before


# what is taken out, and limits

KEY_ID = "AKIA" + "IOSFODNN7EXAMPLQ"


def test_secrets_are_replaced_in_every_text_counted_and_never_stored(desk: Desk) -> None:
    said = f"the key is {KEY_ID} ok"
    answer = desk.record(
        make_fact(said, subject=said, tags=(said,), source=said),
        make_observation(said),
        make_tool_call("c1", error={"message": [said]}, input={"key": said}),
    )
    [(kind, count)] = answer["redacted"].items()
    assert count == 7
    stored = str(desk.snapshot())
    assert KEY_ID not in stored
    [grain] = [grain for grain in desk.grains().values() if grain.kind == "observation"]
    assert grain.body["text"] == f"the key is [redacted:{kind}] ok"
    assert grain.redacted == {kind: 1}


def test_a_long_body_is_stored_cut_with_its_full_size_and_digest(desk: Desk) -> None:
    text = "ä" * MAX_BODY_BYTES
    desk.record(make_observation(text), make_fact(text), make_tool_call("c1", error=text, input=text))
    full = {"full_bytes": 2 * MAX_BODY_BYTES, "full_sha256": sha256(text.encode()).hexdigest()}
    bodies: dict[str, Any] = {grain.kind: grain.body for grain in desk.grains().values()}
    for kind, field in (("observation", "text"), ("fact", "object"), ("tool_call", "result")):
        assert bodies[kind][field] == "ä" * (MAX_BODY_BYTES // 2)
        assert {name: bodies[kind][name] for name in full} == full
    assert bodies["tool_call"]["input"] == "ä" * (MAX_BODY_BYTES // 2)
    assert {name: bodies["tool_call"][f"input_{name}"] for name in full} == full


def test_a_body_of_exactly_the_limit_is_stored_whole(desk: Desk) -> None:
    desk.record(make_observation("x" * MAX_BODY_BYTES))
    [grain] = desk.grains().values()
    assert (len(grain.body["text"]), "full_bytes" in grain.body) == (MAX_BODY_BYTES, False)


def test_long_texts_that_differ_beyond_the_cut_are_two(desk: Desk) -> None:
    texts = [make_observation("x" * MAX_BODY_BYTES + end) for end in ("a", "b")]
    assert desk.statuses(*texts) == ["stored", "stored"]
    assert desk.statuses(*texts) == ["restated", "restated"]


def test_the_signature_of_an_error_is_taken_before_the_cut(desk: Desk) -> None:
    ends = ["x " * MAX_BODY_BYTES + end for end in ("disk full", "disk broken")]
    desk.record(*(make_tool_call(f"c{n}", error=text) for n, text in enumerate(ends)))
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    [entry] = desk.store.log_entries(desk.memory, 0, heads.log.seq)
    assert len({change.signature for change in entry.changes}) == 2


def test_ninety_events_are_taken_and_ninety_one_refused(desk: Desk) -> None:
    with pytest.raises(TooLargeError) as caught:
        desk.record(*make_calls(MAX_EVENTS + 1))
    assert caught.value.field == "events"
    assert desk.grains() == {}
    assert desk.statuses(*make_calls(MAX_EVENTS)) == ["stored"] * MAX_EVENTS
    with pytest.raises(InvalidInputError):
        desk.record()


def test_changes_that_need_more_room_than_one_transaction_are_refused_whole(desk: Desk) -> None:
    facts = [make_fact(f"v{n}") for n in range(50)]
    desk.record(*facts)
    before = desk.grains()
    with pytest.raises(TooLargeError):
        desk.record(*(replace(fact, confidence=0.1) for fact in facts))
    assert desk.grains() == before


def test_only_a_writer_of_an_existing_memory_may_record(desk: Desk) -> None:
    before = desk.snapshot()
    with pytest.raises(ScopeDeniedError):
        ingest.record_events(desk.store, desk.call(by=make_principal("bob", "read", "review", "apply")), [BERLIN])
    with pytest.raises(ScopeDeniedError):
        ingest.record_events(desk.store, desk.call(by=make_principal("bob", memories="team-*")), [BERLIN])
    elsewhere = replace(desk.call(), memory=desk.memory._replace(name="missing"))
    with pytest.raises(NotFoundError):
        ingest.record_events(desk.store, elsewhere, [BERLIN])
    assert desk.snapshot() == before
