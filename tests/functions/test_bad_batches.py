"""A bad batch of every kind is refused with its field, and nothing behind the entry room is touched."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.functions.requests import ADDRESS, CALL, EVENT, FACT, GOAL, NOTE, NOW, SKILL, batch, call, ingest, refusal

pytestmark = pytest.mark.usefixtures("untouched")

DEEP = "[" * 40 + "]" * 40


def fact(**fields: object) -> str:
    return batch(NOTE, {**FACT, **fields})


def tool_call(**fields: object) -> str:
    return batch({**CALL, **fields})


def without(event: dict[str, Any], field: str) -> str:
    return batch({name: value for name, value in event.items() if name != field})


BAD_BODIES: list[tuple[str, str, int, str]] = [
    # the text itself
    ("not JSON", "{", 400, "body"),
    ("no body", "", 400, "body"),
    ("two texts", "{}{}", 400, "body"),
    ("a byte order mark", "\ufeff" + batch(NOTE), 400, "body"),
    ("NaN", '{"events":[{"kind":"fact","subject":"s","relation":"r","object":"o","confidence":NaN}]}', 400,
     "events[0].confidence"),
    ("infinity", '{"events":[{"kind":"tool_call","tool":"t","is_error":false,"result":[Infinity]}]}', 400,
     "events[0].result[0]"),
    ("a number that overflows", '{"events":[{"kind":"tool_call","tool":"t","is_error":false,"result":1e999}]}', 400,
     "events[0].result"),
    ("a number of 5,000 digits", '{"events":[{"kind":"observation","text":"x","occurred_at":' + "1" * 5000 + "}]}", 400,
     "events[0].occurred_at"),
    ("a key twice", '{"events":[{"kind":"observation","text":"x","text":"y"}]}', 400, "events[0].text"),
    ("a key twice at the top", '{"events":[],"events":[]}', 400, "events"),
    ("a lone surrogate", '{"events":[{"kind":"observation","text":"\\ud83d"}]}', 400, "events[0].text"),
    ("a lone surrogate in a key", '{"events":[{"kind":"tool_call","tool":"t","is_error":false,"input":{"\\udc00":1}}]}',
     400, "events[0].input"),
    ("a raw lone surrogate", '{"events":[{"kind":"observation","text":"\udc00"}]}', 400, "body"),
    ("deep nesting", '{"events":[{"kind":"tool_call","tool":"t","is_error":false,"result":' + DEEP + "}]}", 400,
     "body"),
    ("2 MB", batch({**NOTE, "text": "x" * 2_000_000}), 413, "body"),
    ("2 MB of nothing", " " * 2_000_000, 413, "body"),
    # the frame
    ("an array", "[]", 400, "body"),
    ("a string", '"events"', 400, "body"),
    ("null", "null", 400, "body"),
    ("an empty object", "{}", 400, "events"),
    ("no events", batch(), 400, "events"),
    ("91 events", batch(*[NOTE] * 91), 413, "events"),
    ("91 events, the first ill-formed", batch({}, *[NOTE] * 90), 413, "events"),
    ("events that are an object", '{"events":{"0":{}}}', 400, "events"),
    ("an unknown field at the top", '{"events":[{"kind":"observation","text":"x"}],"tenant":"acme"}', 400, "tenant"),
    ("an event that is a string", batch("fact"), 400, "events[0]"),
    ("an event that is null", batch(NOTE, None), 400, "events[1]"),
    ("an event without a kind", batch(NOTE, {"text": "x"}), 400, "events[1].kind"),
    ("an unknown kind", batch({**NOTE, "kind": "wish"}), 400, "events[0].kind"),
    ("a kind that is a list", batch({**NOTE, "kind": ["fact"]}), 400, "events[0].kind"),
    ("a kind in capitals", batch({**NOTE, "kind": "Observation"}), 400, "events[0].kind"),
    # unknown and missing fields
    ("an unknown field", fact(colour="red"), 400, "events[1].colour"),
    ("a field of another kind", fact(tool="t"), 400, "events[1].tool"),
    ("a principal in the body", fact(by="admin"), 400, "events[1].by"),
    ("an unknown field of odd spelling", fact(**{"a b": 1}), 400, 'events[1]["a b"]'),
    ("no subject", without(FACT, "subject"), 400, "events[0].subject"),
    ("no relation", without(FACT, "relation"), 400, "events[0].relation"),
    ("no object", without(FACT, "object"), 400, "events[0].object"),
    ("no text", without(NOTE, "text"), 400, "events[0].text"),
    ("no tool", without(CALL, "tool"), 400, "events[0].tool"),
    ("no is_error", without(CALL, "is_error"), 400, "events[0].is_error"),
    # wrong types
    ("a subject that is a number", fact(subject=1), 400, "events[1].subject"),
    ("a subject that is null", fact(subject=None), 400, "events[1].subject"),
    ("an object that is an object", fact(object={}), 400, "events[1].object"),
    ("an object that is a truth value", fact(object=True), 400, "events[1].object"),
    ("a confidence that is a string", fact(confidence="0.5"), 400, "events[1].confidence"),
    ("a confidence that is a truth value", fact(confidence=True), 400, "events[1].confidence"),
    ("a confidence over 1", fact(confidence=1.01), 400, "events[1].confidence"),
    ("a confidence below 0", fact(confidence=-0.01), 400, "events[1].confidence"),
    ("is_error that is a number", tool_call(is_error=1), 400, "events[0].is_error"),
    ("is_error that is a string", tool_call(is_error="false"), 400, "events[0].is_error"),
    ("tags that are a string", fact(tags="a"), 400, "events[1].tags"),
    ("a tag that is a number", fact(tags=["a", 1]), 400, "events[1].tags[1]"),
    ("a call_id that is a number", tool_call(call_id=7), 400, "events[0].call_id"),
    # too long, blank, not visible
    ("a subject of 513 characters", fact(subject="s" * 513), 400, "events[1].subject"),
    ("a relation of 513 characters", fact(relation="r" * 513), 400, "events[1].relation"),
    ("an object of 8,193 characters", fact(object="o" * 8193), 400, "events[1].object"),
    ("a source of 513 characters", fact(source="s" * 513), 400, "events[1].source"),
    ("33 tags", fact(tags=[str(n) for n in range(33)]), 400, "events[1].tags"),
    ("a tag of 65 characters", fact(tags=["t" * 65]), 400, "events[1].tags[0]"),
    ("a tool of 129 characters", tool_call(tool="t" * 129), 400, "events[0].tool"),
    ("a call_id of 129 characters", tool_call(call_id="c" * 129), 400, "events[0].call_id"),
    ("a session of 129 characters", tool_call(session="s" * 129), 400, "events[0].session"),
    ("a signature of 513 characters", tool_call(signature="s" * 513), 400, "events[0].signature"),
    ("a text of 65,537 characters", batch({**NOTE, "text": "x" * 65_537}), 400, "events[0].text"),
    ("an empty subject", fact(subject=""), 400, "events[1].subject"),
    ("a blank subject", fact(subject=" \t\n "), 400, "events[1].subject"),
    ("a subject of no-break spaces", fact(subject="\u00a0\u3000"), 400, "events[1].subject"),
    ("a subject nobody can see", fact(subject="\u200b\u2060"), 400, "events[1].subject"),
    ("a blank relation", fact(relation=" "), 400, "events[1].relation"),
    ("a blank object", fact(object="  "), 400, "events[1].object"),
    ("a blank text", batch({**NOTE, "text": "\n"}), 400, "events[0].text"),
    ("a blank tool", tool_call(tool=" "), 400, "events[0].tool"),
    ("a blank call_id", tool_call(call_id=" "), 400, "events[0].call_id"),
    ("a blank tag", fact(tags=[" "]), 400, "events[1].tags[0]"),
    # names
    ("a control character in a subject", fact(subject="a\x00b"), 400, "events[1].subject"),
    ("an escape in a relation", fact(relation="a\x1b[31m"), 400, "events[1].relation"),
    ("a line feed in a tool", tool_call(tool="a\nb"), 400, "events[0].tool"),
    ("a carriage return in a session", tool_call(session="a\rb"), 400, "events[0].session"),
    ("a delete in a call_id", tool_call(call_id="a\x7f"), 400, "events[0].call_id"),
    ("a line separator in a tag", fact(tags=["a\u2028b"]), 400, "events[1].tags[0]"),
    ("a namespace with a slash", fact(namespace="a/b"), 400, "events[1].namespace"),
    ("a namespace with a hash", fact(namespace="a#b"), 400, "events[1].namespace"),
    ("a namespace with a question mark", fact(namespace="a?b"), 400, "events[1].namespace"),
    ("a namespace with a percent sign", fact(namespace="a%2fb"), 400, "events[1].namespace"),
    ("a namespace with a tab", fact(namespace="a\tb"), 400, "events[1].namespace"),
    ("a namespace with blanks around", fact(namespace=" a"), 400, "events[1].namespace"),
    ("a namespace of 65 characters", fact(namespace="n" * 65), 400, "events[1].namespace"),
    ("an empty namespace", fact(namespace=""), 400, "events[1].namespace"),
    ("a namespace that is null", fact(namespace=None), 400, "events[1].namespace"),
    # times
    ("a naive time", fact(occurred_at="2027-01-15T08:00:00"), 400, "events[1].occurred_at"),
    ("a date", fact(valid_from="2027-01-15"), 400, "events[1].valid_from"),
    ("a relative time", fact(valid_to="tomorrow"), 400, "events[1].valid_to"),
    ("a day that is not", fact(valid_to="2027-02-30T00:00:00Z"), 400, "events[1].valid_to"),
    ("digits in quotes", fact(occurred_at="1800000000000"), 400, "events[1].occurred_at"),
    ("epoch seconds", fact(occurred_at=1_800_000_000), 400, "events[1].occurred_at"),
    ("a fraction of milliseconds", fact(occurred_at=1.5), 400, "events[1].occurred_at"),
    ("a time that is a truth value", fact(occurred_at=True), 400, "events[1].occurred_at"),
    ("the far past", fact(valid_from=-1), 400, "events[1].valid_from"),
    ("the far future", fact(valid_to=10**18), 400, "events[1].valid_to"),
    ("a call of tomorrow", tool_call(occurred_at=NOW + 86_400_000), 400, "events[0].occurred_at"),
    ("validity that ends before it begins", fact(valid_from=NOW, valid_to=NOW - 1), 400, "events[1].valid_to"),
    # skills, goals, events
    ("a skill without a name", batch({"kind": "skill"}), 400, "events[0].name"),
    ("a blank name of a skill", batch({**SKILL, "name": " "}), 400, "events[0].name"),
    ("a revision of 0", batch({**SKILL, "revision": 0}), 400, "events[0].revision"),
    ("a revision that is a fraction", batch({**SKILL, "revision": 1.5}), 400, "events[0].revision"),
    ("a proficiency over 1", batch({**SKILL, "proficiency": 1.01}), 400, "events[0].proficiency"),
    ("a proficiency in per cent", batch({**SKILL, "proficiency": "40 %"}), 400, "events[0].proficiency"),
    ("a negative practice count", batch({**SKILL, "practice_count": -1}), 400, "events[0].practice_count"),
    ("a practice count that is a truth value", batch({**SKILL, "practice_count": True}), 400,
     "events[0].practice_count"),
    ("a goal without a name", batch({"kind": "goal", "state": "done"}), 400, "events[0].name"),
    ("an unknown state of a goal", batch({**GOAL, "state": "satisfied"}), 400, "events[0].state"),
    ("the original's name of that field", batch({**GOAL, "goal_state": "done"}), 400, "events[0].goal_state"),
    ("a progress over 1", batch({**GOAL, "progress": 50}), 400, "events[0].progress"),
    ("a description of 2,049 characters", batch({**GOAL, "description": "d" * 2049}), 400, "events[0].description"),
    ("a blank description", batch({**GOAL, "description": "\t"}), 400, "events[0].description"),
    ("a goal until tomorrow", batch({**GOAL, "valid_to": "tomorrow"}), 400, "events[0].valid_to"),
    ("an event without a body", batch({"kind": "event"}), 400, "events[0].body"),
    ("an event that is a text instead of a body", batch({"kind": "event", "text": "x"}), 400, "events[0].body"),
    ("an event_id that is a number", batch({**EVENT, "event_id": 1}), 400, "events[0].event_id"),
    ("an event of tomorrow", batch({**EVENT, "occurred_at": NOW + 86_400_000}), 400, "events[0].occurred_at"),
    ("a naive end of a tool call", tool_call(valid_to="2027-01-15T08:00:00"), 400, "events[0].valid_to"),
    # supersede
    ("a fork that is a word", batch({"kind": "supersede", "target": ADDRESS, "with": FACT, "allow_fork": "yes"}), 400,
     "events[0].allow_fork"),
    ("a bad field of a goal that replaces",
     batch({"kind": "supersede", "target": ADDRESS, "with": {**GOAL, "state": 1}}), 400, "events[0].with.state"),
    ("an event of tomorrow that replaces",
     batch({"kind": "supersede", "target": ADDRESS, "with": {**EVENT, "occurred_at": NOW + 86_400_000}}), 400,
     "events[0].with.occurred_at"),
    ("a target that is no address", batch({"kind": "supersede", "target": "abc", "with": FACT}), 400,
     "events[0].target"),
    ("a target in capitals", batch({"kind": "supersede", "target": ADDRESS.upper(), "with": FACT}), 400,
     "events[0].target"),
    ("nothing that replaces", batch({"kind": "supersede", "target": ADDRESS}), 400, "events[0].with"),
    ("a tool call that replaces", batch({"kind": "supersede", "target": ADDRESS, "with": CALL}), 400,
     "events[0].with.kind"),
    ("a supersede that replaces", batch({"kind": "supersede", "target": ADDRESS, "with": {"kind": "supersede"}}), 400,
     "events[0].with.kind"),
    ("a bad field of what replaces", batch({"kind": "supersede", "target": ADDRESS, "with": {**FACT, "object": 1}}),
     400, "events[0].with.object"),
    ("a head that is no count", batch({"kind": "supersede", "target": ADDRESS, "with": FACT, "if_head": 0}), 400,
     "events[0].if_head"),
    ("a head that is a string", batch({"kind": "supersede", "target": ADDRESS, "with": FACT, "if_head": "1"}), 400,
     "events[0].if_head"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status", "field"), [row[1:] for row in BAD_BODIES], ids=[row[0] for row in BAD_BODIES]
)
def test_a_bad_batch_is_refused_with_its_field(body: str, status: int, field: str) -> None:
    assert refusal(ingest(body)) == (status, field)


def test_a_good_batch_gets_past_the_entry_room() -> None:
    status, problem, _ = call(ingest(batch(FACT, CALL, NOTE, SKILL, GOAL, EVENT)))
    assert (status, problem["field"]) == (404, "store")


def test_bytes_that_are_not_text_are_refused() -> None:
    event = ingest(base64.b64encode(b'{"events": "\xff"}').decode())
    assert refusal({**event, "isBase64Encoded": True}) == (400, "body")
