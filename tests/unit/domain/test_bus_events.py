"""What the bus is told of an audit entry: a step that concerns somebody outside, in ids, digests and severities."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.audit import AuditEntry, ChainHead, Note, author_of, engine_author, next_entry
from provenloop.domain.bus_events import COMMON_FIELDS, EVENT_FIELDS, event_of, told
from provenloop.domain.names import MemoryId
from tests.builders import NOW, make_principal

SUBJECT = "abcdefghijklmnopqrstuvwx23"


def make_entry(before: str, after: str, effects: dict[str, Any] | None = None, *, subject: str = SUBJECT) -> AuditEntry:
    note = Note(subject, 2, "00" * 16, "because the card of sam was declined")
    return next_entry(
        ChainHead(1, "0" * 64),
        subject=subject,
        before=before,
        after=after,
        by=author_of(make_principal("ann")),
        at=NOW,
        note=note,
        effects=effects,
    )


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("", "pending", "RecommendationProposed"),
        ("pending", "pending", "RecommendationProposed"),
        ("approved", "pending", "RecommendationProposed"),
        ("snoozed", "pending", "RecommendationProposed"),
        ("pending", "approved", "RecommendationDecided"),
        ("approved", "rejected", "RecommendationDecided"),
        ("pending", "acknowledged", "RecommendationDecided"),
        ("pending", "snoozed", "RecommendationDecided"),
        ("approved", "applied", "ChangeApplied"),
        ("pending", "applied", "ChangeApplied"),
        ("applied", "applied", "OutcomeMeasured"),
        ("applied", "rolled_back", "ChangeRolledBack"),
    ],
)
def test_each_step_that_concerns_somebody_outside_has_its_event(before: str, after: str, kind: str) -> None:
    entry = make_entry(before, after)
    event = event_of(entry)
    assert event is not None
    assert (event.kind, event.id, event.at) == (kind, entry.id, NOW)


@pytest.mark.parametrize(
    ("after", "subject"), [("expired", SUBJECT), ("forgotten", "grain:abc"), ("configured", "config:memory")]
)
def test_other_steps_have_none(after: str, subject: str) -> None:
    assert event_of(make_entry("pending", after, subject=subject)) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "pending"),
        ("pending", "approved"),
        ("approved", "applied"),
        ("applied", "applied"),
        ("applied", "rolled_back"),
    ],
)
def test_nothing_leaves_but_the_fields_of_its_kind_and_no_reason_label_or_token(before: str, after: str) -> None:
    known = {name: f"value of {name}" for names in EVENT_FIELDS.values() for name in names}
    event = event_of(make_entry(before, after, {**known, "text": "sam lives in Berlin", "strikes": 3}))
    assert event is not None
    detail = told(MemoryId("acme", "demo"), event)
    assert set(detail) == {"recommendation", *COMMON_FIELDS, *EVENT_FIELDS[event.kind]}
    assert detail["by"] == {"kind": "human", "id": "p-ann"}
    assert "declined" not in str(detail)
    assert "Berlin" not in str(detail)
    assert "tok-ann" not in str(detail)


@pytest.mark.parametrize(
    ("before", "after", "action", "kind"),
    [
        ("", "candidate", "ready", "RuleReady"),
        ("rejected", "candidate", "return", "RuleReady"),
        ("rejected", "candidate", "revive", None),
        ("candidate", "armed", "arm", "RuleArmed"),
        ("armed", "armed", "edit", "RuleArmed"),
        ("armed", "demoted", "demote", "RuleDemoted"),
        ("candidate", "candidate", "edit", None),
        ("demoted", "demoted", "edit", None),
        ("candidate", "rejected", "reject", None),
        ("armed", "archived", "archive", None),
    ],
)
def test_a_card_has_an_event_where_it_waits_for_review_comes_into_force_or_is_demoted(
    before: str, after: str, action: str, kind: str | None
) -> None:
    effects = {"action": action, "project": "0" * 32, "reports": 3, "violations": 2, "suppressed": 1, "samples": 4}
    event = event_of(make_entry(before, after, effects, subject="card:abc"))
    assert (event.kind if event else None) == kind
    if event is not None:
        assert event.detail["card"] == "abc"
        assert set(event.detail) <= {"card", *COMMON_FIELDS, *EVENT_FIELDS[event.kind]}


def test_a_field_that_the_entry_does_not_have_is_left_out() -> None:
    entry = next_entry(
        ChainHead(),
        subject=SUBJECT,
        before="",
        after="pending",
        by=engine_author("engine:loop.staleness/1"),
        at=NOW,
        effects={"revision": 1, "severity": "high"},
    )
    event = event_of(entry)
    assert event is not None
    assert told(MemoryId("acme", "demo"), event) == {
        "id": entry.id,
        "tenant": "acme",
        "memory": "demo",
        "recommendation": SUBJECT,
        "n": 1,
        "from": "",
        "status": "pending",
        "at": "2027-01-15T08:00:00.000Z",
        "by": {"kind": "engine", "id": "engine:loop.staleness/1"},
        "revision": 1,
        "severity": "high",
    }
