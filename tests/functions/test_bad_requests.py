"""A bad request to any other operation is refused with its field, and nothing behind the entry room is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.functions.requests import MEMORY, NOTE, RECOMMENDATION, batch, http_event, operation, refusal

pytestmark = pytest.mark.usefixtures("untouched")

BAD_REQUESTS: list[tuple[str, dict[str, Any], int, str]] = [
    ("a body in another type",
     http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"content-type": "text/plain"}), 400,
     "content-type"),
    ("a body in another charset",
     http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"content-type": "application/json;charset=x"}),
     400, "content-type"),
    ("a memory in capitals", http_event("record_events", path={"memory": "Support"}, body=batch(NOTE)), 400, "memory"),
    ("a memory with a separator", http_event("record_events", path={"memory": "a#b"}, body=batch(NOTE)), 400, "memory"),
    ("a memory with a slash", http_event("create_memory", path={"memory": "a/b"}, body="{}"), 400, "memory"),
    ("a memory with a line feed", http_event("create_memory", path={"memory": "ab\n"}, body="{}"), 400, "memory"),
    ("a memory of 65 characters", http_event("create_memory", path={"memory": "m" * 65}, body="{}"), 400, "memory"),
    ("a body of a memory", http_event("create_memory", path=MEMORY, body='{"tenant":"acme"}'), 400, "tenant"),
    ("an empty key", http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"idempotency-key": ""}), 400,
     "idempotency-key"),
    ("a blank key", http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"idempotency-key": "  "}), 400,
     "idempotency-key"),
    ("a key of 256 characters",
     http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"idempotency-key": "k" * 256}), 400,
     "idempotency-key"),
    ("a key with a control character",
     http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"idempotency-key": "a\tb"}), 400,
     "idempotency-key"),
    ("a key beyond ASCII",
     http_event("record_events", path=MEMORY, body=batch(NOTE), headers={"idempotency-key": "é"}), 400,
     "idempotency-key"),
    ("a query where none is taken", http_event("record_events", path=MEMORY, body=batch(NOTE), query={"force": "1"}),
     400, "force"),
    ("an unknown option of a pass", http_event("run_pass", path=MEMORY, body='{"force":true}'), 400, "force"),
    ("a negative gate", http_event("run_pass", path=MEMORY, body='{"min_new":-1}'), 400, "min_new"),
    ("a gate that is a string", http_event("run_pass", path=MEMORY, body='{"min_new":"5"}'), 400, "min_new"),
    ("a gate that is a truth value", http_event("run_pass", path=MEMORY, body='{"min_new":true}'), 400, "min_new"),
    ("an age without a unit", http_event("run_pass", path=MEMORY, body='{"if_stale":"6"}'), 400, "if_stale"),
    ("an age that is a number", http_event("run_pass", path=MEMORY, body='{"if_stale":6}'), 400, "if_stale"),
    ("no reason", http_event("approve", path=RECOMMENDATION, body="{}"), 400, "because"),
    ("a blank reason", http_event("approve", path=RECOMMENDATION, body='{"because":" \\n "}'), 400, "because"),
    ("a reason of 501 characters", http_event("reject", path=RECOMMENDATION, body=json.dumps({"because": "x" * 501})),
     400, "because"),
    ("a reason that is a list", http_event("reject", path=RECOMMENDATION, body='{"because":["x"]}'), 400, "because"),
    ("a reason with an escape", http_event("reject", path=RECOMMENDATION, body='{"because":"a\\u001bb"}'), 400,
     "because"),
    ("a digest that is none",
     http_event("approve", path=RECOMMENDATION, body='{"because":"x","proposal_digest":"abc"}'), 400,
     "proposal_digest"),
    ("a decider in the body", http_event("approve", path=RECOMMENDATION, body='{"because":"x","by":"ada"}'), 400, "by"),
    ("allow_destructive as a string",
     http_event("apply", path=RECOMMENDATION, body='{"because":"x","allow_destructive":"true"}'), 400,
     "allow_destructive"),
    ("allow_destructive where it means nothing",
     http_event("roll_back", path=RECOMMENDATION, body='{"because":"x","allow_destructive":true}'), 400,
     "allow_destructive"),
    ("an address that is none", http_event("show_grain", path={**MEMORY, "address": "xyz"}), 400, "address"),
    ("a namespace in the path with a control character",
     http_event("show_entity", path={**MEMORY, "namespace": "a\tb", "subject": "s"}), 400, "namespace"),
    ("a blank subject in the path", http_event("show_entity", path={**MEMORY, "namespace": "a", "subject": " "}), 400,
     "subject"),
    ("an unknown filter", http_event("list_recommendations", path=MEMORY, query={"state": "open"}), 400, "state"),
    ("an unknown status", http_event("list_recommendations", path=MEMORY, query={"status": "done"}), 400, "status"),
    ("two statuses", http_event("list_recommendations", path=MEMORY, query={"status": "pending,approved"}), 400,
     "status"),
    ("an unknown severity", http_event("list_recommendations", path=MEMORY, query={"severity": "urgent"}), 400,
     "severity"),
    ("a page of nothing", http_event("list_recommendations", path=MEMORY, query={"limit": "0"}), 400, "limit"),
    ("a page of 101", http_event("list_recommendations", path=MEMORY, query={"limit": "101"}), 400, "limit"),
    ("a page of many", http_event("list_recommendations", path=MEMORY, query={"limit": "ten"}), 400, "limit"),
    ("a page with a sign", http_event("list_recommendations", path=MEMORY, query={"limit": "+5"}), 400, "limit"),
    ("an empty cursor", http_event("list_recommendations", path=MEMORY, query={"cursor": ""}), 400, "cursor"),
    ("an unknown subject of the trail", http_event("export_audit", path=MEMORY, query={"subject": "a b"}), 400,
     "subject"),
    ("a token without a label", http_event("mint_token", body='{"kind":"agent","memories":"*","scopes":["read"]}'), 400,
     "label"),
    ("a token of an unknown kind",
     http_event("mint_token", body='{"label":"x","kind":"robot","memories":"*","scopes":["read"]}'), 400, "kind"),
    ("a token of an unknown scope",
     http_event("mint_token", body='{"label":"x","kind":"agent","memories":"*","scopes":["read","root"]}'), 400,
     "scopes[1]"),
    ("a token without scopes", http_event("mint_token", body='{"label":"x","kind":"agent","memories":"*","scopes":[]}'),
     400, "scopes"),
    ("a token for no memories", http_event("mint_token", body='{"label":"x","kind":"agent","scopes":["read"]}'), 400,
     "memories"),
    ("a token for a memory that cannot be",
     http_event("mint_token", body='{"label":"x","kind":"agent","memories":"A/*","scopes":["read"]}'), 400, "memories"),
    ("a token for another tenant",
     http_event("mint_token", body='{"label":"x","kind":"agent","memories":"*","scopes":["read"],"tenant":"acme"}'),
     400, "tenant"),
    ("a token with a label of two lines",
     http_event("mint_token", body='{"label":"x\\ny","kind":"agent","memories":"*","scopes":["read"]}'), 400, "label"),
    ("a token that expires at a naive time",
     http_event("mint_token",
                body='{"label":"x","kind":"agent","memories":"*","scopes":["read"],"expires_at":"2027-01-15T08:00:00"}'),
     400, "expires_at"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "status", "field"), [row[1:] for row in BAD_REQUESTS], ids=[row[0] for row in BAD_REQUESTS]
)
def test_a_bad_request_is_refused_with_its_field(event: dict[str, Any], status: int, field: str) -> None:
    assert refusal(event) == (status, field)


@pytest.mark.parametrize("name", ["approve", "reject", "apply", "approve_and_apply", "roll_back"])
def test_every_decision_needs_a_reason(name: str) -> None:
    assert refusal(http_event(name, path=RECOMMENDATION, body="{}")) == (400, "because")
    assert operation(name).body is not None
