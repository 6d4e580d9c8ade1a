"""What the two agents know when the story begins, and what they send later, as events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provenloop.domain.instants import format_instant
from provenloop.entry.local.demo.api import DAY_MS

LOOKUP, INVOICE, SKILL = "crm_lookup", "invoice_pdf", "refund policy"
CUSTOMER = "acme"
_HOUR_MS = 3_600_000
_ERRORS = {LOOKUP: "Error: customer C-10{n} not found", INVOICE: "Error: render timed out after 3{n} s"}

Event = dict[str, Any]


def calls(tool: str, name: str, ended: Sequence[bool], last_at: int, apart_ms: int = 12 * _HOUR_MS) -> list[Event]:
    """Calls of a tool, of which those fail for which ``ended`` says False; the last one at ``last_at`` (epoch ms)."""
    return [
        {
            "kind": "tool_call",
            "tool": tool,
            "is_error": not is_good,
            "call_id": f"{tool}-{name}-{n}",
            "result": "ok" if is_good else _ERRORS[tool].format(n=n),
            "occurred_at": last_at - (len(ended) - 1 - n) * apart_ms,
        }
        for n, is_good in enumerate(ended)
    ]


def fact(relation: str, value: str, at: int, **more: Any) -> Event:
    """A fact about the customer, true since ``at`` (epoch ms)."""
    return {
        "kind": "fact", "subject": CUSTOMER, "relation": relation, "object": value, "occurred_at": at, **more
    }  # fmt: skip


def of_triage(now: int) -> list[Event]:
    """Five of seven look-ups failed; two plans of one customer; a notice that has run out."""
    return [
        *calls(LOOKUP, "before", (False, False, True, False, False, True, False), now - _HOUR_MS),
        fact("current_plan", "Team", now - 20 * DAY_MS),
        fact("current_plan", "Pro", now - 2 * DAY_MS),
        fact("notice", "closed over the holidays", now - 60 * DAY_MS, valid_to=format_instant(now - 20 * DAY_MS)),
    ]


def of_billing(now: int) -> list[Event]:
    """Four of seven invoices failed; a contact and an order; a skill that is practised in vain."""
    return [
        *calls(INVOICE, "before", (False, True, False, True, False, True, False), now - 2 * _HOUR_MS),
        fact("billing_contact", "Accounts Payable", now - 10 * DAY_MS),
        fact("order", "PO-7A", now - 5 * DAY_MS),
        {"kind": "skill", "name": SKILL, "proficiency": 0.3, "practice_count": 12},
    ]
