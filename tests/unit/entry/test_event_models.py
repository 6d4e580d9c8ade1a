"""Events of the wire become events of the domain, exactly as they were sent."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError
from provenloop.domain.events import (
    FactEvent,
    FreeEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    SupersedeEvent,
    ToolCallEvent,
)
from provenloop.entry.models.events import EventsRequest, to_events
from provenloop.entry.models.validation import read_model

NOW = 1_800_000_000_000
ADDRESS = "0123456789abcdef" * 4


def convert(*events: dict[str, Any]) -> tuple[Any, ...]:
    return to_events(read_model(EventsRequest, {"events": list(events)}), NOW)


def test_a_fact_keeps_its_exact_texts_and_gets_the_defaults() -> None:
    assert convert({"kind": "fact", "subject": " Ada\t", "relation": "livesIn", "object": "Straße\n1"}) == (
        FactEvent(namespace="shared", subject=" Ada\t", relation="livesIn", object="Straße\n1"),
    )


def test_a_namespace_is_one_however_its_letters_are_composed() -> None:
    composed, decomposed = (
        convert({"kind": "observation", "namespace": name, "text": "x"}) for name in ("\u00e9quipe", "e\u0301quipe")
    )
    assert composed == decomposed == (ObservationEvent(namespace="\u00e9quipe", text="x"),)


def test_all_fields_of_a_fact_arrive() -> None:
    sent = {
        "kind": "fact",
        "namespace": "team a",
        "subject": "s",
        "relation": "r",
        "object": "o",
        "confidence": 1,
        "valid_from": "2027-01-15T08:00:00Z",
        "valid_to": NOW + 1,
        "occurred_at": "2027-01-15T09:00:00.250+01:00",
        "source": "runbook",
        "tags": ["b", "a"],
    }
    assert convert(sent) == (FactEvent("team a", "s", "r", "o", 1.0, NOW, NOW + 1, NOW + 250, "runbook", ("b", "a")),)


def test_a_tool_call_takes_any_json_as_input_and_result() -> None:
    sent = {
        "kind": "tool_call",
        "tool": "http_get",
        "is_error": True,
        "result": {"error": [1, None, {"deep": 1.5}]},
        "input": ["a", False],
        "call_id": "call_1",
        "session": "s-1",
        "occurred_at": NOW - 5,
        "signature": "timeout",
    }
    assert convert(sent) == (
        ToolCallEvent(
            namespace="shared",
            tool="http_get",
            is_error=True,
            result={"error": [1, None, {"deep": 1.5}]},
            input=["a", False],
            call_id="call_1",
            session="s-1",
            occurred_at=NOW - 5,
            signature="timeout",
        ),
    )


def test_an_observation_arrives() -> None:
    assert convert({"kind": "observation", "text": "slow\x00", "valid_to": NOW, "session": "s", "source": "x"}) == (
        ObservationEvent(namespace="shared", text="slow\x00", valid_to=NOW, session="s", source="x"),
    )


def test_a_supersede_carries_what_replaces_the_grain() -> None:
    sent = {
        "kind": "supersede",
        "target": ADDRESS,
        "with": {"kind": "fact", "subject": "s", "relation": "r", "object": "o"},
        "if_head": 3,
    }
    assert convert(sent) == (SupersedeEvent(ADDRESS, FactEvent("shared", "s", "r", "o"), 3),)


def test_all_fields_of_a_skill_a_goal_and_an_event_arrive() -> None:
    skill = {"kind": "skill", "name": "n", "revision": 2, "proficiency": 0, "practice_count": 0, "valid_to": NOW}
    goal = {"kind": "goal", "name": "n", "state": "dropped", "progress": 1, "description": "d", "valid_to": NOW}
    event = {"kind": "event", "body": None, "event_id": "e", "session": "s", "occurred_at": NOW, "valid_to": NOW}
    assert convert(skill, goal, event) == (
        SkillEvent("shared", "n", 2, 0.0, 0, NOW),
        GoalEvent("shared", "n", "dropped", 1.0, "d", NOW),
        FreeEvent("shared", None, "e", "s", NOW, NOW),
    )
    assert convert({"kind": "skill", "name": "n"}, {"kind": "goal", "name": "n"}) == (
        SkillEvent("shared", "n", 1),
        GoalEvent("shared", "n"),
    )


def test_a_fork_is_allowed_only_where_it_is_said() -> None:
    sent = {"kind": "supersede", "target": ADDRESS, "with": {"kind": "goal", "name": "n"}}
    assert [event.allow_fork for event in convert(sent, {**sent, "allow_fork": True})] == [False, True]


def test_something_may_have_occurred_five_minutes_ahead_of_our_clock() -> None:
    (event,) = convert({"kind": "observation", "text": "x", "occurred_at": NOW + 300_000})
    assert event.occurred_at == NOW + 300_000
    with pytest.raises(InvalidInputError) as caught:
        convert({"kind": "observation", "text": "x", "occurred_at": NOW + 300_001})
    assert caught.value.field == "events[0].occurred_at"


def test_validity_must_end_after_it_begins() -> None:
    fact = {"kind": "fact", "subject": "s", "relation": "r", "object": "o", "valid_from": NOW, "valid_to": NOW}
    with pytest.raises(InvalidInputError) as caught:
        convert({"kind": "observation", "text": "x"}, {"kind": "supersede", "target": ADDRESS, "with": fact})
    assert caught.value.field == "events[1].with.valid_to"


def test_ninety_events_are_a_full_batch() -> None:
    assert len(convert(*[{"kind": "observation", "text": str(number)} for number in range(90)])) == 90


def test_a_path_does_not_grow_with_the_keys_that_were_sent() -> None:
    with pytest.raises(InvalidInputError) as caught:
        convert({"kind": "observation", "text": "x", "k" * 5000: 1})
    assert caught.value.field is not None
    assert len(caught.value.field) < 100
    assert "kkkk" not in caught.value.message


def test_a_message_does_not_repeat_what_was_sent() -> None:
    for event in ({"kind": "hunter2"}, {"kind": "observation", "text": 4711_0815}, {"kind": "fact", "hunter2": "x"}):
        with pytest.raises(InvalidInputError) as caught:
            convert(event)
        assert "hunter2" not in caught.value.message
        assert "4711" not in caught.value.message
